"""What the rules over a job's own properties are about that no request shows (DT304 to DT703)."""

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.checks.rules import (
    distribution,
    image,
    job,
    launch_kinds,
    request,
    state_machine,
)
from cdk_distributed_training.data.tables import instance_types
from cdk_distributed_training.request import limits

_TORCHRUN = "https://docs.pytorch.org/docs/stable/elastic/run.html"
_AVAILABLE = "https://github.com/aws/deep-learning-containers/blob/master/available_images.md"
_ALGORITHM = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html"
_JSONATA = "https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html"
_WAIT = "https://docs.aws.amazon.com/step-functions/latest/dg/state-wait.html"
_NEURON = "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/torch/index.html"
_PORTS = "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization"

rule(
    "DT304",
    title="A hyperparameter that has no text",
    why="The API takes text alone, and this value has none that could be read back.",
    source=limits.SOURCE,
    bad=given(prop="hyperparameters", name="lr", value=float("inf"), reason="JSON has no word for it"),
)(request.value_kind)
rule(
    "DT310",
    title="A job's name that no run's name can begin with",
    why="Names of runs are made of it, in lower case since ARNs have them so, and permissions are matched by it.",
    source=limits.SOURCE,
    bad=given(prefix="My_Job"),
    good=given(prefix="my-job"),
)(job.job_name)
rule(
    "DT313",
    title="Data that the job's network does not reach",
    why="The job fails when it mounts the file system, after its machines have started.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_FileSystemDataSource.html",
    bad=given(channels={"train": "subnet-2"}, job_subnet="subnet-1"),
    good=given(channels={"train": "subnet-1"}, job_subnet="subnet-1"),
)(job.one_network)
rule(
    "DT314",
    title="Tags that the API refuses",
    why="The API refuses the request, when the first execution starts.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Tag.html",
    bad=given(values={"aws:team": "research"}, own=2),
    good=given(values={"team": "research"}, own=2),
)(job.tags)
rule(
    "DT315",
    title="Runs of a job that are found by another job's name",
    why="Events, metrics and permissions of one job are about the other's runs too; two jobs of one name and one "
    "output bucket overwrite each other's checkpoints.",
    severity=Severity.WARNING,
    source=limits.SOURCE,
    bad=given(name="pretrain-large", other="pretrain", owner="Train/Pretrain"),
    good=given(name="pretrain-large", other="pretrain-small", owner="Train/Pretrain"),
)(job.shared_job_name)
rule(
    "DT403",
    title="No number of processes",
    why="torchrun would refuse it, after the machines have started.",
    source=_TORCHRUN,
    bad=given(count=0, machine=None),
    good=given(count=8, machine=None),
)(distribution.process_count_per_node)
rule(
    "DT405",
    title="No number of restarts",
    why="torchrun would refuse it, after the machines have started.",
    source=_TORCHRUN,
    bad=given(count=-1),
    good=given(count=0),
)(distribution.max_restarts)
rule(
    "DT406",
    title="A rendezvous that the launcher does not offer",
    why="The launcher would refuse it, after the machines have started.",
    source=_TORCHRUN,
    bad=given(name="etcd"),
    good=given(name="c10d"),
)(distribution.rdzv_backend)
rule(
    "DT407",
    title="A word that the launcher does not know",
    why="The launcher would refuse it, after the machines have started.",
    source=_NEURON,
    bad=given(prop="backend", got="cuda", allowed=["xla", "neuron"]),
    good=given(prop="backend", got="xla", allowed=["xla", "neuron"]),
)(launch_kinds.choice)
rule(
    "DT408",
    title="No port that a script may listen at",
    why="The first process could not open it, and the others would wait for it.",
    source=_PORTS,
    bad=given(port=80),
    good=given(port=29500),
)(launch_kinds.master_port)
rule(
    "DT409",
    severity=Severity.WARNING,
    title="XLA on machines without Neuron cores",
    why="It would compute on the CPU, where its collectives do nothing.",
    source=_NEURON,
    bad=given(backend="xla", machine=instance_types()["ml.p5.48xlarge"]),
    good=given(backend="xla", machine=instance_types()["ml.trn1.32xlarge"]),
)(launch_kinds.neuron_machine)
rule(
    "DT501",
    title="A framework version without an image",
    why="The image would not be found, after the state machine is deployed.",
    source=_AVAILABLE,
    bad=given(given="1.0", accelerator="gpu", available=["2.13.0"]),
    good=given(given="2.13", accelerator="gpu", available=["2.13.0"]),
)(image.framework_version)
rule(
    "DT503",
    title="A region without a known account of AWS's images",
    why="The image's address cannot be made.",
    source=_AVAILABLE,
    bad=given(name="moon-east-1", known_regions=["us-east-1"]),
    good=given(name="us-east-1", known_regions=["us-east-1"]),
)(image.region)
rule(
    "DT504",
    title="No kind of image",
    why="There is no image of that kind.",
    source=_AVAILABLE,
    bad=given(given="tpu"),
    good=given(given="gpu"),
)(image.accelerator)
rule(
    "DT519",
    title="An image without the libraries of the machines' accelerators",
    why="The accelerators stay unused, or the script ends where it first asks for one.",
    severity=Severity.WARNING,
    source=_AVAILABLE,
    bad=given(kind="gpu", machines={"ml.p5.48xlarge": "gpu", "ml.trn1.32xlarge": "neuron"}),
    good=given(kind="gpu", machines={"ml.p5.48xlarge": "gpu", "ml.c7i.2xlarge": "cpu"}),
)(image.accelerator_of_machines)
rule(
    "DT505",
    title="An image that depends on an instance type which is settled at deployment",
    why="The image is chosen at synthesis, when the type is not known.",
    bad=given(),
)(image.undecided_accelerator)
rule(
    "DT507",
    severity=Severity.WARNING,
    title="An image whose registry cannot be read",
    why="Nothing is granted: the job fails before it starts, unless the role may pull the image otherwise.",
    source=_ALGORITHM,
    bad=given(given="registry.example.com/train:1"),
)(image.unreadable_registry)
rule(
    "DT518",
    severity=Severity.WARNING,
    title="An algorithm whose image the app does not know",
    why="The role gets no permission to pull the image, and needs one where the image is in a registry of your own.",
    source=_ALGORITHM,
    bad=given(given="'my-algorithm'"),
)(image.image_of_algorithm)
rule(
    "DT701",
    title="Text that Step Functions would evaluate",
    why="The state machine fails, or the job gets something else than what is written.",
    source=_JSONATA,
    bad=given(prop="environment", value={"NAME": "{% $x %}"}),
    good=given(prop="environment", value={"NAME": " {% $x %}"}),
)(state_machine.no_expressions)
rule(
    "DT702",
    title="An environment variable that the state machine sets itself",
    why="The run could not be found again from its job.",
    bad=given(environment={"TRAINING_EXECUTION_ARN": "x"}),
    good=given(environment={"MY_ARN": "x"}),
)(state_machine.reserved_variable)
rule(
    "DT703",
    title="A time between two looks that Step Functions cannot wait",
    why="The state machine cannot be created.",
    source=_WAIT,
    bad=given(seconds=0.5),
    good=given(seconds=30),
)(state_machine.poll_interval)
rule(
    "DT704",
    title="A request that Step Functions' own integration may not take",
    why="Step Functions refuses the state machine's definition when it is made.",
    source="https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html",
    bad=given(request={"InfraCheckConfig": {"EnableInfraCheck": True}}, known_members=["RoleArn"]),
    good=given(request={"RoleArn": "arn"}, known_members=["RoleArn"]),
)(state_machine.optimized_members)
rule(
    "DT705",
    title="No way of starting a job",
    why="There are two: the SDK's integration, and Step Functions' own.",
    bad=given(name="lambda"),
    good=given(name="sdk"),
)(state_machine.integration)
