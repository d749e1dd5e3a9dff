"""The images under test: a Debian base and the launcher's Dockerfile on it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from image_store import ImageStore, build_debian_base

BUILD_CONTEXT = Path(__file__).resolve().parents[2] / "container"
BASE, IMAGE = "localhost/debian", "localhost/training-launcher"


class Images(NamedTuple):
    """The store, what was built, and the files of both images, each a copy that may be written to."""

    store: ImageStore
    context: Path
    identifier: str
    base_files: Path
    files: Path


def build_images(directory: Path) -> Images:
    """Build both; seconds, because the base's packages are only unpacked."""
    store = ImageStore(directory)
    context = directory / "container"
    shutil.copytree(BUILD_CONTEXT, context)  # later builds compare with this one, also when somebody edits meanwhile
    build_debian_base(store, BASE, directory)
    identifier = store.build(IMAGE, context, arguments=[f"BASE_IMAGE={BASE}"])
    return Images(store, context, identifier, store.root_file_system(BASE), store.root_file_system(IMAGE))
