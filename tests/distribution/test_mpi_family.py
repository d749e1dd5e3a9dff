"""mpirun and SageMaker's own libraries as command lines, which the launcher must understand; and what they refuse."""

import aws_cdk as cdk
import pytest

import cdk_distributed_training as dt
from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known
from training_launcher.command_line import parse_command_line
from training_launcher.launchers.model_parallel import parameters_of

P4D = Instances("ml.p4d.24xlarge", count=2)
P5 = Instances("ml.p5.48xlarge", count=2)
AUTO = ["--nproc-per-node", "auto"]


@pytest.mark.parametrize(
    ("distribution", "arguments"),
    [
        (dt.MPI(), ["mpirun", *AUTO]),
        (dt.MPI(process_count_per_node=8), ["mpirun", "--nproc-per-node", 8]),
        (
            dt.MPI(mpi_additional_options=["-x", "NAME=a b"]),
            ["mpirun", *AUTO, "--mpi-option=-x", "--mpi-option=NAME=a b"],
        ),
        (dt.PyTorchDDP(), ["pytorchddp", *AUTO]),
        (dt.SMDistributedDataParallel(), ["smdistributed-dataparallel", *AUTO]),
        (
            dt.SMDistributedDataParallel(fallback="nccl"),
            ["smdistributed-dataparallel", *AUTO, "--fallback", "nccl"],
        ),
        (
            dt.SMP(tensor_parallel_degree=4, sm_activation_offloading=True, max_restarts=1),
            ["smp", *AUTO, "--max-restarts", 1, "--parameter", "sm_activation_offloading", "true",
             "--parameter", "tensor_parallel_degree", 4],
        ),
        (
            dt.SMDistributedModelParallel(parameters={"partitions": 2, "ddp": True, "pipeline": "simple"}),
            ["smp-v1", *AUTO, "--parameter", "partitions", 2, "--parameter", "ddp", "true",
             "--parameter", "pipeline", "simple"],
        ),
    ],
)  # fmt: skip
def test_command_line(distribution, arguments):
    assert distribution.launcher_arguments() == arguments
    assert list(distribution.findings(P4D, known=known)) == []
    request = parse_command_line([*map(str, arguments), "--", "train.py"], {})
    assert request.launcher.name == arguments[0]


def test_parameters_come_out_of_the_launcher_as_they_went_in():
    parameters = {
        "n": 3,
        "x": 0.5,
        "on": True,
        "off": False,
        "text": "a=b",
        "digits": "12",
        "list": [1, "a"],
        "none": None,
    }
    arguments = dt.SMDistributedModelParallel(parameters=parameters).launcher_arguments()
    request = parse_command_line([*map(str, arguments), "--", "train.py"], {})
    assert parameters_of(request.launcher.hyperparameters(request.options, {})) == parameters


@pytest.mark.parametrize(
    ("distribution", "rule"),
    [
        (dt.MPI(process_count_per_node=0), "DT403"),
        (dt.MPI(process_count_per_node=9), "DT404"),
        (dt.MPI(mpi_additional_options=["-x", 1]), "DT420"),
        (dt.MPI(mpi_additional_options=[""]), "DT420"),
        (dt.SMDistributedDataParallel(fallback="gloo"), "DT422"),
        (dt.SMP(process_count_per_node=-1), "DT403"),
        (dt.SMP(tensor_parallel_degree=0), "DT430"),
        (dt.SMP(tensor_parallel_degree=True), "DT430"),
        (dt.SMP(tensor_parallel_degree=2.0), "DT430"),
        (dt.SMP(hybrid_shard_degree=-1), "DT430"),
        (dt.SMP(sm_activation_offloading=1), "DT430"),
        (dt.SMP(hybrid_shard_degree=2, context_parallel_degree=4), "DT431"),
        (dt.SMDistributedModelParallel(parameters={"partitions": "2"}), "DT430"),
        (dt.SMDistributedModelParallel(parameters={"pipeline": "fast"}), "DT430"),
        (dt.SMDistributedModelParallel(parameters={"memory_weight": 1.5}), "DT430"),
        (dt.SMDistributedModelParallel(parameters={"ddp": "yes"}), "DT430"),
        (dt.SMDistributedModelParallel(parameters={"ddp": True, "horovod": True}), "DT432"),
        (dt.SMDistributedModelParallel(parameters={"ddp_dist_backend": "nccl"}), "DT432"),
        (dt.SMDistributedModelParallel(parameters={"ddp_port": 7000}), "DT432"),
        (dt.SMDistributedModelParallel(parameters={"auto_partition": False}), "DT432"),
    ],
)
def test_findings(distribution, rule):
    (finding,) = distribution.findings(P4D, known=known)
    assert finding.rule == rule
    assert (finding.severity is Severity.WARNING) == (rule == "DT404")


@pytest.mark.parametrize(
    "distribution",
    [
        dt.SMP(hybrid_shard_degree=0, context_parallel_degree=4),
        dt.SMP(hybrid_shard_degree=4, context_parallel_degree=4),
        dt.SMDistributedModelParallel(parameters={"ddp": True, "ddp_port": 0, "ddp_dist_backend": "auto"}),
        dt.SMDistributedModelParallel(
            parameters={"auto_partition": False, "default_partition": 0, "memory_weight": 0.2}
        ),
        dt.SMDistributedModelParallel(parameters={"newer_than_this_library": "anything"}),
    ],
)
def test_what_is_right(distribution):
    assert list(distribution.findings(P4D, known=known)) == []


def test_newer_machines_have_no_data_parallel_library():
    (finding,) = dt.SMDistributedDataParallel().findings(P5, known=known)
    assert (finding.rule, finding.severity) == ("DT421", Severity.ERROR)
    # what the image lacks, such a job does without
    (finding,) = dt.SMDistributedDataParallel(fallback="nccl").findings(P5, known=known)
    assert (finding.rule, finding.severity) == ("DT421", Severity.WARNING)
    # and a type that is newer than the tables may have it
    (finding,) = dt.SMDistributedDataParallel().findings(dt.Instances("ml.p99.48xlarge"), known=known)
    assert (finding.rule, finding.severity) == ("DT421", Severity.WARNING)
    assert list(dt.PyTorchDDP().findings(P5, known=known)) == []


def test_tokens_are_not_judged():
    number, text = cdk.Token.as_number({"Ref": "Number"}), cdk.Token.as_string({"Ref": "Text"})
    any_type = Instances(text)
    assert list(dt.MPI(process_count_per_node=number).findings(any_type, known=known)) == []
    assert list(dt.SMDistributedDataParallel(fallback=text).findings(any_type, known=known)) == []
    smp = dt.SMP(tensor_parallel_degree=number, hybrid_shard_degree=number, context_parallel_degree=8)
    assert list(smp.findings(any_type, known=known)) == []
    version_1 = dt.SMDistributedModelParallel(parameters={"partitions": number, "pipeline": text})
    assert list(version_1.findings(any_type, known=known)) == []


def test_tokens_reach_the_command_line():
    number, text = cdk.Token.as_number({"Ref": "Number"}), cdk.Token.as_string({"Ref": "Text"})
    arguments = dt.SMDistributedModelParallel(parameters={"partitions": number, "pipeline": text}).launcher_arguments()
    assert arguments[-5:] == ["partitions", number, "--parameter", "pipeline", text]
