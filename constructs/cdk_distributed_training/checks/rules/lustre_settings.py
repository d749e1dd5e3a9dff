"""A file system's other settings in a template: key, backups, maintenance, subnet, what becomes of its data."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import lustre, scratch
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import lustre_options as options
from cdk_distributed_training.checks.rules import storage
from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS
from cdk_distributed_training.checks.subjects.lustre_file_system import LustreFileSystem
from cdk_distributed_training.checks.template.values import Token
from cdk_distributed_training.checks.template.view import NotJudgedError

_CREATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_DELETION = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_REPLACE = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html"
)
_SCRATCH = {"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": None}


@rule(
    "DT205",
    on=LustreFileSystem,
    title="A key of one's own on a scratch file system",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_CREATE,
    bad=scratch(KmsKeyId="alias/data"),
    good=lustre(KmsKeyId="alias/data"),
)
def encryption_key(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT205 of a template."""
    if file_system.view.given("KmsKeyId"):
        yield from at(storage.encryption_key(file_system.known_deployment), "KmsKeyId")


@rule(
    "DT206",
    on=LustreFileSystem,
    title="Automatic backups that cannot be made",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=scratch(LustreConfiguration={"AutomaticBackupRetentionDays": 7}),
    good=lustre(LustreConfiguration={"AutomaticBackupRetentionDays": 7}),
)
def backups(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT206 of a template."""
    days = file_system.lustre.number("AutomaticBackupRetentionDays")
    if days is not None:
        found = storage.backups(file_system.known_deployment, days)
        yield from at(found, "LustreConfiguration", "AutomaticBackupRetentionDays")


@rule(
    "DT207",
    on=LustreFileSystem,
    title="A maintenance window that FSx cannot read",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"WeeklyMaintenanceStartTime": "Sun:03:00"}),
    good=lustre(LustreConfiguration={"WeeklyMaintenanceStartTime": "7:03:00"}),
)
def weekly_start(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT207 of a template."""
    text = file_system.lustre.text("WeeklyMaintenanceStartTime")
    if text is not None:
        yield from at(storage.weekly_start(text), "LustreConfiguration", "WeeklyMaintenanceStartTime")


@rule(
    "DT250",
    on=LustreFileSystem,
    title="A time of day for backups that FSx cannot read",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"AutomaticBackupRetentionDays": 7, "DailyAutomaticBackupStartTime": "3 am"}),
    good=lustre(LustreConfiguration={"AutomaticBackupRetentionDays": 7, "DailyAutomaticBackupStartTime": "03:00"}),
)
def daily_start(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT250: it is written HH:MM."""
    text = file_system.lustre.text("DailyAutomaticBackupStartTime")
    if text is not None:
        days = file_system.lustre.number("AutomaticBackupRetentionDays")
        found = options.daily_start(text, backups=bool(days))
        fix = None if days else "set AutomaticBackupRetentionDays, or leave this out"
        yield from at(found, "LustreConfiguration", "DailyAutomaticBackupStartTime", fix=fix)


@rule(
    "DT251",
    on=LustreFileSystem,
    title="Not exactly one subnet",
    why="A Lustre file system lives in one subnet: FSx refuses any other number.",
    source=_CREATE,
    bad=lustre(SubnetIds=["subnet-0123456789abcdef0", "subnet-0fedcba9876543210"]),
    good=lustre(SubnetIds=["subnet-0123456789abcdef0"]),
)
def one_subnet(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT251: one subnet, in the nodes' zone."""
    count = len(file_system.view.items("SubnetIds"))
    if count != 1:
        yield problem(
            "SubnetIds", got=f"{count} subnets", allowed="exactly one", fix="name the subnet that the nodes use"
        )


@rule(
    "DT252",
    on=LustreFileSystem,
    severity=Severity.WARNING,
    title="A persistent file system that the stack deletes with its data",
    why="Deleting the stack, or taking the resource out of it, deletes the data. Nothing brings them back.",
    source=_DELETION,
    bad=lustre(attributes={"DeletionPolicy": None}),
    good=lustre(attributes={"DeletionPolicy": "Retain"}),
)
def deletion_policy(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT252: what becomes of persistent data is to be said; `Delete` says it too."""
    if DEPLOYMENTS[file_system.known_deployment].persistent and not _policy(file_system, "DeletionPolicy"):
        yield _attribute(
            "DeletionPolicy",
            got=f"none with {file_system.deployment}, which deletes the file system",
            allowed="Retain or RetainExceptOnCreate, or an explicit Delete",
            fix="state what becomes of the data",
        )


@rule(
    "DT253",
    on=LustreFileSystem,
    severity=Severity.WARNING,
    title="A kept file system that a change still replaces and deletes",
    why="Most changes (subnet, security groups, deployment type, key) replace the file system; without an"
    " UpdateReplacePolicy the old one is deleted with its data, whatever the DeletionPolicy says.",
    source=_REPLACE,
    bad=lustre(attributes={"UpdateReplacePolicy": None}),
    good=lustre(attributes={"UpdateReplacePolicy": "Retain"}),
)
def replacement_policy(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT253: keeping takes both policies."""
    kept = str(_policy(file_system, "DeletionPolicy")).startswith("Retain")
    if kept and not _policy(file_system, "UpdateReplacePolicy"):
        yield _attribute(
            "UpdateReplacePolicy",
            got="none next to a DeletionPolicy that keeps",
            allowed="Retain, or an explicit Delete",
            fix="state it next to the DeletionPolicy",
        )


@rule(
    "DT217",
    on=LustreFileSystem,
    title="A policy that CloudFormation does not know for file systems",
    why="CloudFormation refuses the template: FSx file systems have no Snapshot policy.",
    source=_DELETION,
    bad=lustre(attributes={"DeletionPolicy": "Snapshot"}),
    good=lustre(attributes={"DeletionPolicy": "Retain"}),
)
def known_policies(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT217 of a template."""
    for name in ("DeletionPolicy", "UpdateReplacePolicy"):
        policy = _policy(file_system, name)
        if policy == "Snapshot":
            yield _attribute(
                name,
                got="Snapshot",
                allowed="Delete, Retain or RetainExceptOnCreate",
                fix="use Retain, and AutomaticBackupRetentionDays for backups",
            )


@rule(
    "DT255",
    on=LustreFileSystem,
    severity=Severity.INFORMATION,
    title="A scratch file system that outlives its stack",
    why="It is kept and billed when the stack is gone, though scratch storage is made for data that exist elsewhere.",
    source=_DELETION,
    bad=lustre(LustreConfiguration=_SCRATCH),
    good=scratch(),
)
def kept_scratch(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT255: a cost that is easily overlooked."""
    if not DEPLOYMENTS[file_system.known_deployment].persistent:
        policy = str(_policy(file_system, "DeletionPolicy"))
        if policy.startswith("Retain"):
            yield _attribute(
                "DeletionPolicy",
                got=f"{policy} with {file_system.deployment}",
                allowed="Delete, unless results are written there",
                fix="delete it with the stack",
            )


@rule(
    "DT256",
    on=LustreFileSystem,
    severity=Severity.WARNING,
    title="A large file system",
    why="It costs tens of thousands of dollars a month, and its capacity may exceed the account's quota.",
    source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limits.html",
    bad=lustre(StorageCapacity=1_228_800, LustreConfiguration={"PerUnitStorageThroughput": 1000}),
    good=lustre(StorageCapacity=12_000),
)
def large(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT256: the default quota of SSD storage of an account is about 100 TiB."""
    gibibytes = file_system.view.number("StorageCapacity") or 0
    yield from at(options.large(gibibytes, storage=file_system.storage), "StorageCapacity")


def _policy(file_system: LustreFileSystem, name: str) -> object:
    policy = file_system.resource.attributes.get(name)
    if isinstance(policy, Token):
        raise NotJudgedError((*file_system.resource.path, name))
    return policy


def _attribute(name: str, *, got: str, allowed: str, fix: str) -> Finding:
    """A finding at a member of the resource that is no property: `..` leads from the properties to the resource."""
    return problem("..", name, got=got, allowed=allowed, fix=fix)
