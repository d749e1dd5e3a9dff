"""What kind of document a file is, and the documents of a synthesized app."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.loader import load, parse
from cdk_distributed_training.checks.template.source import Source

_JOB = "cdk-distributed-training:training-job"  # what `DistributedTrainingJob` leaves at its node


class Kind(enum.Enum):
    """Kinds of documents that rules can judge."""

    TEMPLATE = "CloudFormation template"
    DEFINITION = "state machine definition"
    PIPELINE = "SageMaker Pipeline definition"
    REQUEST = "CreateTrainingJob request"


@dataclass(frozen=True)
class Document:
    """One document.

    Attributes:
        source: Its content and where that came from.
        kind: What it is.
        region: The region that it will be deployed to, if known.
        construct_paths: Path of the construct that made a resource, by logical id; empty outside of CDK apps.
        before: The template that it takes the place of; None if that is not known.
        requests: CreateTrainingJob requests that constructs left as metadata beside the template, by construct path.
    """

    source: Source
    kind: Kind
    region: str | None = None
    construct_paths: Mapping[str, str] = field(default_factory=dict)
    before: Document | None = None
    requests: Mapping[str, Any] = field(default_factory=dict)


def read(path: FilePath) -> list[Document]:
    """The documents of a file, or of a folder that `cdk synth` wrote.

    Raises:
        UnreadableFileError: There is none; the message says what was found instead.
    """
    if path.is_dir():
        return list(_assembly(path))
    if path.name == "manifest.json":
        return list(_assembly(path.parent))
    return [document(load(path))]


def read_text(text: str, *, name: str = "<text>") -> Document:
    """The document that a text holds.

    Raises:
        UnreadableFileError: It holds none.
    """
    return document(parse(text, name=name))


def document(source: Source, *, region: str | None = None) -> Document:
    """A document of the kind that its content shows.

    Raises:
        UnreadableFileError: The content is none of the kinds.
    """
    kind = _kind(source.content)
    if kind is None:
        raise UnreadableFileError(f"{source.name}: none of: {', '.join(kind.value for kind in Kind)}")
    return Document(source, kind, region)


_SIGNS = {
    Kind.TEMPLATE: ({"Resources"}, {"AWSTemplateFormatVersion"}, {"Transform"}),
    Kind.DEFINITION: ({"States", "StartAt"}, {"States"}),
    Kind.PIPELINE: ({"Steps", "Version"}, {"Steps"}),
    Kind.REQUEST: (
        {"AlgorithmSpecification"},
        {"TrainingJobName"},
        {"ResourceConfig"},
        {"InputDataConfig", "OutputDataConfig"},
    ),
}


def _kind(content: Any) -> Kind | None:
    members = set(content) if isinstance(content, dict) else set()
    return next((kind for kind, signs in _SIGNS.items() if any(sign <= members for sign in signs)), None)


def _assembly(folder: FilePath) -> Iterator[Document]:
    manifest_path = folder / "manifest.json"
    if not manifest_path.is_file():
        raise UnreadableFileError(f"{folder}: a folder without manifest.json, so not what `cdk synth` writes")
    manifest = load(manifest_path).content
    artifacts = manifest.get("artifacts") if isinstance(manifest, dict) else None
    for artifact in (artifacts or {}).values():
        properties = artifact.get("properties") or {}
        if artifact.get("type") == "aws:cdk:cloudformation:stack" or "templateFile" in properties:
            yield _stack(folder, artifact, properties["templateFile"])
        elif artifact.get("type") == "cdk:cloud-assembly" and "directoryName" in properties:
            yield from _assembly(folder / properties["directoryName"])


def _stack(folder: FilePath, artifact: Mapping[str, Any], template: str) -> Document:
    region = str(artifact.get("environment", "")).rpartition("/")[2]
    known = region if region and not region.startswith("unknown") else None
    metadata = _metadata(folder, artifact)
    return Document(
        load(folder / template),
        Kind.TEMPLATE,
        known,
        construct_paths={str(data): path for path, data in _entries(metadata, "aws:cdk:logicalId")},
        requests={
            path: data["request"]
            for path, data in _entries(metadata, _JOB)
            if isinstance(data, dict) and isinstance(data.get("request"), dict)
        },
    )


def _metadata(folder: FilePath, artifact: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of all constructs, which newer CLIs write into a file of their own."""
    file = artifact.get("additionalMetadataFile")
    extra = load(folder / file).content if file else {}
    return {**(artifact.get("metadata") or {}), **(extra if isinstance(extra, dict) else {})}


def _entries(metadata: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any]]:
    """What constructs left of one kind, by their paths."""
    for path, entries in metadata.items():
        for entry in entries:
            if entry.get("type") == kind:
                yield path.strip("/"), entry.get("data")
