"""Links between Lustre and S3 in a template: import paths and data repository associations (DT209 on, DT260 on)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import association, lustre, scratch
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import data_repositories, storage
from cdk_distributed_training.checks.subjects.lustre_file_system import DataRepository, LustreFileSystem
from cdk_distributed_training.checks.template.values import PartialText, Token
from cdk_distributed_training.checks.template.view import NotJudgedError

_LUSTRE = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html"
_ASSOCIATION = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html"
_BACKUPS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html"
_BUCKET = "s3://amzn-s3-demo-bucket"
_EVENTS = ("NEW", "CHANGED", "DELETED")


@rule(
    "DT209",
    on=LustreFileSystem,
    title="Backups of a file system that is linked to S3",
    why="FSx refuses: what is linked to S3 is kept there.",
    source=_BACKUPS,
    bad=lustre(resources={"Corpus": association()}, LustreConfiguration={"AutomaticBackupRetentionDays": 7}),
    good=lustre(resources={"Corpus": association()}, LustreConfiguration={"AutomaticBackupRetentionDays": 0}),
)
def backups_of_linked(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT209 of a template."""
    days = file_system.lustre.number("AutomaticBackupRetentionDays")
    if days and (file_system.associations or file_system.imports):
        yield from at(storage.backups_of_linked(days), "LustreConfiguration", "AutomaticBackupRetentionDays")


@rule(
    "DT210",
    on=DataRepository,
    title="A data repository on a file system that cannot have one",
    why="FSx refuses to create the association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(
        resources={"Corpus": association()},
        FileSystemTypeVersion=None,
        LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100},
    ),
    good=lustre(
        resources={"Corpus": association()},
        FileSystemTypeVersion="2.15",
        LustreConfiguration={"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100},
    ),
)
def repository_support(repository: DataRepository) -> Iterator[Finding]:
    """DT210 of a template; FSx's default version is 2.10 for all but PERSISTENT_2."""
    file_system = repository.file_system
    deployment = file_system.known_deployment
    given = file_system.view.text("FileSystemTypeVersion")
    version = given or (None if deployment == "PERSISTENT_2" or file_system.is_restored else "2.10")
    yield from at(data_repositories.repository_support(deployment, version), "FileSystemId")


@rule(
    "DT211",
    on=LustreFileSystem,
    title="More than eight data repositories",
    why="FSx refuses to create the ninth association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(
        resources={
            f"Link{n}": association(FileSystemPath=f"/{n}", DataRepositoryPath=f"{_BUCKET}/{n}/") for n in range(9)
        }
    ),
    good=lustre(
        resources={
            f"Link{n}": association(FileSystemPath=f"/{n}", DataRepositoryPath=f"{_BUCKET}/{n}/") for n in range(8)
        }
    ),
)
def repository_count(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT211 of a template."""
    yield from at(data_repositories.repository_count(len(file_system.associations)))


@rule(
    "DT212",
    on=DataRepository,
    title="A link that does not begin at the file system's root",
    why="FSx refuses to create the association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(resources={"Corpus": association(FileSystemPath="corpus")}),
    good=lustre(resources={"Corpus": association(FileSystemPath="/corpus")}),
)
def repository_path(repository: DataRepository) -> Iterator[Finding]:
    """DT212 of a template."""
    path = repository.view.text("FileSystemPath")
    if path is not None:
        yield from at(data_repositories.repository_path(path), "FileSystemPath")


@rule(
    "DT260",
    on=DataRepository,
    title="A data repository that is no address in S3",
    why="FSx refuses to create the association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(resources={"Corpus": association(DataRepositoryPath="amzn-s3-demo-bucket/corpus/")}),
    good=lustre(resources={"Corpus": association(DataRepositoryPath="s3://amzn-s3-demo-bucket/corpus/")}),
)
def repository_address(repository: DataRepository) -> Iterator[Finding]:
    """DT260: it begins with `s3://`."""
    address = repository.view.raw("DataRepositoryPath")
    start = address.literal_start if isinstance(address, PartialText) else address
    if isinstance(start, Token) or start == "":
        raise NotJudgedError(("DataRepositoryPath",))
    if start is not None and not str(start).startswith("s3://"):
        yield problem(
            "DataRepositoryPath",
            got=repr(str(address)),
            allowed="an address such as 's3://bucket/prefix/'",
            fix="begin it with s3://",
        )


@rule(
    "DT214",
    on=DataRepository,
    title="Links of which one contains another",
    why="FSx refuses to create the second association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(
        resources={
            "Corpus": association(FileSystemPath="/data"),
            "Extra": association(FileSystemPath="/data/extra", DataRepositoryPath=f"{_BUCKET}/extra/"),
        }
    ),
    good=lustre(
        resources={
            "Corpus": association(FileSystemPath="/data"),
            "Extra": association(FileSystemPath="/extra", DataRepositoryPath=f"{_BUCKET}/extra/"),
        }
    ),
)
def repository_overlap(repository: DataRepository) -> Iterator[Finding]:
    """DT214 of a template; only the later of two is reported."""
    path = repository.view.text("FileSystemPath")
    others = _earlier(repository, "FileSystemPath")
    if path is not None:
        yield from at(data_repositories.repository_overlap(path, others), "FileSystemPath")


@rule(
    "DT215",
    on=DataRepository,
    title="A prefix in S3 that is linked twice",
    why="FSx refuses to create the second association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(resources={"Corpus": association(), "Again": association(FileSystemPath="/again")}),
    good=lustre(
        resources={
            "Corpus": association(),
            "Again": association(FileSystemPath="/again", DataRepositoryPath=f"{_BUCKET}/again/"),
        }
    ),
)
def repository_twice(repository: DataRepository) -> Iterator[Finding]:
    """DT215 of a template; only the later of two is reported."""
    address = repository.view.text("DataRepositoryPath")
    if address is not None:
        yield from at(
            data_repositories.repository_twice(address, _earlier(repository, "DataRepositoryPath")),
            "DataRepositoryPath",
        )


def _earlier(repository: DataRepository, name: str) -> list[str]:
    """The literal values of a property in the associations that stand before this one."""
    found: list[str] = []
    for association_ in repository.file_system.associations:
        if association_ is repository.resource:
            break
        value = association_.properties.raw(name)
        if isinstance(value, str):
            found.append(value)
    return found


@rule(
    "DT216",
    on=DataRepository,
    title="A stripe size that FSx does not make",
    why="FSx refuses to create the association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(resources={"Corpus": association(ImportedFileChunkSize=1_000_000)}),
    good=lustre(resources={"Corpus": association(ImportedFileChunkSize=1024)}),
)
def chunk_size(repository: DataRepository) -> Iterator[Finding]:
    """DT216 of a template."""
    mebibytes = repository.view.number("ImportedFileChunkSize")
    if mebibytes is not None:
        yield from at(data_repositories.chunk_size(mebibytes), "ImportedFileChunkSize")


@rule(
    "DT261",
    on=DataRepository,
    severity=Severity.INFORMATION,
    title="A link that shows nothing at first",
    why="Objects that were in S3 before the link are not listed until someone imports them by a task.",
    source=_ASSOCIATION,
    bad=lustre(resources={"Corpus": association(BatchImportMetaDataOnCreate=None)}),
    good=lustre(resources={"Corpus": association(BatchImportMetaDataOnCreate=True)}),
)
def initial_import(repository: DataRepository) -> Iterator[Finding]:
    """DT261: the service's default is not to import."""
    if not repository.view.flag("BatchImportMetaDataOnCreate"):
        yield problem(
            "BatchImportMetaDataOnCreate",
            got="false" if repository.view.has("BatchImportMetaDataOnCreate") else "none, which means false",
            allowed="true, unless objects arrive only later",
            fix="set it to true",
        )


@rule(
    "DT262",
    on=DataRepository,
    title="An event that FSx does not know",
    why="FSx refuses to create the association, and the stack rolls back.",
    source=_ASSOCIATION,
    bad=lustre(resources={"Corpus": association(S3={"AutoImportPolicy": {"Events": ["CREATED"]}})}),
    good=lustre(resources={"Corpus": association(S3={"AutoImportPolicy": {"Events": ["NEW"]}})}),
)
def events(repository: DataRepository) -> Iterator[Finding]:
    """DT262: NEW, CHANGED and DELETED."""
    for policy in ("AutoImportPolicy", "AutoExportPolicy"):
        for item in repository.view.items("S3", policy, "Events"):
            if not isinstance(item.value, Token) and item.value not in _EVENTS:
                yield problem(
                    *item.path, got=repr(item.value), allowed=", ".join(_EVENTS), fix="use one or more of these"
                )


@rule(
    "DT263",
    on=LustreFileSystem,
    title="An import or export path on PERSISTENT_2",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=lustre(LustreConfiguration={"ImportPath": f"{_BUCKET}/corpus"}),
    good=lustre(resources={"Corpus": association()}),
)
def import_on_persistent_2(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT263: it is linked by associations alone."""
    for name in ("ImportPath", "ExportPath"):
        if file_system.lustre.given(name) and file_system.deployment == "PERSISTENT_2":
            yield problem(
                "LustreConfiguration",
                name,
                got=f"a path with {file_system.deployment}",
                allowed="nothing: PERSISTENT_2 is linked by AWS::FSx::DataRepositoryAssociation",
                fix="add an association with the same address",
            )


@rule(
    "DT264",
    on=LustreFileSystem,
    title="An import path next to a data repository association",
    why="FSx refuses the association: a file system is linked in one way or the other.",
    source=_LUSTRE,
    bad=scratch(
        resources={"Corpus": association()},
        LustreConfiguration={"ImportPath": f"{_BUCKET}/corpus"},
    ),
    good=scratch(resources={"Corpus": association()}),
)
def import_and_association(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT264: they exclude each other."""
    if file_system.lustre.given("ImportPath") and file_system.associations and file_system.deployment != "PERSISTENT_2":
        yield problem(
            "LustreConfiguration",
            "ImportPath",
            got=f"an import path and {len(file_system.associations)} associations",
            allowed="one of the two",
            fix="leave out ImportPath, and link its address by an association",
        )


@rule(
    "DT265",
    on=LustreFileSystem,
    title="Automatic import without an import path, or on PERSISTENT_2",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=scratch(LustreConfiguration={"AutoImportPolicy": "NEW_CHANGED"}),
    good=scratch(LustreConfiguration={"AutoImportPolicy": "NEW_CHANGED", "ImportPath": f"{_BUCKET}/corpus"}),
)
def auto_import(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT265: it says what to import from the import path."""
    policy = file_system.lustre.text("AutoImportPolicy")
    if policy in (None, "NONE"):
        return
    persistent_2 = file_system.deployment == "PERSISTENT_2"
    if persistent_2 or not file_system.lustre.has("ImportPath"):
        yield problem(
            "LustreConfiguration",
            "AutoImportPolicy",
            got=f"{policy} {'with PERSISTENT_2' if persistent_2 else 'without ImportPath'}",
            allowed="only with an ImportPath, which PERSISTENT_2 does not have",
            fix="use an association's AutoImportPolicy, or add ImportPath",
        )


@rule(
    "DT266",
    on=LustreFileSystem,
    title="An export path that does not fit the import path",
    why="FSx refuses to create the file system, and the stack rolls back.",
    source=_LUSTRE,
    bad=scratch(LustreConfiguration={"ExportPath": f"{_BUCKET}/results"}),
    good=scratch(LustreConfiguration={"ExportPath": f"{_BUCKET}/results", "ImportPath": f"{_BUCKET}/corpus"}),
)
def export_path(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT266: results go to the bucket that the data come from."""
    export = file_system.lustre.text("ExportPath")
    if export is None or file_system.deployment == "PERSISTENT_2":
        return
    source = file_system.lustre.text("ImportPath")
    if source is None or source.split("/")[:3] != export.split("/")[:3]:
        yield problem(
            "LustreConfiguration",
            "ExportPath",
            got=f"{export!r} with {f'the import path {source!r}' if source else 'no import path'}",
            allowed="a prefix in the bucket of ImportPath",
            fix="set ImportPath, in the same bucket",
        )
