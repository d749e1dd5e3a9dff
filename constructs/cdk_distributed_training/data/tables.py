"""The one reader for the tables of facts in this folder; each file states its source and date."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any, NamedTuple


class InstanceType(NamedTuple):
    """What EC2 says of an instance type that SageMaker can train on.

    Attributes:
        name: SageMaker's name, such as `ml.p5.48xlarge`.
        architecture: `amd64` or `arm64`.
        vcpu: Virtual CPUs.
        memory_mib: Memory in MiB.
        gpu: Model of the GPU, such as `h100`; empty if there is none.
        gpu_count: GPUs.
        gpu_memory_mib: Memory of each GPU in MiB.
        neuron_devices: Trainium devices.
        neuron_cores: NeuronCores of all devices together.
        efa_interfaces: Elastic Fabric Adapter interfaces.
        network_cards: Network cards.
        network_mbps: Network bandwidth in Mbit/s; 0 if the source does not state it.
        eni_limit: Network interfaces per network card set.
        ipv4_per_eni: IPv4 addresses of one interface.
        local_nvme_gb: Local NVMe storage in GB; 0 if there is none.
    """

    name: str
    architecture: str
    vcpu: int
    memory_mib: int
    gpu: str = ""
    gpu_count: int = 0
    gpu_memory_mib: int = 0
    neuron_devices: int = 0
    neuron_cores: int = 0
    efa_interfaces: int = 0
    network_cards: int = 1
    network_mbps: int = 0
    eni_limit: int = 0
    ipv4_per_eni: int = 0
    local_nvme_gb: int = 0

    @property
    def accelerator(self) -> str:
        """What its images are built for: `gpu`, `neuron` or `cpu`."""
        if self.gpu_count:
            return "gpu"
        return "neuron" if self.neuron_devices else "cpu"


class DeepLearningContainer(NamedTuple):
    """One training image of AWS's deep learning containers.

    Attributes:
        repository: Name of the ECR repository.
        partitions: AWS partitions in which the repository is published.
        framework: The framework, such as `PyTorch`.
        version: Its full version, such as `2.13.0`.
        accelerator: `gpu`, `neuron` or `cpu`.
        tag: The image's tag.
        python: Version of Python inside.
        cuda: Version of CUDA inside; empty if there is none.
        neuron_sdk: Version of the Neuron SDK inside; empty if there is none.
        general_availability: Date of the first release, ISO 8601; empty if the source states none.
        end_of_patch: Date after which it gets no security patches, ISO 8601; empty if the source states none.
    """

    repository: str
    partitions: tuple[str, ...]
    framework: str
    version: str
    accelerator: str
    tag: str
    python: str
    cuda: str = ""
    neuron_sdk: str = ""
    general_availability: str = ""
    end_of_patch: str = ""


class ModelParallelContainers(NamedTuple):
    """AWS's images with the model parallel library, version 2.

    Attributes:
        account: The account whose registries hold them.
        repository: Name of the ECR repository.
        regions: Regions that have the repository.
        tags: The image's tag by the version of PyTorch, the oldest first.
    """

    account: str
    repository: str
    regions: tuple[str, ...]
    tags: dict[str, str]


class LibrarySupport(NamedTuple):
    """Where one of AWS's own training libraries runs.

    Attributes:
        instance_prefixes: Beginnings of the names of instance types.
        source: Where that is said.
        newest_pytorch: Newest version of PyTorch whose image holds it; empty if it has images of its own.
        repository: Name of the ECR repository with its own images; empty if it has none.
    """

    instance_prefixes: tuple[str, ...]
    source: str
    newest_pytorch: str = ""
    repository: str = ""


class ReplacingProperties(NamedTuple):
    """Properties of a resource type whose change makes CloudFormation make a new resource and delete the old one.

    Attributes:
        always: Those that surely do, as paths such as `LustreConfiguration.DeploymentType`.
        perhaps: Those of which CloudFormation's specification says so and another source does not.
        name: The property that gives the resource a name of the user's choice; empty if there is none.
    """

    always: tuple[str, ...]
    perhaps: tuple[str, ...] = ()
    name: str = ""


def _read(name: str) -> dict[str, Any]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@functools.cache
def instance_types() -> dict[str, InstanceType]:
    """All instance types with facts, by SageMaker's name."""
    rows = _read("instance_types.json")["instance_types"]
    return {name: InstanceType(name=name, **facts) for name, facts in rows.items()}


@functools.cache
def instance_type_names() -> frozenset[str]:
    """Every name that the API knew when the table was made, also those without facts."""
    return frozenset(instance_types()) | frozenset(_read("instance_types.json")["without_facts"])


@functools.cache
def hyperpod_instance_types() -> frozenset[str]:
    """Instance types that clusters of SageMaker HyperPod can have, by SageMaker's name."""
    return frozenset(_read("hyperpod_instance_types.json")["instance_types"])


@functools.cache
def deep_learning_containers() -> tuple[DeepLearningContainer, ...]:
    """All training images, of each repository the oldest version first."""
    return tuple(
        DeepLearningContainer(repository=repository, partitions=tuple(table["partitions"]), **image)
        for repository, table in _read("images.json")["repositories"].items()
        for image in table["images"]
    )


@functools.cache
def image_accounts() -> dict[str, str]:
    """Account whose registry holds AWS's training images, by region."""
    accounts: dict[str, str] = _read("image_accounts.json")["accounts"]
    return accounts


@functools.cache
def create_training_job_model() -> dict[str, Any]:
    """The shape of the CreateTrainingJob request: members, types and limits, made by `tools/make_request_model.py`."""
    shape: dict[str, Any] = _read("create_training_job.json")["request"]
    return shape


@functools.cache
def model_parallel_containers() -> ModelParallelContainers:
    """The images with the model parallel library, version 2."""
    table = _read("model_parallel_images.json")
    return ModelParallelContainers(
        account=table["account"],
        repository=table["repository"],
        regions=tuple(table["regions"]),
        tags=table["tags"],
    )


@functools.cache
def step_functions_members() -> frozenset[str]:
    """Members of the request that the optimized integration of Step Functions is known to take, such as `Tags.Key`."""
    return frozenset(_read("step_functions_fields.json")["members"])


@functools.cache
def library_support() -> dict[str, LibrarySupport]:
    """AWS's own training libraries, by the launcher's kind."""
    table = _read("distribution_support.json")
    return {
        kind: LibrarySupport(
            source=table["sources"][kind].split(";")[0],
            **{**facts, "instance_prefixes": tuple(facts["instance_prefixes"])},
        )
        for kind, facts in table["libraries"].items()
    }


@functools.cache
def process_counts() -> dict[str, tuple[int, ...]]:
    """Numbers of processes on one machine that Trainium's collectives take, by instance type."""
    return {name: tuple(counts) for name, counts in _read("distribution_support.json")["process_counts"].items()}


@functools.cache
def tensorflow_kinds() -> frozenset[str]:
    """The launcher's kinds that only scripts with TensorFlow understand."""
    return frozenset(_read("distribution_support.json")["tensorflow_kinds"])


@functools.cache
def replacing_properties() -> dict[str, ReplacingProperties]:
    """What makes CloudFormation replace a resource, by the resource's type."""
    return {
        name: ReplacingProperties(
            always=tuple(row["always"]), perhaps=tuple(row.get("perhaps", ())), name=row.get("name", "")
        )
        for name, row in _read("replacing_properties.json")["types"].items()
    }
