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

JOB_METADATA = "cdk-distributed-training:training-job"
JOB_SCHEMA = 1
ELSEWHERE_METADATA = "cdk-distributed-training:run-elsewhere"
ELSEWHERE_SCHEMA = 1


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
class SynthesizedStack:
    """A stack's template and where it would be deployed.

    Attributes:
        name: The stack's name.
        template: The CloudFormation template.
        account: Twelve digits, or None for an environment-agnostic stack.
        region: For example `us-east-1`, or None for an environment-agnostic stack.
    """

    name: str
    template: dict[str, Any]
    account: str | None = None
    region: str | None = None


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
    """

    path: str
    job_name: str
    request: dict[str, Any]
    stack: SynthesizedStack
    assets: dict[str, SynthesizedAsset] = field(repr=False)
    source_folder: str | None = None
    launcher_inside: bool = False


@dataclass(frozen=True, kw_only=True)
class JobElsewhere:
    """What AWS runs and this machine cannot.

    Attributes:
        path: The construct's path.
        kind: The construct's class.
        runner: Who runs it, as a sentence without its end.
        job: Path of the job in it, which can be run here; None if it has none.
    """

    path: str
    kind: str
    runner: str
    job: str | None

    def __str__(self) -> str:
        """What it is, and what can be done with it on this machine."""
        cannot = f"{self.path} is a {self.kind}: {self.runner}, which `dtrain` cannot do here"
        if self.job is None:
            return f"{cannot}; `dtrain describe` shows the app's resources"
        return f"{cannot}; run the job that it is made of: dtrain local {self.job}"


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
            what = "holds no manifest.json" if folder.is_dir() else "does not exist"
            raise LocalModeError(
                f"{folder} {what}: synthesize the app first (`cdk synth`), or say where it is with --app FOLDER"
            )

    @cached_property
    def stacks(self) -> tuple[SynthesizedStack, ...]:
        """Every stack, those of stages too."""
        return tuple(stack for stack, _ in self._stacks)

    @cached_property
    def jobs(self) -> tuple[SynthesizedJob, ...]:
        """Every training job, in the order of the construct paths."""
        return tuple(sorted((job for _, jobs in self._stacks for job in jobs), key=lambda job: job.path))

    @cached_property
    def elsewhere(self) -> tuple[JobElsewhere, ...]:
        """What only AWS can run, in the order of the construct paths."""
        return tuple(sorted(_elsewhere(self.folder), key=lambda one: one.path))

    def find(self, path: str | None = None) -> SynthesizedJob:
        """The job with this construct path; without a path the only job.

        Raises:
            LocalModeError: There is no such job, no job at all, or several and none was named; or only AWS can run it.
        """
        for one in self.elsewhere:
            if path == one.path:
                raise LocalModeError(str(one))
        paths = [job.path for job in self.jobs]
        listing = "".join(f"\n  {job}" for job in paths)
        if not self.jobs and self.elsewhere:
            raise LocalModeError(
                f"{self.folder} holds no training job that can run here:"
                + "".join(f"\n  {one}" for one in self.elsewhere)
            )
        if not self.jobs:
            raise LocalModeError(
                f"{self.folder} holds no training job: add a DistributedTrainingJob to the app and synthesize it again"
            )
        if path is None:
            if len(self.jobs) > 1:
                raise LocalModeError(f"{self.folder} holds {len(self.jobs)} training jobs, name one of them:{listing}")
            return self.jobs[0]
        found = [job for job in self.jobs if path in (job.path, job.path.removesuffix("/Resource"))]
        if not found:
            near = difflib.get_close_matches(path, paths, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}? " if near else ""
            raise LocalModeError(f"{self.folder} holds no training job {path}; {hint}there are:{listing}")
        return found[0]

    @cached_property
    def _stacks(self) -> list[tuple[SynthesizedStack, list[SynthesizedJob]]]:
        return list(_read(self.folder))


def _read(folder: Path) -> Iterator[tuple[SynthesizedStack, list[SynthesizedJob]]]:
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
            yield stack, [*_jobs(_metadata(folder, artifact), stack, assets)]


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
            )


def _elsewhere(folder: Path) -> Iterator[JobElsewhere]:
    for artifact in _json(folder / "manifest.json").get("artifacts", {}).values():
        if artifact["type"] == "cdk:cloud-assembly":
            yield from _elsewhere(folder / artifact["properties"]["directoryName"])
        elif artifact["type"] == "aws:cloudformation:stack":
            for path, entries in _metadata(folder, artifact).items():
                for entry in entries:
                    # what another version left is not read: it is only ever said, never run
                    if entry["type"] == ELSEWHERE_METADATA and entry["data"].get("schema") == ELSEWHERE_SCHEMA:
                        data = entry["data"]
                        yield JobElsewhere(
                            path=path.removeprefix("/"),
                            kind=data["kind"],
                            runner=data["runner"],
                            job=data["job"] or None,
                        )


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
    except ValueError as error:
        raise LocalModeError(f"{path} is no JSON ({error}): synthesize the app again") from None
    return content
