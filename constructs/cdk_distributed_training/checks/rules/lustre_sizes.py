"""What a file system of a template may be: deployment type, sizes, throughput, version (DT201 on, DT230 on)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import lustre, scratch
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import lustre_options as options
from cdk_distributed_training.checks.rules import storage
from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS
from cdk_distributed_training.checks.subjects.lustre_file_system import LustreFileSystem

_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"


@rule(
    "DT201",
    on=LustreFileSystem,
    title="Hard disks with a deployment type that has none",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_CREATE,
    bad=scratch(StorageType="HDD", StorageCapacity=6000, LustreConfiguration={"DriveCacheType": "NONE"}),
    good=lustre(
        StorageType="HDD",
        StorageCapacity=6000,
        FileSystemTypeVersion="2.15",
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_1",
            "PerUnitStorageThroughput": 12,
            "DriveCacheType": "NONE",
        },
    ),
)
def storage_type(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT201 of a template."""
    if not file_system.is_tiered:
        yield from at(storage.storage_type(file_system.known_deployment, file_system.storage), "StorageType")


@rule(
    "DT202",
    on=LustreFileSystem,
    title="A throughput that the deployment type does not offer",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"PerUnitStorageThroughput": 200}),
    good=lustre(LustreConfiguration={"PerUnitStorageThroughput": 250}),
)
def throughput(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT202 of a template."""
    given = file_system.lustre.number("PerUnitStorageThroughput")
    if given is not None and not file_system.is_tiered:
        found = storage.throughput(file_system.known_deployment, file_system.storage, int(given))
        yield from at(found, "LustreConfiguration", "PerUnitStorageThroughput")


@rule(
    "DT203",
    on=LustreFileSystem,
    title="A capacity that FSx does not make",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_CREATE,
    bad=scratch(StorageCapacity=3600),
    good=scratch(StorageCapacity=4800),
)
def capacity(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT203 of a template."""
    gibibytes = file_system.view.number("StorageCapacity")
    if gibibytes is None or file_system.is_tiered:
        return
    deployment, kind = file_system.known_deployment, file_system.storage
    # only hard disks have capacities that depend on the throughput
    given = file_system.lustre.number("PerUnitStorageThroughput") if kind == "HDD" else None
    yield from at(
        storage.capacity(deployment, kind, None if given is None else int(given), gibibytes), "StorageCapacity"
    )


@rule(
    "DT204",
    on=LustreFileSystem,
    title="A Lustre version that the deployment type does not have",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_CREATE,
    bad=lustre(FileSystemTypeVersion="2.10"),
    good=lustre(FileSystemTypeVersion="2.15"),
)
def version(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT204 of a template."""
    given = file_system.view.text("FileSystemTypeVersion")
    if given is not None:
        metadata = file_system.known_deployment == "PERSISTENT_2" and file_system.has_metadata
        found = storage.version(file_system.known_deployment, given, metadata=metadata)
        yield from at(found, "FileSystemTypeVersion")


@rule(
    "DT230",
    on=LustreFileSystem,
    title="A persistent file system without a throughput",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"PerUnitStorageThroughput": None}),
    good=lustre(LustreConfiguration={"PerUnitStorageThroughput": 125}),
)
def missing_throughput(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT230: FSx has no default for it."""
    if file_system.is_tiered or file_system.is_restored or file_system.lustre.has("PerUnitStorageThroughput"):
        return
    media = DEPLOYMENTS[file_system.known_deployment].media.get(file_system.storage)
    if media is not None and media.throughputs:
        yield problem(
            "LustreConfiguration",
            "PerUnitStorageThroughput",
            got=f"none with {file_system.deployment}",
            allowed=f"{', '.join(map(str, media.throughputs))} (MB/s per TiB)",
            fix="choose one of these",
        )


@rule(
    "DT231",
    on=LustreFileSystem,
    severity=Severity.WARNING,
    title="A deployment type that is not known",
    why="If it is misspelled, FSx refuses to create the file system; the other rules cannot judge it.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"DeploymentType": "PERSISTENT_9"}),
    good=lustre(LustreConfiguration={"DeploymentType": "PERSISTENT_2"}),
)
def deployment_type(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT231: a type that is misspelled, or newer than these facts."""
    if file_system.deployment not in DEPLOYMENTS:
        yield problem(
            "LustreConfiguration",
            "DeploymentType",
            got=repr(file_system.deployment),
            allowed=", ".join(DEPLOYMENTS),
            fix="check the spelling, or ignore this if the type is newer than this library",
        )


@rule(
    "DT232",
    on=LustreFileSystem,
    title="A file system without a capacity",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_CREATE,
    bad=lustre(StorageCapacity=None),
    good=lustre(StorageCapacity=1200),
)
def missing_capacity(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT232: only elastic storage and backups bring a capacity of their own."""
    if not (file_system.view.has("StorageCapacity") or file_system.is_tiered or file_system.is_restored):
        yield from at(options.missing_capacity(), "StorageCapacity", fix="give a capacity in GiB, such as 1200")


@rule(
    "DT233",
    on=LustreFileSystem,
    title="Hard disks without a word on the drive cache",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(
        StorageType="HDD",
        StorageCapacity=6000,
        LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 12},
    ),
    good=lustre(
        StorageType="HDD",
        StorageCapacity=6000,
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_1",
            "PerUnitStorageThroughput": 12,
            "DriveCacheType": "READ",
        },
    ),
)
def missing_drive_cache(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT233: FSx wants it stated."""
    if file_system.storage == "HDD" and not file_system.lustre.has("DriveCacheType") and not file_system.is_restored:
        yield problem(
            "LustreConfiguration",
            "DriveCacheType",
            got="none with HDD",
            allowed="READ or NONE",
            fix="choose NONE, or READ for a cache of solid state disks of a fifth of the capacity",
        )


@rule(
    "DT208",
    on=LustreFileSystem,
    title="A drive cache without hard disks",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"DriveCacheType": "READ"}),
    good=lustre(LustreConfiguration={"DriveCacheType": None}),
)
def drive_cache(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT208 of a template."""
    if file_system.lustre.given("DriveCacheType"):
        yield from at(storage.drive_cache(file_system.storage), "LustreConfiguration", "DriveCacheType")


@rule(
    "DT234",
    on=LustreFileSystem,
    title="A metadata configuration with a deployment type that has none",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(
        FileSystemTypeVersion="2.15",
        LustreConfiguration={
            "DeploymentType": "PERSISTENT_1",
            "PerUnitStorageThroughput": 100,
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        },
    ),
    good=lustre(LustreConfiguration={"MetadataConfiguration": {"Mode": "AUTOMATIC"}}),
)
def metadata_support(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT234: only PERSISTENT_2 has metadata servers of its own."""
    if file_system.lustre.given("MetadataConfiguration"):
        found = options.metadata_support(file_system.known_deployment)
        yield from at(found, "LustreConfiguration", "MetadataConfiguration")


@rule(
    "DT235",
    on=LustreFileSystem,
    title="Metadata operations that FSx does not offer",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 5000}}),
    good=lustre(LustreConfiguration={"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}}),
)
def metadata_operations(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT235: fixed numbers, fewer of them with elastic storage."""
    mode = file_system.lustre.text("MetadataConfiguration", "Mode")
    given = file_system.lustre.number("MetadataConfiguration", "Iops")
    if given is not None or mode == "AUTOMATIC":
        found = options.metadata_operations(given, tiered=file_system.is_tiered)
        path = ("LustreConfiguration", "MetadataConfiguration", "Mode" if given is None else "Iops")
        yield from at(found, *path, fix="choose one of these, with Mode USER_PROVISIONED")


@rule(
    "DT236",
    on=LustreFileSystem,
    title="EFA on a file system that cannot have it",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_EFA,
    bad=lustre(StorageCapacity=4800, LustreConfiguration={"EfaEnabled": True, "PerUnitStorageThroughput": 1000}),
    good=lustre(
        StorageCapacity=4800,
        LustreConfiguration={
            "EfaEnabled": True,
            "PerUnitStorageThroughput": 1000,
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        },
    ),
)
def efa_support(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT236: it needs PERSISTENT_2 with a metadata configuration."""
    if not file_system.has_efa:
        return
    path = ("LustreConfiguration", "EfaEnabled")
    version_ = file_system.view.text("FileSystemTypeVersion")
    yield from at(options.efa_support(file_system.known_deployment, version_), *path)
    if file_system.deployment == "PERSISTENT_2" and not file_system.has_metadata:
        yield problem(
            *path,
            got="EFA without a metadata configuration",
            allowed="PERSISTENT_2 with a MetadataConfiguration",
            fix="add MetadataConfiguration with Mode AUTOMATIC, or leave EFA out",
        )


@rule(
    "DT237",
    on=LustreFileSystem,
    title="A capacity that no EFA-enabled file system has",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_EFA,
    bad=lustre(
        StorageCapacity=2400,
        LustreConfiguration={
            "EfaEnabled": True,
            "PerUnitStorageThroughput": 1000,
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        },
    ),
    good=lustre(
        StorageCapacity=4800,
        LustreConfiguration={
            "EfaEnabled": True,
            "PerUnitStorageThroughput": 1000,
            "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        },
    ),
)
def efa_capacity(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT237: its steps are larger, the larger the lower the throughput."""
    gibibytes = file_system.view.number("StorageCapacity")
    if file_system.has_efa and not file_system.is_tiered and gibibytes:
        throughput_ = int(file_system.lustre.number("PerUnitStorageThroughput") or 0)
        yield from at(options.efa_capacity(gibibytes, throughput_), "StorageCapacity")
