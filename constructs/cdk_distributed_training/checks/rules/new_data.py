"""Rules about starts on new data (DT736, DT737)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import rule

_S3_EVENTS = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventBridge.html"


@rule(
    "DT736",
    title="Starts on new data without one place of new data",
    why="The events of one bucket start runs: with none nothing does, and of two one would be forgotten.",
    source=_S3_EVENTS,
    bad=given(bucket=True, repository=True),
    good=given(bucket=False, repository=True),
)
def one_place_of_data(*, bucket: bool, repository: bool) -> Iterator[Finding]:
    """DT736: a bucket or a data repository.

    Args:
        bucket: Whether `bucket` is given.
        repository: Whether `repository` is given.
    """
    if bucket == repository:
        yield Finding(
            rule="DT736",
            prop="bucket, repository",
            got="both" if bucket else "neither",
            allowed="one of them",
            fix="give bucket for objects in S3, or repository for those that a file system imports",
            source=_S3_EVENTS,
        )


@rule(
    "DT737",
    title="Starts on new data that never reaches the file system",
    why="Without automatic import of new objects, the run that they start does not see them.",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html",
    bad=given(imports_new=False),
    good=given(imports_new=True),
)
def new_data_arrives(*, imports_new: bool) -> Iterator[Finding]:
    """DT737: the data repository imports what is new.

    Args:
        imports_new: Whether it does.
    """
    if not imports_new:
        yield Finding(
            rule="DT737",
            prop="repository.auto_import",
            got="a data repository that imports no new objects",
            allowed="one with DataRepositoryEvent.NEW",
            fix="leave auto_import of add_data_repository at its default, or add DataRepositoryEvent.NEW to it",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoimport-data-repo-dra.html",
        )
