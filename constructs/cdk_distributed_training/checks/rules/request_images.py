"""The image of a request: AWS's own ones by region, partition, age and machine (DT502, DT510 to DT517)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass

from cdk_distributed_training.checks.examples import machines, request
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import image as values
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.values import PartialText
from cdk_distributed_training.checks.template.view import Path
from cdk_distributed_training.data.tables import DeepLearningContainer, deep_learning_containers, image_accounts

_AVAILABLE = "https://github.com/aws/deep-learning-containers/blob/master/available_images.md"
_POLICY = "https://aws.github.io/deep-learning-containers/reference/support_policy/"
_ECR = "https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html"
_IMAGE: Path = ("AlgorithmSpecification", "TrainingImage")
_ECR_ADDRESS = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr(-fips)?\.(?P<region>[a-z0-9-]+|\0)\.(?P<domain>[a-z.]+?|\0)/"
    r"(?P<repository>[^:@\0]+)(:(?P<tag>[^@\0]+))?(?P<digest>@[^\0]+)?"
)
_DOMAINS = {"cn-": "amazonaws.com.cn", "eusc-": "amazonaws.eu", "us-iso-": "c2s.ic.gov", "us-isob-": "sc2s.sgov.gov"}
_AWS_REPOSITORIES = re.compile(
    r"(huggingface-)?(pytorch|tensorflow|mxnet)(-trcomp)?(-(training|inference))?(-neuronx?)?|smdistributed-modelparallel"
)
_ARM = re.compile(r"(^|[-_])(arm64|aarch64)([-_]|$)")
_NEURON_GPU_CPU = {"neuron": "Trainium", "gpu": "GPU", "cpu": "CPU"}


def today() -> datetime.date:
    """The day on which images are judged."""
    return datetime.datetime.now(tz=datetime.timezone.utc).date()


@dataclass(frozen=True)
class EcrImage:
    """An image's address in ECR, taken apart; region and domain are empty where only the deployment settles them."""

    account: str
    region: str
    domain: str
    repository: str
    tag: str

    @property
    def is_aws(self) -> bool:
        """Whether it is one of AWS's deep learning containers."""
        return _AWS_REPOSITORIES.fullmatch(self.repository) is not None and self.account in _accounts()

    @property
    def facts(self) -> DeepLearningContainer | None:
        """The table's row; None if it has none, as of images newer or older than the table."""
        rows = deep_learning_containers()
        return next((row for row in rows if (row.repository, row.tag) == (self.repository, self.tag)), None)

    @property
    def accelerator(self) -> str:
        """What it is built for: `gpu`, `neuron`, `cpu`, or empty if that is not to be seen."""
        facts = self.facts
        if facts is not None:
            return facts.accelerator
        if "neuron" in self.repository or "neuron" in self.tag:
            return "neuron"
        words = re.split(r"[-_.]", self.tag)
        if "gpu" in words or any(re.fullmatch(r"cu\d+", word) for word in words):
            return "gpu"
        return "cpu" if "cpu" in words else ""


def _accounts() -> frozenset[str]:
    return frozenset(image_accounts().values()) | {"658645717510"}  # the second is SageMaker's model parallel library's


def _read(job: TrainingRequest) -> EcrImage | None:
    """The image, if it is an address in ECR, literal apart from the region."""
    address = job.image
    pieces = address.parts if isinstance(address, PartialText) else [address]
    match = _ECR_ADDRESS.fullmatch("".join(piece if isinstance(piece, str) else "\0" for piece in pieces))
    if match is None:
        return None
    parts = {name: (part or "").replace("\0", "") for name, part in match.groupdict().items()}
    return EcrImage(parts["account"], parts["region"], parts["domain"], parts["repository"], parts["tag"])


def _aws(
    repository: str, *, account: str = "763104351884", region: str = "us-east-1", domain: str = ""
) -> dict[str, str]:
    address = f"{account}.dkr.ecr.{region}.{domain or 'amazonaws.com'}/{repository}"
    return {"TrainingImage": address, "TrainingInputMode": "File"}


_CURRENT = "pytorch:2.13.0-cu133-amzn2023-sagemaker"
_ON_GPU = {"ResourceConfig": machines("ml.g5.xlarge")}


@rule(
    "DT502",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="An image that gets no security patches any more",
    why="Faults that are found in it stay open; AWS removes such images in time.",
    source=_POLICY,
    bad=request(AlgorithmSpecification=_aws("pytorch-training:2.9.0-gpu-py312-cu130-ubuntu22.04-sagemaker")),
    good=request(AlgorithmSpecification=_aws(_CURRENT)),
)
def end_of_patch(job: TrainingRequest) -> Iterator[Finding]:
    """DT502 of a request."""
    found = _read(job)
    facts = found.facts if found is not None and found.is_aws else None
    if facts is not None:
        yield from at(values.end_of_patch(facts, today()), *_IMAGE)


@rule(
    "DT510",
    on=TrainingRequest,
    title="AWS's image from another region's account",
    why="The registry of that account and region does not exist or does not hold the image: the job fails at once.",
    source=_AVAILABLE,
    bad=request(AlgorithmSpecification=_aws(_CURRENT, region="af-south-1")),
    good=request(AlgorithmSpecification=_aws(_CURRENT, region="af-south-1", account="626614931356")),
)
def account_of_region(job: TrainingRequest) -> Iterator[Finding]:
    """DT510: each region's images are in one account."""
    found = _read(job)
    if found is None or not found.is_aws or found.repository == "smdistributed-modelparallel":
        return
    account = image_accounts().get(found.region)
    if account is not None and found.account != account:
        yield problem(
            *_IMAGE,
            got=f"account {found.account} in {found.region}",
            allowed=f"{account}, whose registry holds AWS's images there",
            fix=f"write {account} instead",
        )


@rule(
    "DT511",
    on=TrainingRequest,
    title="A registry's address of another partition",
    why="The name does not exist: the image cannot be pulled.",
    source=_ECR,
    bad=request(AlgorithmSpecification=_aws("train:1", account="111122223333", region="cn-north-1")),
    good=request(
        AlgorithmSpecification=_aws("train:1", account="111122223333", region="cn-north-1", domain="amazonaws.com.cn")
    ),
)
def domain_of_region(job: TrainingRequest) -> Iterator[Finding]:
    """DT511: the domain follows from the region."""
    found = _read(job)
    if found is None or not found.region or not found.domain:
        return
    wanted = next((domain for start, domain in _DOMAINS.items() if found.region.startswith(start)), "amazonaws.com")
    if found.domain != wanted and not found.domain.endswith("on.aws"):
        yield problem(
            *_IMAGE,
            got=f"{found.domain} in {found.region}",
            allowed=wanted,
            fix=f"end the registry's name with {found.region}.{wanted}",
        )


@rule(
    "DT512",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="AWS's image in a partition that does not have its repository",
    why="The repository is published in commercial regions only: the image cannot be pulled.",
    source=_AVAILABLE,
    bad=request(AlgorithmSpecification=_aws(_CURRENT, account="442386744353", region="us-gov-west-1")),
    good=request(AlgorithmSpecification=_aws(_CURRENT)),
)
def repository_of_partition(job: TrainingRequest) -> Iterator[Finding]:
    """DT512: GovCloud, China and the isolated partitions."""
    found = _read(job)
    if found is None or not found.is_aws or not found.region:
        return
    partition = _partition(found.region)
    offered = {
        name for row in deep_learning_containers() if row.repository == found.repository for name in row.partitions
    }
    if offered and partition not in offered:
        yield problem(
            *_IMAGE,
            got=f"{found.repository} in {found.region}",
            allowed=f"regions of {', '.join(sorted(offered))}",
            fix="use an older repository, such as pytorch-training, or copy the image to a repository of your own",
        )


def _partition(region: str) -> str:
    starts = {"cn-": "aws-cn", "us-gov-": "aws-us-gov", "us-iso-": "aws-iso", "us-isob-": "aws-iso-b"}
    starts |= {"us-isof-": "aws-iso-f", "eu-isoe-": "aws-iso-e", "eusc-": "aws-eusc"}
    return next((partition for start, partition in starts.items() if region.startswith(start)), "aws")


@rule(
    "DT513",
    on=TrainingRequest,
    title="An image for other accelerators than the machine's",
    why="The drivers do not fit: the job fails when the framework starts, after its machines have started.",
    source=_AVAILABLE,
    bad=request(AlgorithmSpecification=_aws(_CURRENT), ResourceConfig=machines("ml.trn1.32xlarge")),
    good=request(
        AlgorithmSpecification=_aws("pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"),
        ResourceConfig=machines("ml.trn1.32xlarge"),
    ),
)
def accelerator(job: TrainingRequest) -> Iterator[Finding]:
    """DT513: of AWS's images and known types; GPU images run on CPUs, more slowly than they need to."""
    found = _read(job)
    built_for = found.accelerator if found is not None and found.is_aws else ""
    wanted = {machine.accelerator for machine in job.machines}
    if built_for and len(wanted) == 1 and "neuron" in (built_for, *wanted) and built_for not in wanted:
        yield problem(
            *_IMAGE,
            got=f"an image for {_NEURON_GPU_CPU[built_for]} on {job.instance_types[0]}",
            allowed=f"an image for {_NEURON_GPU_CPU[wanted.pop()]}",
            fix="choose the image by the instance type",
        )


@rule(
    "DT514",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A CPU image on machines with GPUs",
    why="The framework in it does not see the GPUs: they are billed and idle.",
    source=_AVAILABLE,
    bad=request(AlgorithmSpecification=_aws("pytorch:2.13.0-cpu-amzn2023-sagemaker"), **_ON_GPU),
    good=request(AlgorithmSpecification=_aws(_CURRENT), **_ON_GPU),
)
def idle_gpus(job: TrainingRequest) -> Iterator[Finding]:
    """DT514: of AWS's images and known types."""
    found = _read(job)
    if found is None or not found.is_aws or found.accelerator != "cpu":
        return
    if job.machines and all(machine.accelerator == "gpu" for machine in job.machines):
        yield problem(
            *_IMAGE,
            got=f"an image for CPUs on {job.instance_types[0]}",
            allowed="an image for GPUs",
            fix="choose the image by the instance type",
        )


@rule(
    "DT515",
    on=TrainingRequest,
    title="An image for inference",
    why="It has no training toolkit: the job fails at once, or starts a server that waits for requests.",
    source=_AVAILABLE,
    bad=request(AlgorithmSpecification=_aws("pytorch-inference:2.6.0-gpu-py312-cu124-ubuntu22.04-sagemaker")),
    good=request(AlgorithmSpecification=_aws(_CURRENT)),
)
def for_training(job: TrainingRequest) -> Iterator[Finding]:
    """DT515: AWS's repositories say what they are for."""
    found = _read(job)
    if found is not None and found.is_aws and "inference" in found.repository:
        yield problem(
            *_IMAGE,
            got=found.repository,
            allowed=found.repository.replace("inference", "training"),
            fix="use the repository for training",
        )


@rule(
    "DT516",
    on=TrainingRequest,
    severity=Severity.INFORMATION,
    title="An image whose content may change",
    why="The same request runs other code when the tag moves: a run cannot be repeated, and a restart may differ.",
    source="https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html",
    bad=request(AlgorithmSpecification=_aws("train:latest", account="111122223333")),
    good=request(AlgorithmSpecification=_aws("train:1.4.2", account="111122223333")),
)
def moving_tag(job: TrainingRequest) -> Iterator[Finding]:
    """DT516: `latest`, or no tag at all."""
    found = _read(job)
    if found is not None and "@" not in str(job.image) and found.tag in ("", "latest"):
        yield problem(
            *_IMAGE,
            got=f"the tag {found.tag or 'latest'}",
            allowed="a tag for each build, or a digest",
            fix="name the build",
        )


@rule(
    "DT517",
    on=TrainingRequest,
    title="An image for another processor than the machine's",
    why="The container does not start: exec format error.",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo.html",
    bad=request(AlgorithmSpecification=_aws("train:1.4.2-arm64", account="111122223333")),
    good=request(AlgorithmSpecification=_aws("train:1.4.2-amd64", account="111122223333")),
)
def architecture(job: TrainingRequest) -> Iterator[Finding]:
    """DT517: where the tag or repository names the processor."""
    found = _read(job)
    if found is None or not job.machines:
        return
    if _ARM.search(found.tag) or _ARM.search(found.repository.rpartition("/")[2]):
        others = [machine for machine in job.machines if machine.architecture == "amd64"]
        if others:
            yield problem(
                *_IMAGE,
                got=f"an image for arm64 on {others[0].name}",
                allowed="an image for amd64",
                fix="build it with --platform linux/amd64",
            )
