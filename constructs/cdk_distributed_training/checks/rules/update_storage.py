"""Changes of a template that cost data, or that FSx does not make (DT280 to DT286)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import association, file_system, update
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.lustre_file_system import ASSOCIATION, FILE_SYSTEM
from cdk_distributed_training.checks.subjects.update import Update
from cdk_distributed_training.checks.template.values import Reference
from cdk_distributed_training.checks.template.view import View
from cdk_distributed_training.data.tables import replacing_properties

_REPLACE = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html"
)
_KEEP = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_UPDATE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html"
_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
_LINK = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-linked-dra.html"
_BUCKET = "AWS::S3::Bucket"
_EMPTIES = "Custom::S3AutoDeleteObjects"  # CDK's `auto_delete_objects`
# types that hold data, in words, and what is lost with them
_HELD = {
    FILE_SYSTEM: ("file system", "all files that are not also in S3 or in a backup"),
    "AWS::EFS::FileSystem": ("file system", "all files"),
    _BUCKET: ("bucket", "all objects"),
    "AWS::KMS::Key": ("key", "whatever it encrypts, since no one can read that again"),
}
_OTHER_SUBNET = "subnet-0fedcba9876543210"


def _moved(**attributes: Any) -> dict[str, Any]:
    return {"FileSystem": file_system(attributes=attributes, SubnetIds=[_OTHER_SUBNET])}


def _of(**lustre: Any) -> dict[str, Any]:
    return {"FileSystem": file_system(LustreConfiguration=lustre)}


def _fast(**lustre: Any) -> dict[str, Any]:
    configuration = {"PerUnitStorageThroughput": 1000, "MetadataConfiguration": {"Mode": "AUTOMATIC"}, **lustre}
    return {"FileSystem": file_system(StorageCapacity=4800, LustreConfiguration=configuration)}


@rule(
    "DT280",
    on=Update,
    title="A change that deletes data",
    why="CloudFormation makes the new resource, deletes the old one, and asks no one.",
    source=_REPLACE,
    bad=update({"FileSystem": file_system()}, _moved(UpdateReplacePolicy="Delete")),
    good=update({"FileSystem": file_system()}, {"FileSystem": file_system(StorageCapacity=2400)}),
    since="2026-12",
)
def deleted_data(update_: Update) -> Iterator[Finding]:
    """DT280: what holds data is replaced or removed, and its policy lets it be deleted."""
    if update_.type not in _HELD or not update_.is_lost or update_.is_kept or _stays_since_full(update_):
        return
    noun, lost = _HELD[update_.type]
    yield problem(
        *update_.place,
        got=f"a {noun} that is {update_.words}; lost: {lost}",
        allowed=f"a change that keeps it, or {update_.policy}: Retain",
        fix=_fix(update_),
    )


@rule(
    "DT281",
    on=Update,
    severity=Severity.WARNING,
    title="A change that leaves data behind",
    why="The new resource is empty. The old one stays outside of the stack, with its data and at its price.",
    source=_REPLACE,
    bad=update({"FileSystem": file_system()}, _moved()),
    good=update({"FileSystem": file_system()}, {"FileSystem": file_system(StorageCapacity=2400)}),
    since="2026-12",
)
def data_left_behind(update_: Update) -> Iterator[Finding]:
    """DT281: what holds data is replaced or removed, and stays where it is."""
    if update_.type not in _HELD or not update_.is_lost or not (update_.is_kept or _stays_since_full(update_)):
        return
    noun, _ = _HELD[update_.type]
    kept = f"{update_.policy} keeps it" if update_.is_kept else "CloudFormation deletes it only if it is empty"
    yield problem(
        *update_.place,
        got=f"a {noun} that is {update_.words}; {kept}",
        allowed="a change that leaves it in the stack",
        fix="undo the change, or copy the data and delete the old one afterwards",
    )


@rule(
    "DT282",
    on=Update,
    severity=Severity.WARNING,
    title="A change of which it is not certain that data survive it",
    why="CloudFormation's specification says that it replaces the resource, the service could make it in place.",
    source=_UPDATE,
    bad=update({"FileSystem": file_system()}, _of(PerUnitStorageThroughput=500)),
    good=update({"FileSystem": file_system()}, _of(DataCompressionType="LZ4")),
    since="2026-12",
)
def perhaps_replaced(update_: Update) -> Iterator[Finding]:
    """DT282: a property changes that may replace what holds data, and nothing else that surely does."""
    if update_.type not in _HELD or update_.is_lost or (_has_efa(update_) and _changes_throughput(update_)):
        return
    for prop in replacing_properties()[update_.type].perhaps:
        if update_.differs(prop):
            yield problem(
                *prop.split("."),
                got=f"another {prop}",
                allowed="a change set that says `Replacement: False`",
                fix="make a change set and read it before it runs, or change it by the service's own API first",
            )


@rule(
    "DT283",
    on=Update,
    title="A file system that is to shrink",
    why="FSx makes file systems larger only, and those of SCRATCH_1 not even that: the update fails.",
    source=_UPDATE,
    bad=update({"FileSystem": file_system(StorageCapacity=4800)}, {"FileSystem": file_system(StorageCapacity=2400)}),
    good=update({"FileSystem": file_system(StorageCapacity=2400)}, {"FileSystem": file_system(StorageCapacity=4800)}),
    since="2026-12",
)
def smaller(update_: Update) -> Iterator[Finding]:
    """DT283: capacity, and of elastic file systems throughput, go upwards."""
    if not _is_lustre(update_) or update_.is_lost:
        return
    for prop in ("StorageCapacity", "LustreConfiguration.ThroughputCapacity"):
        if not update_.differs(prop):
            continue
        old, new = (view.number(*prop.split(".")) for view in _views(update_))
        first = _views(update_)[1].text("LustreConfiguration", "DeploymentType") in (None, "SCRATCH_1")
        if old is not None and new is not None and (new < old or (first and prop == "StorageCapacity")):
            yield problem(
                *prop.split("."),
                got=f"from {old:,} to {new:,}",
                allowed="the same" if first else f"at least {old:,}",
                fix="keep it, or make another file system and copy what you need",
            )


@rule(
    "DT284",
    on=Update,
    title="A choice that FSx takes only when it makes a file system",
    why="There is no such update: it fails, or the file system stays as it was.",
    source=_EFA,
    bad=update(_fast(EfaEnabled=False), _fast(EfaEnabled=True)),
    good=update({"FileSystem": file_system()}, {"FileSystem": file_system(StorageCapacity=4800)}),
    since="2026-12",
)
def fixed_at_creation(update_: Update) -> Iterator[Finding]:
    """DT284: EFA, the throughput under EFA, and the kind of disk stay as they are."""
    if not _is_lustre(update_) or update_.is_lost:
        return
    old, new = _views(update_)
    efa = ("LustreConfiguration", "EfaEnabled")
    fixed = "make another file system under another logical id, and copy what you need"
    if update_.differs(".".join(efa)) and old.flag(*efa) is not new.flag(*efa):
        yield problem(*efa, got=f"{new.flag(*efa)}, where it was {old.flag(*efa)}", allowed="the same", fix=fixed)
    elif _has_efa(update_) and _changes_throughput(update_):
        throughput = ("LustreConfiguration", "PerUnitStorageThroughput")
        yield problem(*throughput, got="another throughput, with EFA", allowed="the same", fix=fixed)
    kinds = [view.text("StorageType") or "SSD" for view in (old, new)]
    if update_.differs("StorageType") and kinds[0] != kinds[1]:
        yield problem("StorageType", got=f"{kinds[1]}, where it was {kinds[0]}", allowed="the same", fix=fixed)


_LINKED = {"FileSystem": file_system(), "Link": association()}


def _linked(**changes: Any) -> dict[str, Any]:
    return {"FileSystem": file_system(), "Link": association(**changes)}


@rule(
    "DT285",
    on=Update,
    severity=Severity.WARNING,
    title="A link to S3 that is made anew",
    why="Files that are not exported yet stay out of S3, and every name of the bucket is imported again.",
    source=_LINK,
    bad=update(_LINKED, _linked(FileSystemPath="/data")),
    good=update(_LINKED, _linked(S3={"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}})),
    since="2026-12",
)
def link_made_anew(update_: Update) -> Iterator[Finding]:
    """DT285: an association is replaced or removed while its file system stays."""
    if _loses_link(update_) and not _collides(update_):
        yield problem(
            *update_.place,
            got=f"a data repository association that is {update_.words}",
            allowed="the same properties, except for those in S3",
            fix="export first (a data repository task), and deploy while no job runs",
        )


@rule(
    "DT286",
    on=Update,
    title="A new link to S3 at the place of the old one",
    why="CloudFormation makes the new link before it deletes the old one, and FSx refuses two at one path.",
    source=_LINK,
    bad=update(_LINKED, _linked(DataRepositoryPath="s3://amzn-s3-demo-bucket/other/")),
    good=update(_LINKED, _linked(S3={"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}})),
    since="2026-12",
)
def link_at_one_path(update_: Update) -> Iterator[Finding]:
    """DT286: an association is replaced at the path that it has."""
    if _loses_link(update_) and _collides(update_):
        yield problem(
            *update_.place,
            got=f"a data repository association that is {update_.words}, at the path that the old one has",
            allowed="another FileSystemPath",
            fix="change FileSystemPath too, or remove the link in one deployment and add it in the next",
        )


def _fix(update_: Update) -> str:
    if update_.after is not None:
        return f"undo the change, or add {update_.policy}: Retain to it and copy the data"
    return (
        f"keep the logical id {update_.before.logical_id} (in CDK: override_logical_id),"
        f" or deploy {update_.policy}: Retain before you remove it"
    )


def _stays_since_full(update_: Update) -> bool:
    """Whether it is a bucket that nobody empties: CloudFormation does not delete it while it holds objects."""
    if update_.type != _BUCKET:
        return False
    target = Reference(update_.before.logical_id)
    emptied = update_.changes.comparison.before.of_type(_EMPTIES)
    return all(View(resource.properties.value).raw("BucketName") != target for resource in emptied)


def _loses_link(update_: Update) -> bool:
    if update_.type != ASSOCIATION or not update_.is_lost:
        return False
    system = View(update_.before.properties.value).raw("FileSystemId")
    changes = update_.changes
    gone = isinstance(system, Reference) and (
        changes.is_replaced(system.logical_id) or changes.comparison.after.resource(system.logical_id) is None
    )
    return not gone  # what becomes of the file system says all that there is to say


def _collides(update_: Update) -> bool:
    return update_.after is not None and update_.stays("FileSystemId", "FileSystemPath")


def _is_lustre(update_: Update) -> bool:
    return update_.type == FILE_SYSTEM and _views(update_)[0].text("FileSystemType") == "LUSTRE"


def _has_efa(update_: Update) -> bool:
    return update_.type == FILE_SYSTEM and _views(update_)[0].flag("LustreConfiguration", "EfaEnabled")


def _changes_throughput(update_: Update) -> bool:
    return update_.differs("LustreConfiguration.PerUnitStorageThroughput")


def _views(update_: Update) -> tuple[View, View]:
    after = update_.after or update_.before
    return View(update_.before.properties.value), View(after.properties.value)
