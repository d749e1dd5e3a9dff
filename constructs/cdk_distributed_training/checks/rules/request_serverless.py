"""Serverless jobs of a request, which bring no machines, image and script (DT380 to DT383)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cdk_distributed_training.checks.examples import Data, Example, request
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest

_SERVERLESS = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ServerlessJobConfig.html"
_VOLUME = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html"
# no page of AWS's lists them; whoever wrote Terraform's resource found out
_TERRAFORM = (
    "https://github.com/hashicorp/terraform-provider-aws/blob/main/website/docs/r/sagemaker_training_job.html.markdown"
)
_EXCLUDED = (
    "AlgorithmSpecification",
    "CheckpointConfig",
    "DebugHookConfig",
    "EnableManagedSpotTraining",
    "Environment",
    "ExperimentConfig",
    "ProfilerConfig",
    "ProfilerRuleConfigurations",
    "RetryStrategy",
    "TensorBoardOutputConfig",
)
_LONGEST = 1024


def _serverless(*, changes: Data | None = None, **config: object) -> Example:
    model = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/meta-textgeneration-llama-3-2-1b"
    job = {"BaseModelArn": model, "JobType": "FineTuning", "CustomizationTechnique": "SFT", **config}
    members = {"AlgorithmSpecification": None, "ResourceConfig": None, "ServerlessJobConfig": job}
    return request(**{**members, **(changes or {})})


@rule(
    "DT380",
    on=TrainingRequest,
    title="A serverless job with what such a job does not have",
    why="The API refuses the request: SageMaker brings image, script and machines of a serverless job.",
    source=_TERRAFORM,
    bad=_serverless(changes={"Environment": {"NCCL_DEBUG": "INFO"}}),
    good=_serverless(),
)
def serverless_alone(job: TrainingRequest) -> Iterator[Finding]:
    """DT380: members that a serverless job excludes."""
    if not job.view.given("ServerlessJobConfig"):
        return
    for name in _EXCLUDED:
        # what is empty or off asks for nothing
        if job.view.known(name) not in (None, False, "false", {}, []):
            yield problem(
                name,
                got=f"{name} and ServerlessJobConfig",
                allowed=f"no {name} in a serverless job",
                fix=f"leave out {name}, or ServerlessJobConfig",
            )


@rule(
    "DT381",
    on=TrainingRequest,
    title="A volume size for a serverless job",
    why="SageMaker chooses the size itself; the setting cannot be customized.",
    source=_VOLUME,
    bad=_serverless(changes={"ResourceConfig": {"InstanceType": None, "InstanceCount": None, "VolumeSizeInGB": 100}}),
    good=_serverless(),
)
def serverless_volume(job: TrainingRequest) -> Iterator[Finding]:
    """DT381: storage is the service's."""
    if job.view.given("ServerlessJobConfig") and job.view.known("ResourceConfig", "VolumeSizeInGB") is not None:
        yield problem(
            "ResourceConfig",
            "VolumeSizeInGB",
            got="VolumeSizeInGB and ServerlessJobConfig",
            allowed="no VolumeSizeInGB in a serverless job",
            fix="leave it out",
        )


@rule(
    "DT382",
    on=TrainingRequest,
    title="An evaluation that does not say what it evaluates by",
    why="The API refuses the request: an evaluation has a type.",
    source=_SERVERLESS,
    bad=_serverless(JobType="Evaluation", CustomizationTechnique=None),
    good=_serverless(JobType="Evaluation", CustomizationTechnique=None, EvaluationType="BenchmarkEvaluation"),
)
def evaluation_type(job: TrainingRequest) -> Iterator[Finding]:
    """DT382: required of evaluations."""
    config = job.view.view("ServerlessJobConfig")
    if config.text("JobType") == "Evaluation" and not config.has("EvaluationType"):
        yield problem(
            "ServerlessJobConfig",
            "EvaluationType",
            got="JobType Evaluation without EvaluationType",
            allowed="LLMAJEvaluation, CustomScorerEvaluation or BenchmarkEvaluation",
            fix="add it",
        )


@rule(
    "DT383",
    on=TrainingRequest,
    title="A sequence length that no job has",
    why="The API refuses the request, or finds no configuration of the model for it.",
    source=_SERVERLESS,
    bad=_serverless(SequenceLength="2048K"),
    good=_serverless(SequenceLength="32K"),
)
def sequence_length(job: TrainingRequest) -> Iterator[Finding]:
    """DT383: in thousands of tokens."""
    given = job.view.view("ServerlessJobConfig").text("SequenceLength")
    # other spellings are DT334's
    if given and re.fullmatch(r"\d+K", given) and not 1 <= int(given[:-1]) <= _LONGEST:
        yield problem(
            "ServerlessJobConfig",
            "SequenceLength",
            got=given,
            allowed=f"1K to {_LONGEST}K",
            fix="choose a length in that range, or leave it out and let SageMaker choose",
        )
