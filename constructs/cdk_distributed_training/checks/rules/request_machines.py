"""The machines that a request asks for (DT350 to DT357, DT401)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import Data, Example, machines, request
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import at, problem, rule
from cdk_distributed_training.checks.rules import distribution
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.data.tables import instance_type_names, instance_types

_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html"
_CHOICES = ("InstanceType", "InstanceGroups", "InstancePreferences")


def _config(**changes: object) -> Example:
    return request(ResourceConfig={"InstanceType": None, "InstanceCount": None, **changes})


def _instance_group(name: str = "train", instance_type: str = "ml.g5.2xlarge") -> Data:
    return {"InstanceGroupName": name, "InstanceType": instance_type, "InstanceCount": 1}


@rule(
    "DT401",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="An instance type that is not known",
    why="If it is misspelled, the API refuses the request; the other rules cannot judge it.",
    source=_CONFIG,
    bad=request(ResourceConfig=machines("ml.p5.42xlarge")),
    good=request(ResourceConfig=machines("ml.p5.48xlarge")),
)
def instance_type(job: TrainingRequest) -> Iterator[Finding]:
    """DT401 of a request."""
    config = job.view.view("ResourceConfig")
    for row in (config, *config.items("InstanceGroups"), *config.items("InstancePreferences")):
        name = row.text("InstanceType")
        if name and name.startswith("ml.") and not name.startswith("ml.ml."):  # else DT357 says more
            yield from at(distribution.instance_type(name, instance_type_names()), *row.path, "InstanceType")


@rule(
    "DT350",
    on=TrainingRequest,
    title="Machines given in two ways",
    why="The API refuses the request: a type, groups of types or preferences, one of them.",
    source=_CONFIG,
    bad=request(ResourceConfig={"InstanceGroups": [_instance_group()]}),
    good=_config(InstanceGroups=[_instance_group()]),
)
def one_way(job: TrainingRequest) -> Iterator[Finding]:
    """DT350: they exclude each other."""
    config = job.view.view("ResourceConfig")
    given = [name for name in _CHOICES if config.raw(name) is not None]
    if len(given) > 1:
        for name in given:
            config.known(name)
        yield problem(
            "ResourceConfig",
            given[-1],
            got=" and ".join(given),
            allowed=f"one of {', '.join(_CHOICES)}",
            fix=f"leave out {given[0]}" + (" and InstanceCount" if given[0] == "InstanceType" else ""),
        )


@rule(
    "DT351",
    on=TrainingRequest,
    title="No machines",
    why="The API refuses the request.",
    source=_CONFIG,
    bad=_config(),
    good=request(),
)
def some_machines(job: TrainingRequest) -> Iterator[Finding]:
    """DT351: a request without any of the three, and without a serverless job."""
    config = job.view.view("ResourceConfig")
    if not any(config.has(name) for name in _CHOICES) and not job.view.has("ServerlessJobConfig"):
        yield problem(
            "ResourceConfig",
            "InstanceType",
            got="no instance type, groups or preferences",
            allowed=f"one of {', '.join(_CHOICES)}",
            fix="name the instance type and the number of machines",
        )


@rule(
    "DT352",
    on=TrainingRequest,
    title="Preferences with what excludes them",
    why="The API refuses the request: preferences stand alone, without placement and without managed spot training.",
    source=_CONFIG,
    bad=request(
        EnableManagedSpotTraining=True,
        StoppingCondition={"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200},
        CheckpointConfig={"S3Uri": "s3://amzn-s3-demo-bucket/checkpoints/"},
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": 1,
            "InstancePreferences": [{"InstanceType": "ml.p5.48xlarge"}, {"InstanceType": "ml.p4d.24xlarge"}],
        },
    ),
    good=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": 1,
            "InstancePreferences": [{"InstanceType": "ml.p5.48xlarge"}, {"InstanceType": "ml.p4d.24xlarge"}],
        },
    ),
)
def preferences(job: TrainingRequest) -> Iterator[Finding]:
    """DT352: spot and placement."""
    config = job.view.view("ResourceConfig")
    if config.known("InstancePreferences") is None:
        return
    excluded = "EnableManagedSpotTraining" if job.view.flag("EnableManagedSpotTraining") else None
    excluded = excluded or ("InstancePlacementConfig" if config.has("InstancePlacementConfig") else None)
    if excluded:
        yield problem(
            "ResourceConfig",
            "InstancePreferences",
            got=f"preferences and {excluded}",
            allowed="preferences alone",
            fix=f"leave out {excluded}, or name one InstanceType",
        )


@rule(
    "DT353",
    on=TrainingRequest,
    title="One type preferred twice",
    why="The API refuses the request: each type stands once in the preferences.",
    source=_CONFIG,
    bad=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": 1,
            "InstancePreferences": [{"InstanceType": "ml.p5.48xlarge"}, {"InstanceType": "ml.p5.48xlarge"}],
        },
    ),
    good=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": 1,
            "InstancePreferences": [{"InstanceType": "ml.p5.48xlarge"}, {"InstanceType": "ml.p5e.48xlarge"}],
        },
    ),
)
@rule(
    "DT354",
    on=TrainingRequest,
    title="Numbers of machines in two places",
    why="The API refuses the request: the number stands once for all preferences, or at each of them.",
    source=_CONFIG,
    bad=request(
        ResourceConfig={
            "InstanceType": None,
            "InstanceCount": 2,
            "InstancePreferences": [{"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}],
        },
    ),
    good=_config(InstancePreferences=[{"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}]),
)
def each_preference(job: TrainingRequest) -> Iterator[Finding]:
    """DT353 and DT354: within the list."""
    config = job.view.view("ResourceConfig")
    rows = config.items("InstancePreferences")
    names = [row.text("InstanceType") for row in rows]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        yield problem(
            "ResourceConfig",
            "InstancePreferences",
            got=f"{', '.join(twice)} more than once",
            allowed="each type once",
            fix="leave out the repetition",
            rule_id="DT353",
        )
    counted = [row.has("InstanceCount") for row in rows]
    if rows and (any(counted) if config.has("InstanceCount") else not all(counted)):
        without = "at some of them" if any(counted) else "in neither"
        yield problem(
            "ResourceConfig",
            "InstancePreferences",
            got=f"a number of machines {'in both places' if config.has('InstanceCount') else without}",
            allowed="InstanceCount once beside the preferences, or at each of them",
            fix="state it in one place",
            rule_id="DT354",
        )


@rule(
    "DT355",
    on=TrainingRequest,
    title="A key for a volume that the machines do not have",
    why="The API refuses the request: types with local NVMe storage have no volume, and encrypt it themselves.",
    source=_CONFIG,
    bad=request(ResourceConfig=machines("ml.p4d.24xlarge", VolumeKmsKeyId="alias/data")),
    good=request(ResourceConfig=machines("ml.p3.16xlarge", VolumeKmsKeyId="alias/data")),
)
def volume_key(job: TrainingRequest) -> Iterator[Finding]:
    """DT355: types with local NVMe storage."""
    if not job.view.given("ResourceConfig", "VolumeKmsKeyId"):
        return
    table = instance_types()
    found = [table[name] for name in job.instance_types if name in table and table[name].local_nvme_gb]
    if found:
        yield problem(
            "ResourceConfig",
            "VolumeKmsKeyId",
            got=f"a key with {found[0].name}",
            allowed="only with types that have no local NVMe storage",
            fix="leave it out: the local storage is encrypted by the machine",
        )


@rule(
    "DT356",
    on=TrainingRequest,
    title="Two instance groups of one name",
    why="The API refuses the request.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InstanceGroup.html",
    bad=_config(InstanceGroups=[_instance_group("train"), _instance_group("train", "ml.c5.2xlarge")]),
    good=_config(InstanceGroups=[_instance_group("train"), _instance_group("data", "ml.c5.2xlarge")]),
)
def group_names(job: TrainingRequest) -> Iterator[Finding]:
    """DT356: groups are told apart by their names."""
    names = [row.text("InstanceGroupName") for row in job.view.items("ResourceConfig", "InstanceGroups")]
    twice = sorted({str(name) for name in names if name is not None and names.count(name) > 1})
    if twice:
        yield problem(
            "ResourceConfig", "InstanceGroups", got=f"{', '.join(twice)} twice", allowed="each name once", fix="rename"
        )


@rule(
    "DT357",
    on=TrainingRequest,
    title="An instance type of EC2",
    why="The API refuses the request: SageMaker's types begin with ml., once.",
    source=_CONFIG,
    bad=request(ResourceConfig=machines("p5.48xlarge")),
    good=request(ResourceConfig=machines("ml.p5.48xlarge")),
)
def sagemaker_type(job: TrainingRequest) -> Iterator[Finding]:
    """DT357: `p5.48xlarge` and `ml.ml.p5.48xlarge`."""
    config = job.view.view("ResourceConfig")
    for row in (config, *config.items("InstanceGroups"), *config.items("InstancePreferences")):
        name = row.text("InstanceType") or "ml."
        if not name.startswith("ml.") or name.startswith("ml.ml."):
            right = f"ml.{name.replace('ml.', '')}"
            yield problem(
                *row.path, "InstanceType", got=repr(name), allowed="a type that begins with ml.", fix=f"write {right!r}"
            )
