"""Secrets, isolation, encryption and folders of a request (DT370 to DT377)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cdk_distributed_training.checks.examples import request
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest

_MAPS = ("Environment", "HyperParameters")
_SECRETS = "https://docs.aws.amazon.com/sagemaker/latest/dg/data-privacy.html"
_ISOLATION = "https://docs.aws.amazon.com/sagemaker/latest/dg/mkt-algo-model-internet-free.html"
_CHECKPOINTS = "https://docs.aws.amazon.com/sagemaker/latest/dg/model-checkpoints.html"
_ENCRYPTION = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-encrypt.html"

# forms that well-known services give to their keys and to nothing else
_SECRET_VALUES = {
    "an AWS access key": re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}\b"),
    "a GitHub token": re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})\b"),
    "an OpenAI key": re.compile(r"\bsk-[A-Za-z0-9_-]{32,}\b"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}
_SECRET_NAMES = re.compile(
    r"(^|_)(password|passwd|secret_access_key|secret_key|api_key|apikey|auth_token|access_token|hf_token|private_key)$",
    re.IGNORECASE,
)
# what such a value is when it only says where the secret is
_HARMLESS = re.compile(r"^(arn:|s3://|/|\{\{|\$|true$|false$|none$|null$|\d+$|$)", re.IGNORECASE)
_CALLS_OUT = re.compile(r"\bpip3? install\b|\bconda install\b|\bapt-get\b|\bgit clone\b|\bwget\b|\bcurl\b")
_HUBS = (
    "HF_TOKEN",
    "HF_HUB_ENABLE_HF_TRANSFER",
    "WANDB_API_KEY",
    "WANDB_PROJECT",
    "PIP_INDEX_URL",
    "CA_REPOSITORY_ARN",
)


@rule(
    "DT370",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A secret in plain text",
    why="Hyperparameters and variables are shown to everyone who may describe the job, and are kept for ever.",
    source=_SECRETS,
    bad=request(Environment={"DB_PASSWORD": "correct-horse"}),
    good=request(Environment={"DB_PASSWORD": "arn:aws:secretsmanager:us-east-1:111122223333:secret:db"}),
)
def secrets(job: TrainingRequest) -> Iterator[Finding]:
    """DT370: names and values that speak of a secret; the value is not repeated."""
    for member in _MAPS:
        for name, view in job.view.entries(member):
            if not isinstance(view.value, str):
                continue
            text = view.value.strip("\"'")
            kind = next((kind for kind, form in _SECRET_VALUES.items() if form.search(text)), None)
            if kind is None and _SECRET_NAMES.search(name.replace("-", "_")) and not _HARMLESS.search(text):
                kind = "a secret, by its name"
            if kind is not None:
                yield problem(
                    member,
                    name,
                    got=kind,
                    allowed="the name or ARN of a secret",
                    fix="read it from AWS Secrets Manager in the script, by the job's role",
                )


@rule(
    "DT371",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="Network isolation, and a command that goes out",
    why="An isolated container reaches nothing but its own nodes: installing packages fails, at once or in time.",
    source=_ISOLATION,
    bad=request(
        EnableNetworkIsolation=True,
        AlgorithmSpecification={"ContainerEntrypoint": ["sh", "-c", "pip install lightning && python train.py"]},
    ),
    good=request(
        EnableNetworkIsolation=True, AlgorithmSpecification={"ContainerEntrypoint": ["sh", "-c", "python train.py"]}
    ),
)
def isolated_command(job: TrainingRequest) -> Iterator[Finding]:
    """DT371: pip, conda, apt-get, git, curl and wget."""
    if not job.view.flag("EnableNetworkIsolation"):
        return
    for member in ("ContainerEntrypoint", "ContainerArguments"):
        for word in job.view.items("AlgorithmSpecification", member):
            if isinstance(word.value, str) and _CALLS_OUT.search(word.value) and "--no-index" not in word.value:
                yield problem(
                    *word.path,
                    got=repr(word.value),
                    allowed="commands that need no network",
                    fix="build the packages into the image, or bring them by a channel",
                )


@rule(
    "DT372",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="Network isolation, and the settings of an online service",
    why="An isolated container reaches no model hub, tracker or package index: the settings show that it tries.",
    source=_ISOLATION,
    bad=request(EnableNetworkIsolation=True, Environment={"WANDB_PROJECT": "pretrain"}),
    good=request(EnableNetworkIsolation=True, Environment={"WANDB_PROJECT": "pretrain", "WANDB_MODE": "offline"}),
)
def isolated_services(job: TrainingRequest) -> Iterator[Finding]:
    """DT372: variables of hubs and trackers, unless these are told to be offline."""
    if not job.view.flag("EnableNetworkIsolation"):
        return
    names = dict(job.view.entries("Environment"))
    if {"WANDB_MODE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} & set(names):
        return
    for name in _HUBS:
        if name in names:
            yield problem(
                "Environment",
                name,
                got=f"{name} with network isolation",
                allowed="no settings of services outside",
                fix="leave it out, turn isolation off, or set the service's offline mode",
            )


@rule(
    "DT373",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="Checkpoints in the model's folder",
    why="SageMaker packs /opt/ml/model into the model artifact: every checkpoint is uploaded again at the end, in one"
    " archive.",
    source=_CHECKPOINTS,
    bad=request(
        CheckpointConfig={"S3Uri": "s3://amzn-s3-demo-bucket/checkpoints/", "LocalPath": "/opt/ml/model/checkpoints"}
    ),
    good=request(
        CheckpointConfig={"S3Uri": "s3://amzn-s3-demo-bucket/checkpoints/", "LocalPath": "/opt/ml/checkpoints"}
    ),
)
def checkpoint_folder(job: TrainingRequest) -> Iterator[Finding]:
    """DT373: a folder of their own."""
    path = job.view.text("CheckpointConfig", "LocalPath")
    if path and f"{path.rstrip('/')}/".startswith(("/opt/ml/model/", "/opt/ml/output/", "/opt/ml/input/")):
        yield problem(
            "CheckpointConfig",
            "LocalPath",
            got=repr(path),
            allowed="a folder outside of /opt/ml/model, /opt/ml/output and /opt/ml/input",
            fix="leave it out for /opt/ml/checkpoints",
        )


@rule(
    "DT374",
    on=TrainingRequest,
    severity=Severity.INFORMATION,
    title="Encryption between one machine",
    why="There is nothing to encrypt: the setting is for traffic between machines.",
    source=_ENCRYPTION,
    bad=request(EnableInterContainerTrafficEncryption=True),
    good=request(EnableInterContainerTrafficEncryption=True, ResourceConfig={"InstanceCount": 2}),
)
def encryption_of_one(job: TrainingRequest) -> Iterator[Finding]:
    """DT374: true and harmless."""
    if job.view.flag("EnableInterContainerTrafficEncryption") and job.instance_count == 1:
        yield problem(
            "EnableInterContainerTrafficEncryption",
            got="true with one machine",
            allowed="false, or several machines",
            fix="leave it out unless the number of machines may grow",
        )


@rule(
    "DT375",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="Encrypted traffic, and a profiler outside of it",
    why="The profiler's rules run as a job of their own, between whose machines nothing is encrypted.",
    source="https://github.com/aws/sagemaker-python-sdk/issues/2683",
    bad=request(
        EnableInterContainerTrafficEncryption=True,
        ResourceConfig={"InstanceCount": 2},
        ProfilerConfig={"S3OutputPath": "s3://amzn-s3-demo-bucket/profile/"},
        ProfilerRuleConfigurations=[
            {"RuleConfigurationName": "report", "RuleEvaluatorImage": "503895931360.dkr.ecr.us-east-1.amazonaws.com/r"}
        ],
    ),
    good=request(EnableInterContainerTrafficEncryption=True, ResourceConfig={"InstanceCount": 2}),
)
def encrypted_profiler(job: TrainingRequest) -> Iterator[Finding]:
    """DT375: rule jobs take no part in the encryption."""
    if job.view.flag("EnableInterContainerTrafficEncryption") and job.view.known("ProfilerRuleConfigurations"):
        yield problem(
            "ProfilerRuleConfigurations",
            got="profiler rules with inter-container traffic encryption",
            allowed="no profiler rules where all traffic must be encrypted",
            fix="leave them out",
        )


@rule(
    "DT376",
    on=TrainingRequest,
    title="A tag that is AWS's own",
    why="The API refuses the request: keys that begin with aws: are reserved.",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_Tag.html",
    bad=request(Tags=[{"Key": "aws:team", "Value": "research"}]),
    good=request(Tags=[{"Key": "team", "Value": "research"}]),
)
def tag_keys(job: TrainingRequest) -> Iterator[Finding]:
    """DT376: reserved keys."""
    for item in job.view.items("Tags"):
        key = item.raw("Key")
        if isinstance(key, str) and key.lower().startswith("aws:"):
            yield problem(*item.path, "Key", got=repr(key), allowed="keys that do not begin with aws:", fix="rename it")


@rule(
    "DT377",
    on=TrainingRequest,
    severity=Severity.WARNING,
    title="A private registry without a VPC",
    why="With TrainingRepositoryAccessMode Vpc the image is pulled through the job's own network: there is none.",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/docker-containers-adapt-your-own-private-registry.html",
    bad=request(
        AlgorithmSpecification={
            "TrainingImage": "registry.example.com/train:1.4.2",
            "TrainingImageConfig": {"TrainingRepositoryAccessMode": "Vpc"},
        }
    ),
    good=request(
        AlgorithmSpecification={
            "TrainingImage": "registry.example.com/train:1.4.2",
            "TrainingImageConfig": {"TrainingRepositoryAccessMode": "Vpc"},
        },
        VpcConfig={"SecurityGroupIds": ["sg-0123456789"], "Subnets": ["subnet-0123456789"]},
    ),
)
def private_registry(job: TrainingRequest) -> Iterator[Finding]:
    """DT377: the registry is reached from the VPC."""
    mode = job.view.text("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode")
    if mode == "Vpc" and not job.view.has("VpcConfig"):
        yield problem(
            "VpcConfig",
            got="none, and an image of a private registry",
            allowed="subnets and groups from which the registry can be reached",
            fix="add VpcConfig, or use an image in ECR",
        )
