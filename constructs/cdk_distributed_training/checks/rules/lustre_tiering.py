"""File systems with elastic storage, `INTELLIGENT_TIERING` (DT240 to DT244)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import Example, association, lustre
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.lustre_file_system import LustreFileSystem

_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_CACHE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreReadCacheConfiguration.html"
_CHOICE = "choose SSD storage, or leave it out"


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
        if file_system.view.known(*path) is not None:
            yield problem(
                *path,
                got=f"{file_system.view.text(*path)} with INTELLIGENT_TIERING",
                allowed="nothing: this storage grows and shrinks by itself",
                fix="leave it out, and choose ThroughputCapacity",
            )


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
    if file_system.is_tiered and file_system.known_deployment != "PERSISTENT_2":
        yield problem(
            "StorageType",
            got=f"INTELLIGENT_TIERING with {file_system.deployment}",
            allowed="only with PERSISTENT_2",
            fix="choose PERSISTENT_2, or SSD storage",
        )


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
    if given is None or not file_system.is_tiered:
        return
    efa = file_system.has_efa
    fits = (given % 4000 == 0 and 0 < given <= 2_000_000) or (not efa and given in (1000, 2000))
    if not fits:
        yield problem(
            "LustreConfiguration",
            "ThroughputCapacity",
            got=f"{given:g}{' with EFA' if efa else ''}",
            allowed=("" if efa else "1000, 2000, or ") + "multiples of 4000 up to 2000000 (MB/s)",
            fix="choose one of these",
        )


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
        if file_system.lustre.known(name) is not None:
            yield problem(
                "LustreConfiguration",
                name,
                got=f"a value with {file_system.storage} storage",
                allowed="only with StorageType INTELLIGENT_TIERING",
                fix="leave it out, or choose that storage type",
            )


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
        yield problem(
            "StorageType",
            got="INTELLIGENT_TIERING with a data repository association",
            allowed="associations only with SSD or HDD storage",
            fix=_CHOICE.replace("leave it out", "leave the association out"),
        )
