"""Distribution libraries and launchers of a request: the SageMaker SDK's, and torchrun (DT404, DT410 on)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import machines, request
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import distribution, library_support, mpi
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.data.tables import library_support as support

_SMDDP = "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html"
_SMP = "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-model-parallel-support-v2.html"
_TORCHRUN = "https://docs.pytorch.org/docs/stable/elastic/run.html"
_NEURON = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/training.html"
_TRCOMP = "https://docs.aws.amazon.com/sagemaker/latest/dg/training-compiler.html"

_NPROC = re.compile(r"--nproc[-_]per[-_]node(?:=|\s+)(\S+)")


def _flag(job: TrainingRequest, name: str) -> bool:
    """A hyperparameter of the SageMaker SDK's, which are JSON."""
    value = job.view.raw("HyperParameters", name)
    return isinstance(value, str) and value.strip("\"'").lower() == "true"


def _smddp(instance_type: str, count: int = 2) -> Any:
    return request(
        HyperParameters={"sagemaker_distributed_dataparallel_enabled": "true"},
        ResourceConfig=machines(instance_type, count),
    )


@rule(
    "DT421",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="SageMaker's data parallel library on machines without support",
    why="The library refuses the instance type when training starts, after the machines have started.",
    source=_SMDDP,
    bad=_smddp("ml.p5.48xlarge"),
    good=_smddp("ml.p4d.24xlarge"),
)
def smddp_type(job: TrainingRequest) -> Iterator[Finding]:
    """DT421 of a request."""
    if _flag(job, "sagemaker_distributed_dataparallel_enabled"):
        for name in job.instance_types[:1]:
            yield from at(mpi.data_parallel_instance_type(name), "ResourceConfig", "InstanceType")


@rule(
    "DT411",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="SageMaker's data parallel library in an image without it",
    why="AWS's PyTorch images carry the library up to PyTorch 2.4: later ones fail when the script imports it.",
    source=_SMDDP,
    bad=request(
        HyperParameters={"sagemaker_distributed_dataparallel_enabled": "true"},
        ResourceConfig=machines("ml.p4d.24xlarge", 2),
        AlgorithmSpecification={
            "TrainingImage": "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch:2.13.0-cu133-amzn2023-sagemaker"
        },
    ),
    good=request(
        HyperParameters={"sagemaker_distributed_dataparallel_enabled": "true"},
        ResourceConfig=machines("ml.p4d.24xlarge", 2),
        AlgorithmSpecification={
            "TrainingImage": "763104351884.dkr.ecr.us-east-1.amazonaws.com/"
            "pytorch-training:2.2.0-gpu-py310-cu121-ubuntu20.04-sagemaker"
        },
    ),
)
def smddp_image(job: TrainingRequest) -> Iterator[Finding]:
    """DT411: the version stands in the tag."""
    if not _flag(job, "sagemaker_distributed_dataparallel_enabled"):
        return
    image = job.image
    match = re.search(r"/pytorch(?:-training)?:(\d+)\.(\d+)", image) if isinstance(image, str) else None
    if match and (int(match.group(1)), int(match.group(2))) > (2, 4):
        yield problem(
            "AlgorithmSpecification",
            "TrainingImage",
            got=f"PyTorch {match.group(1)}.{match.group(2)}",
            allowed="PyTorch 2.4 or older",
            fix="use torchrun with NCCL",
        )


@rule(
    "DT412",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="SageMaker's model parallel library on machines without support",
    why="Neither version of the library is made for them: it fails when it is imported, or falls back.",
    source=_SMP,
    bad=request(
        HyperParameters={"mp_parameters": '{"tensor_parallel_degree": 4}'},
        ResourceConfig=machines("ml.g6.48xlarge", 2),
    ),
    good=request(
        HyperParameters={"mp_parameters": '{"tensor_parallel_degree": 4}'},
        ResourceConfig=machines("ml.p4d.24xlarge", 2),
    ),
)
def smp_type(job: TrainingRequest) -> Iterator[Finding]:
    """DT412: by the parameters that the SDK writes."""
    if job.view.has("HyperParameters", "mp_parameters"):
        job.view.known("HyperParameters", "mp_parameters")
        prefixes = tuple(p for kind in ("smp", "smp-v1") for p in support()[kind].instance_prefixes)
        wrong = [name for name in job.instance_types if not name.startswith(prefixes)]
        if wrong:
            yield problem(
                "ResourceConfig",
                "InstanceType",
                got=f"the model parallel library on {wrong[0]}",
                allowed=f"types that begin with {', '.join(sorted(set(prefixes)))}",
                fix="use one of these, or torch's own FSDP",
            )


@rule(
    "DT404",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="More processes than accelerators",
    why="Processes share a GPU or find none: the job fails when the framework starts, or runs out of memory.",
    source=_TORCHRUN,
    bad=request(
        ResourceConfig=machines("ml.p5.48xlarge", 2),
        AlgorithmSpecification={"ContainerEntrypoint": ["torchrun", "--nproc-per-node=16", "train.py"]},
    ),
    good=request(
        ResourceConfig=machines("ml.p5.48xlarge", 2),
        AlgorithmSpecification={"ContainerEntrypoint": ["torchrun", "--nproc-per-node=8", "train.py"]},
    ),
)
@rule(
    "DT413",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A number of processes that Trainium's collectives do not take",
    why="The runtime forms rings of a power of two of cores on a trn1.32xlarge: other counts fail when it starts.",
    source=_NEURON,
    bad=request(
        ResourceConfig=machines("ml.trn1.32xlarge"),
        AlgorithmSpecification={"ContainerEntrypoint": ["torchrun", "--nproc-per-node=12", "train.py"]},
    ),
    good=request(
        ResourceConfig=machines("ml.trn1.32xlarge"),
        AlgorithmSpecification={"ContainerEntrypoint": ["torchrun", "--nproc-per-node=32", "train.py"]},
    ),
)
def process_count(job: TrainingRequest) -> Iterator[Finding]:
    """DT404 and DT413 of a request."""
    found = _processes(job)
    machine = job.machines[0] if found and len(job.machines) == 1 else None
    if found is None or machine is None:
        return
    count, path = found
    yield from at(distribution.process_count_per_node(count, machine), *path)
    yield from at(library_support.neuron_process_count(count, machine), *path, fix="use all cores")


def _processes(job: TrainingRequest) -> tuple[int, tuple[str, ...]] | None:
    """The number of processes on each machine, and where it is said."""
    for member in ("ContainerArguments", "ContainerEntrypoint"):
        words = job.view.raw("AlgorithmSpecification", member)
        literal = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
        text = " ".join(literal)
        match = _NPROC.search(text) if "torchrun" in text or "torch.distributed" in text else None
        if match and match.group(1).isdigit():
            return int(match.group(1)), ("AlgorithmSpecification", member)
    name = "sagemaker_mpi_num_of_processes_per_host"
    value = job.view.raw("HyperParameters", name)
    if isinstance(value, str) and value.strip('"').isdigit() and _flag(job, "sagemaker_mpi_enabled"):
        return int(value.strip('"')), ("HyperParameters", name)
    return None


@rule(
    "DT414",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="SageMaker Training Compiler",
    why="AWS ended it: no image after PyTorch 1.13 has it, and the old ones get no patches.",
    source=_TRCOMP,
    bad=request(HyperParameters={"sagemaker_training_compiler_enabled": "true"}),
    good=request(HyperParameters={"torch_compile": "true"}),
)
def training_compiler(job: TrainingRequest) -> Iterator[Finding]:
    """DT414: `torch.compile` replaces it."""
    name = "sagemaker_training_compiler_enabled"
    if _flag(job, name):
        yield problem("HyperParameters", name, got="true", allowed="none", fix="use torch.compile in the script")


@rule(
    "DT415",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="Several launchers at once",
    why="The container follows one of them and ignores the others, by an order that is not documented.",
    source="https://github.com/aws/sagemaker-training-toolkit",
    bad=request(
        HyperParameters={"sagemaker_mpi_enabled": "true", "sagemaker_torch_distributed_enabled": "true"},
        ResourceConfig={"InstanceCount": 2},
    ),
    good=request(HyperParameters={"sagemaker_torch_distributed_enabled": "true"}, ResourceConfig={"InstanceCount": 2}),
)
def one_launcher(job: TrainingRequest) -> Iterator[Finding]:
    """DT415: MPI, torchrun, the data parallel library and the parameter server exclude each other."""
    names = [
        "sagemaker_mpi_enabled",
        "sagemaker_torch_distributed_enabled",
        "sagemaker_distributed_dataparallel_enabled",
        "sagemaker_parameter_server_enabled",
    ]
    chosen = [name for name in names if _flag(job, name)]
    if len(chosen) > 1 and not job.view.has("HyperParameters", "mp_parameters"):
        yield problem(
            "HyperParameters",
            chosen[-1],
            got=" and ".join(chosen),
            allowed="one of them",
            fix="leave out the others",
        )


@rule(
    "DT416",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="One machine's rendezvous for several machines",
    why="Every machine forms a world of its own: each trains alone on all of the data, and nobody notices.",
    source=_TORCHRUN,
    bad=request(
        ResourceConfig={"InstanceCount": 2},
        AlgorithmSpecification={"ContainerEntrypoint": ["torchrun", "--standalone", "train.py"]},
    ),
    good=request(
        ResourceConfig={"InstanceCount": 1},
        AlgorithmSpecification={"ContainerEntrypoint": ["torchrun", "--standalone", "train.py"]},
    ),
)
def standalone(job: TrainingRequest) -> Iterator[Finding]:
    """DT416: `--standalone` and `--nnodes=1` mean one machine."""
    for member in ("ContainerEntrypoint", "ContainerArguments"):
        words = job.view.raw("AlgorithmSpecification", member)
        text = " ".join(word for word in words if isinstance(word, str)) if isinstance(words, list) else ""
        if "torchrun" in text and re.search(r"--standalone\b|--nnodes(=|\s+)1\b", text) and job.instance_count > 1:
            yield problem(
                "AlgorithmSpecification",
                member,
                got=f"torchrun for one machine, on {job.instance_count:g}",
                allowed="a rendezvous that all machines share",
                fix="pass --nnodes, --node-rank and --master-addr, or use a launcher that does",
            )


def _parameters(job: TrainingRequest) -> dict[str, Any]:
    """The model parallel library's parameters; empty if they are not to be read."""
    text = job.view.raw("HyperParameters", "mp_parameters")
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


@rule(
    "DT417",
    on=TrainingRequest,
    title="Model parallelism that does not fit the number of accelerators",
    why="The library refuses to start: the accelerators of all machines do not divide into groups of that size.",
    source=_SMP,
    bad=request(
        HyperParameters={"mp_parameters": '{"tensor_parallel_degree": 3}'},
        ResourceConfig=machines("ml.p4d.24xlarge", 2),
    ),
    good=request(
        HyperParameters={"mp_parameters": '{"tensor_parallel_degree": 4}'},
        ResourceConfig=machines("ml.p4d.24xlarge", 2),
    ),
)
def smp_degrees(job: TrainingRequest) -> Iterator[Finding]:
    """DT417: the product of the degrees divides the number of accelerators."""
    parameters = _parameters(job)
    degrees = [parameters.get(f"{kind}_parallel_degree") for kind in ("tensor", "context", "expert")]
    world = sum(machine.gpu_count for machine in job.machines) * int(job.instance_count)
    for degree in degrees:
        if isinstance(degree, int) and degree > 0 and len(job.machines) == 1 and world and world % degree:
            yield problem(
                "HyperParameters",
                "mp_parameters",
                got=f"a degree of {degree} over {world} accelerators",
                allowed=f"divisors of {world}",
                fix="choose a power of two",
            )
            return
