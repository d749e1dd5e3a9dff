"""How long a job may run, wait and be tried again (DT311, DT312, DT340 to DT349)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import Data, machines, request
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import job as values
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.request import limits

_STOPPING = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StoppingCondition.html"
_SPOT = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-managed-spot-training.html"
_WARM = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-warm-pools.html"
_RETRY = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_RetryStrategy.html"
_CHECKPOINTS: Data = {"CheckpointConfig": {"S3Uri": "s3://amzn-s3-demo-bucket/checkpoints/"}}
_STOP = "StoppingCondition"


def _spot(**changes: object) -> Data:
    times = {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200}
    return {"EnableManagedSpotTraining": True, _STOP: times, **_CHECKPOINTS, **changes}


@rule(
    "DT311",
    on=TrainingRequest,
    title="A time limit that SageMaker does not know",
    why="The API refuses the request: 28 days at most.",
    source=_STOPPING,
    bad=request(StoppingCondition={"MaxRuntimeInSeconds": 30 * 86400}),
    good=request(StoppingCondition={"MaxRuntimeInSeconds": 28 * 86400}),
)
def max_runtime(job: TrainingRequest) -> Iterator[Finding]:
    """DT311 of a request."""
    seconds = job.view.number(_STOP, "MaxRuntimeInSeconds")
    if seconds is not None and seconds >= 1:
        yield from at(values.max_runtime(seconds), _STOP, "MaxRuntimeInSeconds")


@rule(
    "DT312",
    on=TrainingRequest,
    title="Waiting for spare capacity shorter than the job may run",
    why="The API refuses the request: the time to wait includes the time to run.",
    source=_STOPPING,
    bad=request(**_spot(StoppingCondition={"MaxRuntimeInSeconds": 7200, "MaxWaitTimeInSeconds": 3600})),
    good=request(**_spot()),
)
def max_wait(job: TrainingRequest) -> Iterator[Finding]:
    """DT312 of a request."""
    wait = job.view.number(_STOP, "MaxWaitTimeInSeconds")
    runtime = job.view.number(_STOP, "MaxRuntimeInSeconds")
    if wait is not None and job.view.flag("EnableManagedSpotTraining"):
        longest = limits.DEFAULT_RUNTIME_SECONDS if runtime is None else runtime
        yield from at(values.max_wait(wait, longest), _STOP, "MaxWaitTimeInSeconds")


@rule(
    "DT340",
    on=TrainingRequest,
    title="Spare capacity without a time to wait for it",
    why="The API refuses the request: managed spot training needs MaxWaitTimeInSeconds.",
    source=_SPOT,
    bad=request(**_spot(StoppingCondition={"MaxRuntimeInSeconds": 3600})),
    good=request(**_spot()),
)
def spot_waits(job: TrainingRequest) -> Iterator[Finding]:
    """DT340: both go together."""
    if job.view.flag("EnableManagedSpotTraining") and not job.view.has(_STOP, "MaxWaitTimeInSeconds"):
        yield problem(
            _STOP,
            "MaxWaitTimeInSeconds",
            got="none with managed spot training",
            allowed="at least MaxRuntimeInSeconds",
            fix="add it; waiting and running together end there",
        )


@rule(
    "DT341",
    on=TrainingRequest,
    title="A time to wait without spare capacity",
    why="The API refuses the request: only managed spot training waits.",
    source=_STOPPING,
    bad=request(StoppingCondition={"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200}),
    good=request(StoppingCondition={"MaxRuntimeInSeconds": 3600}),
)
def wait_is_spot(job: TrainingRequest) -> Iterator[Finding]:
    """DT341: without spot there is nothing to wait for."""
    wait = job.view.number(_STOP, "MaxWaitTimeInSeconds")
    if wait is not None and not job.view.flag("EnableManagedSpotTraining"):
        yield problem(
            _STOP,
            "MaxWaitTimeInSeconds",
            got=f"{wait:g} without managed spot training",
            allowed="only with EnableManagedSpotTraining",
            fix="leave it out; MaxPendingTimeInSeconds limits waiting for capacity of one's own",
        )


@rule(
    "DT342",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="Spare capacity without checkpoints",
    why="SageMaker takes the machines back when it needs them, and the job starts again from nothing.",
    source=_SPOT,
    bad=request(**{key: value for key, value in _spot().items() if key != "CheckpointConfig"}),
    good=request(**_spot()),
)
def spot_keeps(job: TrainingRequest) -> Iterator[Finding]:
    """DT342: a job that may be interrupted keeps what it has."""
    if job.view.flag("EnableManagedSpotTraining") and not job.view.has("CheckpointConfig"):
        yield problem(
            "CheckpointConfig",
            got="none with managed spot training",
            allowed="an S3 prefix that SageMaker keeps equal to /opt/ml/checkpoints",
            fix="add CheckpointConfig, and write checkpoints there",
        )


@rule(
    "DT343",
    on=TrainingRequest,
    title="A warm pool on spare capacity",
    why="The API refuses the request: machines that may be taken back cannot be kept warm.",
    source=_WARM,
    bad=request(**_spot(ResourceConfig={"KeepAlivePeriodInSeconds": 600})),
    good=request(ResourceConfig={"KeepAlivePeriodInSeconds": 600}),
)
def warm_or_spot(job: TrainingRequest) -> Iterator[Finding]:
    """DT343: one or the other."""
    keep = job.view.number("ResourceConfig", "KeepAlivePeriodInSeconds")
    if keep and job.view.flag("EnableManagedSpotTraining"):
        yield problem(
            "ResourceConfig",
            "KeepAlivePeriodInSeconds",
            got=f"{keep:g} with managed spot training",
            allowed="no warm pool with spot",
            fix="leave out one of the two",
        )


@rule(
    "DT344",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A warm pool for longer than an hour",
    why="The guide names 3,600 seconds as the longest time; the API's model takes 21,600. Idle machines are billed.",
    source=_WARM,
    bad=request(ResourceConfig={"KeepAlivePeriodInSeconds": 7200}),
    good=request(ResourceConfig={"KeepAlivePeriodInSeconds": 3600}),
)
def warm_for_long(job: TrainingRequest) -> Iterator[Finding]:
    """DT344: documents disagree, so this may be refused."""
    keep = job.view.number("ResourceConfig", "KeepAlivePeriodInSeconds") or 0
    if 3600 < keep <= 21_600:
        yield problem(
            "ResourceConfig",
            "KeepAlivePeriodInSeconds",
            got=f"{keep:g} seconds",
            allowed="at most 3600 seconds",
            fix="keep the machines for an hour at most",
        )


@rule(
    "DT345",
    on=TrainingRequest,
    title="A warm pool for a cluster of several kinds of machines",
    why="The API refuses the request: warm pools are of one kind of machine.",
    source=_WARM,
    bad=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": None,
            "KeepAlivePeriodInSeconds": 600,
            "InstanceGroups": [
                {"InstanceGroupName": "data", "InstanceType": "ml.c5.2xlarge", "InstanceCount": 1},
                {"InstanceGroupName": "train", "InstanceType": "ml.g5.2xlarge", "InstanceCount": 1},
            ],
        }
    ),
    good=request(ResourceConfig={"KeepAlivePeriodInSeconds": 600}),
)
def warm_and_groups(job: TrainingRequest) -> Iterator[Finding]:
    """DT345: heterogeneous clusters are not kept."""
    keep = job.view.number("ResourceConfig", "KeepAlivePeriodInSeconds")
    if keep and len(job.view.items("ResourceConfig", "InstanceGroups")) > 1:
        yield problem(
            "ResourceConfig",
            "KeepAlivePeriodInSeconds",
            got=f"{keep:g} with several instance groups",
            allowed="no warm pool with instance groups",
            fix="leave out one of the two",
        )


@rule(
    "DT346",
    on=TrainingRequest,
    severity=Severity.INFORMATION,
    title="No limit on the run time",
    why="SageMaker stops the job after one day, its default; a job that hangs is billed until then.",
    source=_STOPPING,
    bad=request(StoppingCondition=None),
    good=request(StoppingCondition={"MaxRuntimeInSeconds": 86400}),
)
def runtime_is_stated(job: TrainingRequest) -> Iterator[Finding]:
    """DT346: say how long it may take."""
    if not job.view.has(_STOP, "MaxRuntimeInSeconds"):
        yield problem(
            _STOP,
            "MaxRuntimeInSeconds",
            got="none, which means 86,400 seconds",
            allowed="what the job needs at most, up to 28 days",
            fix="state it",
        )


@rule(
    "DT347",
    on=TrainingRequest,
    severity=Severity.INFORMATION,
    title="A retry that begins from nothing",
    why="SageMaker starts the job again after an internal error, with whatever checkpoints there are: here none. The"
    " time limit spans all attempts.",
    source=_RETRY,
    bad=request(RetryStrategy={"MaximumRetryAttempts": 3}),
    good=request(RetryStrategy={"MaximumRetryAttempts": 3}, **_CHECKPOINTS),
)
def retry_keeps(job: TrainingRequest) -> Iterator[Finding]:
    """DT347: attempts are worth their price with checkpoints."""
    if job.view.has("RetryStrategy") and not job.view.has("CheckpointConfig"):
        yield problem(
            "CheckpointConfig",
            got="none with a RetryStrategy",
            allowed="an S3 prefix that SageMaker keeps equal to /opt/ml/checkpoints",
            fix="add CheckpointConfig, and write checkpoints there",
        )


@rule(
    "DT348",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A time to be pending for machines that are not queued",
    why="MaxPendingTimeInSeconds is for accelerated types (P, G and Trainium); with others it does nothing.",
    source=_STOPPING,
    bad=request(
        ResourceConfig=machines("ml.m5.xlarge"),
        StoppingCondition={"MaxRuntimeInSeconds": 3600, "MaxPendingTimeInSeconds": 7200},
    ),
    good=request(
        ResourceConfig=machines("ml.p5.48xlarge"),
        StoppingCondition={"MaxRuntimeInSeconds": 3600, "MaxPendingTimeInSeconds": 7200},
    ),
)
def pending(job: TrainingRequest) -> Iterator[Finding]:
    """DT348: of known types, none has an accelerator."""
    if job.view.has(_STOP, "MaxPendingTimeInSeconds"):
        job.view.known(_STOP, "MaxPendingTimeInSeconds")
        found = job.machines
        if found and all(machine.accelerator == "cpu" for machine in found):
            yield problem(
                _STOP,
                "MaxPendingTimeInSeconds",
                got=f"a value with {found[0].name}",
                allowed="only with P, G and Trainium instances",
                fix="leave it out",
            )
