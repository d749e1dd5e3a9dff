"""Rules about AWS's own training libraries: machines and images that hold them (DT413, DT423, DT424, DT433)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.data.tables import (
    InstanceType,
    LibrarySupport,
    instance_types,
    library_support,
    process_counts,
    tensorflow_kinds,
)

_NEURON = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/training.html"

# AWS's own images for training with PyTorch; others may hold anything
_AWS_IMAGE = re.compile(
    r"\.dkr\.ecr\.[^/]+/(?P<repository>pytorch(?:-training)?|smdistributed-modelparallel):(?P<tag>.+)"
)


def library_in_image(kind: str, image: str) -> Iterator[Finding]:
    """DT423: one of AWS's images that does not hold the library which the distribution starts.

    Args:
        kind: The launcher's kind, such as `smp`.
        image: The image's address.
    """
    support = library_support().get(kind)
    found = _AWS_IMAGE.search(image)
    if support is None or found is None:
        return
    repository, version = found["repository"], re.match(r"(\d+)\.(\d+)", found["tag"])
    if support.repository:
        fits = repository == support.repository
    else:
        newest = tuple(map(int, support.newest_pytorch.split(".")))
        fits = version is None or (int(version[1]), int(version[2])) <= newest
    if not fits:
        allowed = (
            f"an image of {support.repository}, or one of your own that holds the library"
            if support.repository
            else f"an image with PyTorch {support.newest_pytorch} or older, or one of your own that holds the library"
        )
        yield Finding(
            rule="DT423",
            prop="image",
            got=f"{repository}:{found['tag']}, without the library of {kind!r}",
            allowed=allowed,
            fix="pass TrainingImage.from_model_parallel_container()"
            if support.repository
            else "name such an image with TrainingImage.from_uri, or use Torchrun, which takes NCCL",
            source=support.source,
        )


def framework_in_image(kind: str, image: str) -> Iterator[Finding]:
    """DT424: one of AWS's images for PyTorch, with a distribution of TensorFlow.

    Args:
        kind: The launcher's kind.
        image: The image's address.
    """
    found = _AWS_IMAGE.search(image)
    if kind in tensorflow_kinds() and found is not None:
        yield Finding(
            rule="DT424",
            prop="image",
            got=f"{found['repository']}:{found['tag']}, without TensorFlow, with {kind!r}",
            allowed="an image with TensorFlow",
            fix="name one with TrainingImage.from_uri",
            severity=Severity.WARNING,
            source="https://www.tensorflow.org/guide/distributed_training",
        )


def library_on_machines(kind: str, types: Sequence[str]) -> Iterator[Finding]:
    """DT433: machines for which the library is not made; those that the tables do not know may be."""
    support = library_support().get(kind)
    if support is not None:
        yield from (_machine(kind, name, support) for name in types if not name.startswith(support.instance_prefixes))


def _machine(kind: str, name: str, support: LibrarySupport) -> Finding:
    facts = instance_types().get(name)
    no_gpu = facts is not None and not facts.gpu_count
    return Finding(
        rule="DT433",
        prop="instances.instance_type",
        got=f"{name!r} with {kind!r}",
        allowed="types that begin with " + ", ".join(support.instance_prefixes),
        fix="take one of these, or Torchrun with PyTorch's own FSDP",
        severity=Severity.ERROR if no_gpu else Severity.WARNING,
        source=support.source,
    )


def neuron_process_count(count: object, machine: InstanceType) -> Iterator[Finding]:
    """DT413: a number of processes that Trainium's collectives do not take."""
    allowed = process_counts().get(machine.name)
    if allowed and isinstance(count, int) and 0 < count <= machine.neuron_cores and count not in allowed:
        yield Finding(
            rule="DT413",
            prop="distribution.process_count_per_node",
            got=f"{count} on {machine.name}",
            allowed=", ".join(map(str, allowed)),
            fix=f"use all {machine.neuron_cores} cores, which leaving it out does",
            severity=Severity.WARNING,
            source=_NEURON,
        )
