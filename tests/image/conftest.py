"""The images, built once for all tests of this folder, and a host to run them on."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from built_images import Images, build_images
from training_host import TrainingHost


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("apt-get"):
        pytest.skip("building an image needs root on Debian or Ubuntu, whose packages become the base image")
    directory = tmp_path_factory.mktemp("images")
    yield build_images(directory)
    shutil.rmtree(directory)  # hundreds of megabytes, which pytest would keep for three runs


@pytest.fixture
def host(images: Images, tmp_path: Path) -> Iterator[TrainingHost]:
    host = TrainingHost(images, tmp_path)
    yield host
    host.clear()
