"""What `cdk synth` left behind: the stacks' templates, the training jobs in them and their assets.

Only files are read, so neither Node.js nor the app's own environment is needed. Format: `manifest.json` names the
stacks; a stack's metadata is in the file that `additionalMetadataFile` names or, from older CLIs, in the manifest
itself. Stages are assemblies inside the assembly.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.job_elsewhere import JobElsewhere
from cdk_distributed_training.local.synthesized_stack import SynthesizedStack

JOB_METADATA = "cdk-distributed-training:training-job"
JOB_SCHEMA = 1
ELSEWHERE_METADATA = "cdk-distributed-training:run-elsewhere"
ELSEWHERE_SCHEMA = 1
_LOGICAL_ID = "aws:cdk:logicalId"
# by the construct ids below a job, which are part of its interface
_STATE_MACHINE = "/StateMachine/Job/Resource/Resource"


@dataclass(frozen=True, kw_only=True)
class SynthesizedAsset:
    """A file or folder of the assembly that deploying would upload.

    Attributes:
        path: Where it is on this machine.
        packaging: `zip` for a folder that is zipped on upload, `file` otherwise.
        object_key: Its key in the asset bucket.
    """

    path: Path
    packaging: str
    object_key: str


@dataclass(frozen=True, kw_only=True)
class SynthesizedJob:
    """A training job as its construct left it in the assembly.

    Attributes:
        path: The construct's path, such as `Training/Job`; its id on the command line.
        job_name: First part of the names of its runs.
        request: The CreateTrainingJob request without a name; may hold CloudFormation intrinsics.
        stack: The stack in which it is defined.
        assets: What the assembly would upload, by object key.
        source_folder: Folder with the code, relative to where the app ran; None if the assembly does not say.
        launcher_inside: Whether its image has the launcher for its entry point.
        state_machine: Logical id of the state machine that runs it; None if the assembly does not say.
    """

    path: str
    job_name: str
    request: dict[str, Any]
    stack: SynthesizedStack
    assets: dict[str, SynthesizedAsset] = field(repr=False)
    source_folder: str | None = None
    launcher_inside: bool = False
    state_machine: str | None = None


class Assembly:
    """A synthesized app.

    Args:
        folder: The assembly's folder, `cdk.out` by default of the CDK.

    Raises:
        LocalModeError: The folder is missing or holds no assembly.
    """

    def __init__(self, folder: Path) -> None:
        """Read the manifests; templates are read when they are first needed."""
        self.folder = folder
        if not (folder / "manifest.json").is_file():
            raise LocalModeError(_no_assembly(folder))

    @cached_property
    def stacks(self) -> tuple[SynthesizedStack, ...]:
        """Every stack, those of stages too."""
        return tuple(stack for stack, _, _ in self._stacks)

    @cached_property
    def jobs(self) -> tuple[SynthesizedJob, ...]:
        """Every training job, in the order of the construct paths."""
        return tuple(sorted((job for _, jobs, _ in self._stacks for job in jobs), key=lambda job: job.path))

    @cached_property
    def elsewhere(self) -> tuple[JobElsewhere, ...]:
        """What only AWS can run, in the order of the construct paths."""
        return tuple(sorted((one for _, _, elsewhere in self._stacks for one in elsewhere), key=lambda one: one.path))

    def way(self, path: str | None) -> tuple[JobElsewhere, ...]:
        """What stands between a construct path and the job that runs here, outermost first; empty for the job's own."""
        named = {one.path: one for one in self.elsewhere}
        way: list[JobElsewhere] = []
        while path in named and named[path] not in way:
            way.append(named[path])
            path = named[path].job
        return tuple(way)

    def runs_here(self, one: JobElsewhere) -> bool:
        """Whether there is a job in it that this machine can run in its place."""
        return self.way(one.path)[-1].job in [job.path for job in self.jobs]

    def told(self, one: JobElsewhere) -> str:
        """What it is, and what can be done with it on this machine."""
        last = self.way(one.path)[-1]
        if self.runs_here(one):
            return f"{one.what}; `dtrain local {one.path}` runs its job {last.job} on this machine"
        if last.job is None:
            return f"{one.what}, which this machine cannot do; `dtrain describe {one.path}` shows what it asks AWS for"
        return f"{one.what}; its job {last.job} is defined in another app: synthesize that one, and run it from there"

    def find(self, path: str | None = None) -> SynthesizedJob:
        """The job with this construct path, or the one in what AWS runs under it; without a path the only job.

        Raises:
            LocalModeError: There is no such job, no job at all, or several and none was named; or only AWS can run it.
        """
        way = self.way(path)
        if way and not self.runs_here(way[0]):
            raise LocalModeError(self.told(way[0]))
        if not self.jobs:
            raise LocalModeError(self._no_job())
        path = way[-1].job if way else path
        names = [*(job.path for job in self.jobs), *(one.path for one in self.elsewhere)]
        listing = "".join(f"\n  {name}" for name in names)
        if path is None:
            if len(self.jobs) > 1:
                raise LocalModeError(f"{self.folder} holds {len(self.jobs)} training jobs, name one of them:{listing}")
            return self.jobs[0]
        found = [job for job in self.jobs if path in (job.path, job.path.removesuffix("/Resource"))]
        if not found:
            near = _similar(path, names)
            hint = f"did you mean {near}? " if near else ""
            raise LocalModeError(f"{self.folder} holds no training job {path}; {hint}there are:{listing}")
        return found[0]

    def _no_job(self) -> str:
        if self.elsewhere:
            return f"{self.folder} holds no training job that can run here:" + "".join(
                f"\n  {self.told(one)}" for one in self.elsewhere
            )
        return f"{self.folder} holds no training job: add a DistributedTrainingJob to the app and synthesize it again"

    @cached_property
    def _stacks(self) -> list[tuple[SynthesizedStack, list[SynthesizedJob], list[JobElsewhere]]]:
        try:
            return list(_read(self.folder))
        except (AttributeError, KeyError, TypeError) as error:
            raise LocalModeError(
                f"{self.folder} is not as `cdk synth` writes it ({type(error).__name__}: {error}): "
                "synthesize the app again"
            ) from error


def _no_assembly(folder: Path) -> str:
    near = [folder / "cdk.out", folder.parent] if folder.is_dir() or folder.name != "cdk.out" else []
    found = next((place for place in near if (place / "manifest.json").is_file()), None)
    what = (
        "holds no manifest.json" if folder.is_dir() else "is a file, no folder" if folder.exists() else "does not exist"
    )
    if found is not None:
        return f"{folder} {what}: the synthesized app is in {found}, so give --app {found}"
    return f"{folder} {what}: synthesize the app first (`cdk synth`), or say where it is with --app FOLDER"


def _similar(path: str, names: list[str]) -> str | None:
    """The name that was meant, perhaps; by its last part, since many names begin alike."""
    by_end = {name.rpartition("/")[2]: name for name in reversed(names)}
    near = difflib.get_close_matches(path.rpartition("/")[2], list(by_end), n=1)
    return by_end[near[0]] if near else None


def _read(folder: Path) -> Iterator[tuple[SynthesizedStack, list[SynthesizedJob], list[JobElsewhere]]]:
    manifest = _json(folder / "manifest.json")
    artifacts: dict[str, dict[str, Any]] = manifest.get("artifacts", {})
    assets = _assets(folder, artifacts)
    for artifact in artifacts.values():
        properties = artifact.get("properties", {})
        if artifact["type"] == "cdk:cloud-assembly":
            yield from _read(folder / properties["directoryName"])
        elif artifact["type"] == "aws:cloudformation:stack":
            account, region = _environment(artifact.get("environment", ""))
            template = _json(folder / properties["templateFile"])
            name = properties.get("stackName", Path(properties["templateFile"]).name.removesuffix(".template.json"))
            stack = SynthesizedStack(name=name, template=template, account=account, region=region)
            metadata = _metadata(folder, artifact)
            yield stack, [*_jobs(metadata, stack, assets)], [*_elsewhere(metadata, stack)]


def _jobs(
    metadata: dict[str, list[dict[str, Any]]], stack: SynthesizedStack, assets: dict[str, SynthesizedAsset]
) -> Iterator[SynthesizedJob]:
    for path, entries in metadata.items():
        for entry in entries:
            if entry["type"] != JOB_METADATA:
                continue
            data = entry["data"]
            if data.get("schema") != JOB_SCHEMA:
                raise LocalModeError(
                    f"{path} was synthesized by another version of the library (metadata schema {data.get('schema')}, "
                    f"this version reads {JOB_SCHEMA}): synthesize it again with this version"
                )
            yield SynthesizedJob(
                path=path.removeprefix("/"),
                job_name=data["job_name"],
                request=data["request"],
                stack=stack,
                assets=assets,
                source_folder=data.get("source_folder"),
                launcher_inside=data.get("launcher_inside", False),
                state_machine=_logical_id(metadata, f"{path}{_STATE_MACHINE}"),
            )


def _elsewhere(metadata: dict[str, list[dict[str, Any]]], stack: SynthesizedStack) -> Iterator[JobElsewhere]:
    for path, entries in metadata.items():
        for entry in entries:
            # what another version left is not read: it is of no use without its job, which is refused then
            if entry["type"] != ELSEWHERE_METADATA or entry["data"].get("schema") != ELSEWHERE_SCHEMA:
                continue
            data = entry["data"]
            yield JobElsewhere(
                path=path.removeprefix("/"),
                kind=data["kind"],
                runner=data["runner"],
                job=data["job"] or None,
                stack=stack,
                hyperparameters=data.get("hyperparameters", {}),
                instance_count=data.get("instance_count"),
                ranges=data.get("ranges", {}),
                state_machine=data.get("state_machine", {}).get("Ref"),
                request=data.get("request"),
            )


def _logical_id(metadata: dict[str, list[dict[str, Any]]], path: str) -> str | None:
    return next((entry["data"] for entry in metadata.get(path, []) if entry["type"] == _LOGICAL_ID), None)


def _metadata(folder: Path, artifact: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    file = artifact.get("additionalMetadataFile")
    extra: dict[str, list[dict[str, Any]]] = _json(folder / file) if file else {}
    inline: dict[str, list[dict[str, Any]]] = artifact.get("metadata", {})
    return {path: [*inline.get(path, []), *extra.get(path, [])] for path in [*inline, *(set(extra) - set(inline))]}


def _assets(folder: Path, artifacts: dict[str, dict[str, Any]]) -> dict[str, SynthesizedAsset]:
    found: dict[str, SynthesizedAsset] = {}
    for artifact in artifacts.values():
        if artifact["type"] != "cdk:asset-manifest":
            continue
        for file in _json(folder / artifact["properties"]["file"]).get("files", {}).values():
            source = file["source"]
            if "path" not in source:  # made by a command at deploy time: nothing is there yet
                continue
            for destination in file["destinations"].values():
                key = destination["objectKey"]
                found[key] = SynthesizedAsset(
                    path=(folder / source["path"]).resolve(),
                    packaging=source.get("packaging", "file"),
                    object_key=key,
                )
    return found


def _environment(text: str) -> tuple[str | None, str | None]:
    """Account and region of `aws://111111111111/us-east-1`; None for what is unknown at synthesis."""
    account, _, region = text.removeprefix("aws://").partition("/")
    return (
        account if account.isdigit() else None,
        region if region and not region.startswith("unknown") else None,
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LocalModeError(f"{path} is missing: synthesize the app again") from None
    except OSError as error:
        raise LocalModeError(f"{path} cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise LocalModeError(f"{path} is no JSON ({error}): synthesize the app again") from None
    return content
