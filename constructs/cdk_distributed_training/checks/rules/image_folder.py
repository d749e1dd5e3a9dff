"""Rules over the folder that an image is built from (DT508, DT509)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding


def dockerfile(path: str, *, exists: bool, folder_exists: bool) -> Iterator[Finding]:
    """DT508: there is a Dockerfile to build.

    Args:
        path: Its path.
        exists: Whether it is there.
        folder_exists: Whether its folder is.
    """
    if not exists:
        yield Finding(
            rule="DT508",
            prop="file" if folder_exists else "directory",
            got=f"{path!r}, which is not there",
            allowed="a folder with a Dockerfile",
            fix="check the spelling, and from where the path is relative",
        )


def platform(given: str | None, *, known: Sequence[str]) -> Iterator[Finding]:
    """DT509: SageMaker has machines that the image can run on."""
    if given is not None and given not in known:
        yield Finding(
            rule="DT509",
            prop="platform",
            got=repr(given),
            allowed=" or ".join(map(repr, known)),
            fix="leave it out to build for the job's instance type",
        )
