"""What the rules over distributions are about that no request shows (DT420 to DT456)."""

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.checks.rules import (
    instance_groups,
    library_support,
    model_parallel,
    mpi,
    sagemaker_distribution,
)
from cdk_distributed_training.data import tables

_SMDDP = "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-data-parallel-support.html"
_SMP = "https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-model-parallel-v2-reference.html"
_SMP_1 = "https://github.com/aws/sagemaker-python-sdk/blob/v2.192.1/doc/api/training/smd_model_parallel_general.rst"
_SDK = "https://sagemaker.readthedocs.io/en/v2.257.2/api/training/distributed.html"
_COMPILER = "https://docs.aws.amazon.com/sagemaker/latest/dg/training-compiler.html"
_GROUPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-heterogeneous-cluster.html"
_REFUSED = "The launcher or the library would refuse it, after the machines have started."
_OLD_IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.2.0-gpu-py310-cu121-ubuntu20.04-sagemaker"
_IMAGE = "658645717510.dkr.ecr.us-east-1.amazonaws.com/smdistributed-modelparallel:2.5.1-gpu-py311-cu124"

rule(
    "DT420",
    title="Options of mpirun that are no list of words",
    why="A text with several options in it reaches mpirun as one word, which it does not know.",
    source="https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php",
    bad=given(options="-x NCCL_DEBUG=INFO"),
    good=given(options=["-x", "NCCL_DEBUG=INFO"]),
)(mpi.additional_options)
rule(
    "DT422",
    title="A fallback that there is not",
    why=_REFUSED,
    source=_SMDDP,
    bad=given(name="gloo"),
    good=given(name="nccl"),
)(mpi.fallback)
rule(
    "DT423",
    title="An image without the library that the distribution starts",
    why="The import of the library fails, after the machines have started.",
    source=tables.library_support()["smp"].source,
    bad=given(kind="smp", image=_OLD_IMAGE),
    good=given(kind="smp", image=_IMAGE),
)(library_support.library_in_image)
rule(
    "DT424",
    severity=Severity.WARNING,
    title="A distribution of TensorFlow in an image for PyTorch",
    why="The script's import of TensorFlow fails, after the machines have started, unless it installs it first.",
    source="https://www.tensorflow.org/guide/distributed_training",
    bad=given(kind="parameter-server", image=_OLD_IMAGE),
    good=given(kind="torchrun", image=_OLD_IMAGE),
)(library_support.framework_in_image)
rule(
    "DT430",
    title="A parameter of the model parallel library out of its range",
    why=_REFUSED,
    source=_SMP,
    bad=given(parameters={"tensor_parallel_degree": 0}),
    good=given(parameters={"tensor_parallel_degree": 1}),
)(model_parallel.version_2_parameters)
rule(
    "DT431",
    title="Sequences split over more than a shard group",
    why=_REFUSED,
    source=_SMP,
    bad=given(parameters={"hybrid_shard_degree": 2, "context_parallel_degree": 4}),
    good=given(parameters={"hybrid_shard_degree": 4, "context_parallel_degree": 4}),
)(model_parallel.version_2_parameters)
rule(
    "DT432",
    title="Parameters of the model parallel library that contradict each other",
    why=_REFUSED,
    source=_SMP_1,
    bad=given(parameters={"ddp": True, "horovod": True}),
    good=given(parameters={"ddp": True}),
)(model_parallel.version_1_parameters)
rule(
    "DT433",
    severity=Severity.WARNING,
    title="Machines for which the library is not made",
    why="The library refuses them or falls back, after the machines have started.",
    source=tables.library_support()["smp"].source,
    bad=given(kind="smp", types=["ml.g5.48xlarge"]),
    good=given(kind="smp", types=["ml.p5.48xlarge"]),
)(library_support.library_on_machines)
rule(
    "DT440",
    title="A group of machines that the job does not have",
    why="The launcher would wait for hosts that never come.",
    source=_GROUPS,
    bad=given(names=["train"], taking_part=["training"], own=[]),
    good=given(names=["train"], taking_part=["train"], own=[]),
)(instance_groups.group_names)
rule(
    "DT441",
    title="A group of machines that does two things",
    why="Each host runs one command: the script's or its own.",
    source=_GROUPS,
    bad=given(names=["data", "train"], taking_part=["train"], own=["train"]),
    good=given(names=["data", "train"], taking_part=["train"], own=["data"]),
)(instance_groups.group_names)
rule(
    "DT442",
    title="No group that runs the script",
    why="Nothing would train.",
    source=_GROUPS,
    bad=given(names=["data", "train"], taking_part=[], own=["data", "train"]),
    good=given(names=["data", "train"], taking_part=[], own=["data"]),
)(instance_groups.group_names)
rule(
    "DT450",
    title="A key that the SageMaker SDK's distribution does not have",
    why="The SDK ignores it: the job would run without what it asks for.",
    source=_SDK,
    bad=given(given={"mpi": {"enabled": True, "process_per_host": 8}}),
    good=given(given={"mpi": {"enabled": True, "processes_per_host": 8}}),
)(sagemaker_distribution.version_2_keys)
rule(
    "DT451",
    title="A key of the SageMaker SDK's distribution that nothing runs any more",
    why="The feature is discontinued, and no current image has it.",
    source=_COMPILER,
    bad=given(given={"pytorchxla": {"enabled": True}}),
    good=given(given={"torch_distributed": {"enabled": True}}),
)(sagemaker_distribution.version_2_keys)
rule(
    "DT452",
    title="Distributions that cannot be enabled together",
    why="The container runs one of them and ignores the other.",
    source=_SDK,
    bad=given(enabled=["mpi", "torch_distributed"]),
    good=given(enabled=["torch_distributed"]),
)(sagemaker_distribution.combination)
rule(
    "DT453",
    title="Model parallelism that nobody starts",
    why="The library has no launcher of its own: one process would train alone.",
    source=_SDK,
    bad=given(enabled=["smdistributed.modelparallel"]),
    good=given(enabled=["mpi", "smdistributed.modelparallel"]),
)(sagemaker_distribution.combination)
rule(
    "DT454",
    title="Parameters of the model parallel library that are in no readable file",
    why="There is nothing to hand to the library.",
    source=_SDK,
    bad=given(path="no-such-file.json"),
)(sagemaker_distribution.parameter_file)
rule(
    "DT455",
    title="A distribution that is neither a dictionary nor an object of the SDK's",
    why="Its fields cannot be read.",
    source=_SDK,
    bad=given(given=8, has_fields=False),
)(sagemaker_distribution.known_object)
rule(
    "DT456",
    title="An option of the SDK's distribution whose value cannot be read",
    why="The SDK would fail, or take any text for true.",
    source=_SDK,
    bad=given(given={"mpi": {"enabled": True, "custom_mpi_options": ["-x", "A=1"]}}),
    good=given(given={"mpi": {"enabled": True, "custom_mpi_options": "-x A=1"}}),
)(sagemaker_distribution.option_values)
