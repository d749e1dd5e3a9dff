"""Rules about container images (DT5xx)."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterator, Mapping

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.data.tables import DeepLearningContainer

_AVAILABLE = "https://github.com/aws/deep-learning-containers/blob/master/available_images.md"
_POLICY = "https://aws.github.io/deep-learning-containers/reference/support_policy/"
_ALGORITHM = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html"


def framework_version(given: str, accelerator: str, available: Collection[str]) -> Iterator[Finding]:
    """DT501: a version for which AWS publishes no training image that this library knows."""
    if not any(version == given or version.startswith(f"{given}.") for version in available):
        yield Finding(
            rule="DT501",
            prop="framework_version",
            got=f"{given!r} for {accelerator}",
            allowed=", ".join(available) or f"nothing: no image for {accelerator} is known",
            fix="choose one of these, or name a newer image with TrainingImage.from_uri",
            source=_AVAILABLE,
        )


def end_of_patch(image: DeepLearningContainer, today: datetime.date) -> Iterator[Finding]:
    """DT502: an image that gets no security patches any more."""
    if image.end_of_patch and datetime.date.fromisoformat(image.end_of_patch) < today:
        yield Finding(
            rule="DT502",
            prop="framework_version",
            got=f"{image.version}, without security patches since {image.end_of_patch}",
            allowed="a version that is still patched",
            fix="move to a newer version",
            severity=Severity.WARNING,
            source=_POLICY,
        )


def region(name: str, known_regions: Collection[str]) -> Iterator[Finding]:
    """DT503: a region of which no image account is known."""
    if name not in known_regions:
        yield Finding(
            rule="DT503",
            prop="image",
            got=f"the region {name!r}",
            allowed="a region whose account for AWS's images this library knows: " + ", ".join(sorted(known_regions)),
            fix="name the image with TrainingImage.from_uri",
            source=_AVAILABLE,
        )


def accelerator(given: str) -> Iterator[Finding]:
    """DT504: no kind of image."""
    if given not in ("cpu", "gpu", "neuron"):
        yield Finding(
            rule="DT504",
            prop="accelerator",
            got=repr(given),
            allowed="'cpu', 'gpu' or 'neuron'",
            fix="leave it out to choose by the instance type",
            source=_AVAILABLE,
        )


def accelerator_of_machines(kind: str, machines: Mapping[str, str]) -> Iterator[Finding]:
    """DT519 (warning): an image without the libraries of the machines' accelerators.

    Args:
        kind: What the image is built for: `cpu`, `gpu` or `neuron`.
        machines: The types that it may run on, each with its own kind.
    """
    # an image for GPUs trains on machines without accelerators too
    others = {name: own for name, own in machines.items() if own != kind and (kind, own) != ("gpu", "cpu")}
    if others:
        listed = ", ".join(f"{name} ({own})" for name, own in others.items())
        yield Finding(
            rule="DT519",
            prop="image",
            got=f"an image for {kind}, which may run on {listed}",
            allowed="an image for the accelerators of every type: one job has one image",
            fix="leave the image's accelerator out, or take types of one kind",
            severity=Severity.WARNING,
            source=_AVAILABLE,
        )


def undecided_accelerator() -> Finding:
    """DT505: the instance type is known only at deployment, the image must be chosen now."""
    return Finding(
        rule="DT505",
        prop="image",
        got="an instance type that is a token",
        allowed="an image that does not depend on the instance type",
        fix="pass TrainingImage.from_deep_learning_container(accelerator='gpu'), 'cpu' or 'neuron', or another image",
    )


def neuron_sdk(given: str, available: Collection[str]) -> Iterator[Finding]:
    """DT510: a version of the Neuron SDK for which AWS publishes no image that this library knows."""
    if given not in available:
        versions = [version for version in dict.fromkeys(available) if version]
        yield Finding(
            rule="DT510",
            prop="neuron_sdk",
            got=repr(given),
            allowed=", ".join(versions) or "nothing: the image is not for Trainium",
            fix="choose one of these, or leave it out" if versions else "leave it out",
            source=_AVAILABLE,
        )


def uri(given: str, longest: int) -> Iterator[Finding]:
    """DT506: an image address that the API refuses."""
    if not given or len(given) > longest or any(character.isspace() for character in given):
        yield Finding(
            rule="DT506",
            prop="image",
            got=repr(given),
            allowed=f"an image's address without spaces, at most {longest} characters",
            fix="give registry, repository and tag, such as 111122223333.dkr.ecr.us-east-1.amazonaws.com/train:1",
            source=_ALGORITHM,
        )


def unreadable_registry(given: str) -> Finding:
    """DT507: an address from which no repository can be read, so nothing can be granted."""
    return Finding(
        rule="DT507",
        prop="image",
        got=given,
        allowed="the address of an ECR repository in plain text; from other registries SageMaker pulls only in a VPC",
        fix="copy the image to ECR and use TrainingImage.from_ecr_repository, use TrainingImage.from_private_registry, "
        "or grant the job's role to pull an ECR address that is not plain text",
        severity=Severity.WARNING,
        source=_ALGORITHM,
    )


def image_of_algorithm(given: str) -> Finding:
    """DT518: an algorithm resource, whose image nobody knows before deployment."""
    return Finding(
        rule="DT518",
        prop="image",
        got=given,
        allowed="an algorithm whose image the job's role may pull",
        fix="allow the role to pull it if it is in a registry of yours; images of AWS Marketplace need nothing",
        severity=Severity.WARNING,
        source=_ALGORITHM,
    )
