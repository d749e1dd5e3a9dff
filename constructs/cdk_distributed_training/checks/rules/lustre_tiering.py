"""File systems with elastic storage, `INTELLIGENT_TIERING` (DT240 to DT244)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import Example, association, lustre
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import lustre_options as options
from cdk_distributed_training.checks.subjects.lustre_file_system import LustreFileSystem

_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_CACHE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreReadCacheConfiguration.html"


def _tiered(*, resources: dict[str, Any] | None = None, **changes: Any) -> Example:
    lustre_changes = changes.pop("LustreConfiguration", {})
    right = {
        "PerUnitStorageThroughput": None,
        "ThroughputCapacity": 4000,
        "DataReadCacheConfiguration": {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"},
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
    }
    return lustre(
        resources=resources,
        **{"StorageType": "INTELLIGENT_TIERING", "StorageCapacity": None, **changes},
        LustreConfiguration={**right, **lustre_changes},
    )


@rule(
    "DT240",
    on=LustreFileSystem,
    title="A size given to elastic storage",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=_tiered(StorageCapacity=1200),
    good=_tiered(),
)
def sizes(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT240: capacity and throughput per unit are of disks."""
    if not file_system.is_tiered:
        return
    for path in (("StorageCapacity",), ("LustreConfiguration", "PerUnitStorageThroughput")):
        if file_system.view.given(*path):
            yield from at(options.not_tiered([path[-1]]), *path, fix="leave it out, and choose ThroughputCapacity")


@rule(
    "DT241",
    on=LustreFileSystem,
    title="Elastic storage on a deployment type that has none",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=_tiered(LustreConfiguration={"DeploymentType": "PERSISTENT_1", "MetadataConfiguration": None}),
    good=_tiered(),
)
def deployment(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT241: only PERSISTENT_2 has it."""
    if file_system.is_tiered:
        version = file_system.view.text("FileSystemTypeVersion")
        found = options.tiered_deployment(file_system.known_deployment, version)
        yield from at(found, "StorageType", fix="choose these, or SSD storage")


@rule(
    "DT242",
    on=LustreFileSystem,
    title="Elastic storage without its throughput or read cache",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=_tiered(LustreConfiguration={"DataReadCacheConfiguration": None}),
    good=_tiered(LustreConfiguration={"DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"}}),
)
def required(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT242: both must be stated."""
    if not file_system.is_tiered or file_system.is_restored:
        return
    for name, example in (
        ("ThroughputCapacity", "4000"),
        ("DataReadCacheConfiguration", "SizingMode PROPORTIONAL_TO_THROUGHPUT_CAPACITY"),
    ):
        if not file_system.lustre.has(name):
            yield problem(
                "LustreConfiguration",
                name,
                got="none with INTELLIGENT_TIERING",
                allowed=f"a value such as {example}",
                fix="add it",
            )


@rule(
    "DT243",
    on=LustreFileSystem,
    title="A throughput that elastic storage does not offer",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=_tiered(LustreConfiguration={"ThroughputCapacity": 3000}),
    good=_tiered(LustreConfiguration={"ThroughputCapacity": 8000}),
)
def throughput_capacity(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT243: 1000, 2000 and multiples of 4000; EFA has the multiples only."""
    given = file_system.lustre.number("ThroughputCapacity")
    if given is not None and file_system.is_tiered:
        found = options.throughput_capacity(given, efa=file_system.has_efa)
        yield from at(found, "LustreConfiguration", "ThroughputCapacity")


@rule(
    "DT244",
    on=LustreFileSystem,
    title="A property of elastic storage on disks",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_CACHE,
    bad=lustre(LustreConfiguration={"ThroughputCapacity": 4000}),
    good=lustre(),
)
def only_tiered(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT244: they are of INTELLIGENT_TIERING alone."""
    if file_system.is_tiered:
        return
    for name in ("ThroughputCapacity", "DataReadCacheConfiguration"):
        if file_system.lustre.given(name):
            found = options.only_tiered([name], storage=file_system.storage)
            yield from at(found, "LustreConfiguration", name)


@rule(
    "DT245",
    on=LustreFileSystem,
    title="A data repository linked to elastic storage",
    why="FSx refuses to create the association, and the stack rolls back.",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html",
    bad=_tiered(resources={"Corpus": association()}),
    good=lustre(resources={"Corpus": association()}),
)
def no_repository(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT245: it has no links to S3."""
    if file_system.is_tiered and file_system.associations:
        yield from at(options.repository_on_tiered(), "StorageType", fix="choose SSD storage, or copy the data")
