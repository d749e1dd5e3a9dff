"""Jobs on two real network hosts of this machine."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from launcher_job import LauncherJob

from cdk_distributed_training.local.hosts import NamespaceHosts


@pytest.fixture
def make_job(tmp_path: Path) -> Iterator[Callable[..., LauncherJob]]:
    """Make a job of as many hosts as are wanted."""
    with ExitStack() as stack:

        def make(count: int = 2) -> LauncherJob:
            names = [f"algo-{number + 1}" for number in range(count)]
            return LauncherJob(stack.enter_context(NamespaceHosts(names, tmp_path / "hosts", "launcher")), tmp_path)

        yield make


@pytest.fixture
def job(make_job: Callable[..., LauncherJob]) -> LauncherJob:
    """A job of two hosts."""
    return make_job()
