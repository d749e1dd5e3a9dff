"""Limits of a request that constructs ask of plain values too (DT301 to DT309, DT402, DT506)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import request
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import at, rule
from cdk_distributed_training.checks.rules import distribution, image
from cdk_distributed_training.checks.rules import request as values
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.values import Token
from cdk_distributed_training.request import limits

_REFUSED = "The API refuses the request."
_S3 = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_S3DataSource.html"
_ALGORITHM = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html"
_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html"
_MAPS = {"HyperParameters": limits.HYPERPARAMETERS, "Environment": limits.ENVIRONMENT}


def _channel(name: str, uri: str = "s3://amzn-s3-demo-bucket/corpus/") -> dict[str, Any]:
    return {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}}


@rule(
    "DT301",
    on=TrainingRequest,
    title="Too many hyperparameters or environment variables",
    why=_REFUSED,
    source=limits.SOURCE,
    bad=request(Environment={f"NAME_{n}": "1" for n in range(101)}),
    good=request(Environment={f"NAME_{n}": "1" for n in range(100)}),
)
@rule(
    "DT302",
    on=TrainingRequest,
    title="A name of a hyperparameter or variable that the API refuses",
    why=_REFUSED,
    source=limits.SOURCE,
    bad=request(Environment={"MY-KEY": "1"}),
    good=request(Environment={"MY_KEY": "1"}),
)
@rule(
    "DT303",
    on=TrainingRequest,
    title="A value of a hyperparameter or variable that is too long",
    why="The API refuses the request: 2,500 characters for a hyperparameter, 512 for a variable.",
    source=limits.SOURCE,
    bad=request(Environment={"LABELS": "label," * 100}),
    good=request(HyperParameters={"LABELS": "label," * 100}),
)
def entries(job: TrainingRequest) -> Iterator[Finding]:
    """DT301 to DT303 of a request, each entry on its own, so that tokens stand in nobody's way."""
    for member, allowed in _MAPS.items():
        mapping = job.view.raw(member)
        if not isinstance(mapping, dict):
            continue
        found = values.entries(member, dict.fromkeys(map(str, range(len(mapping))), ""), allowed)
        yield from at((finding for finding in found if finding.rule == "DT301"), member)
        for key, value in mapping.items():
            if not isinstance(value, (dict, list, Token)):
                yield from at(values.entries(member, {str(key): str(value)}, allowed), member, key)


@rule(
    "DT305",
    on=TrainingRequest,
    title="A channel's name that the API refuses",
    why=_REFUSED,
    source=limits.SOURCE,
    bad=request(InputDataConfig=[_channel("train data")]),
    good=request(InputDataConfig=[_channel("train-data")]),
)
@rule(
    "DT306",
    on=TrainingRequest,
    title="Two channels of one name",
    why=_REFUSED,
    source=limits.SOURCE,
    bad=request(InputDataConfig=[_channel("train"), _channel("train")]),
    good=request(InputDataConfig=[_channel("train"), _channel("validation")]),
)
@rule(
    "DT307",
    on=TrainingRequest,
    title="Too many channels",
    why=_REFUSED,
    source=limits.SOURCE,
    bad=request(InputDataConfig=[_channel(f"part-{n}") for n in range(21)]),
    good=request(InputDataConfig=[_channel(f"part-{n}") for n in range(20)]),
)
def channel_names(job: TrainingRequest) -> Iterator[Finding]:
    """DT305 to DT307 of a request."""
    names = [channel.raw("ChannelName") for channel in job.channels]
    literal = [name for name in names if isinstance(name, str)]
    # names that are not known count, but are nobody's double
    padding = [f"unknown-{index}" for index in range(len(names) - len(literal))]
    yield from at(values.channel_names([*literal, *padding], reserved=()), "InputDataConfig")


@rule(
    "DT308",
    on=TrainingRequest,
    title="Data that are at no address in S3",
    why=_REFUSED,
    source=_S3,
    bad=request(InputDataConfig=[_channel("train", "amzn-s3-demo-bucket/corpus/")]),
    good=request(InputDataConfig=[_channel("train", "s3://amzn-s3-demo-bucket/corpus/")]),
)
def s3_uri(job: TrainingRequest) -> Iterator[Finding]:
    """DT308 of a request; HTTPS addresses of S3 are allowed too."""
    for channel in job.channels:
        address = channel.raw("DataSource", "S3DataSource", "S3Uri")
        if isinstance(address, str) and not address.startswith("https://"):
            path = (*channel.path, "DataSource", "S3DataSource", "S3Uri")
            yield from at(values.s3_uri("S3Uri", address), *path)


@rule(
    "DT309",
    on=TrainingRequest,
    title="A command line that the API refuses",
    why="The API refuses the request: 100 words at most, each of 256 characters at most.",
    source=limits.SOURCE,
    bad=request(AlgorithmSpecification={"ContainerArguments": ["x" * 257]}),
    good=request(AlgorithmSpecification={"ContainerArguments": ["x" * 256]}),
)
def container_words(job: TrainingRequest) -> Iterator[Finding]:
    """DT309 of a request."""
    for member in ("ContainerEntrypoint", "ContainerArguments"):
        words = job.view.raw("AlgorithmSpecification", member)
        if isinstance(words, list):
            literal = [word if isinstance(word, str) else "" for word in words]
            yield from at(values.container_words(member, literal), "AlgorithmSpecification", member)


@rule(
    "DT402",
    on=TrainingRequest,
    title="No number of machines",
    why=_REFUSED,
    source=_CONFIG,
    bad=request(ResourceConfig={"InstanceCount": 0}),
    good=request(ResourceConfig={"InstanceCount": 1}),
)
def instance_count(job: TrainingRequest) -> Iterator[Finding]:
    """DT402 of a request."""
    config = job.view.view("ResourceConfig")
    for row in (config, *config.items("InstanceGroups"), *config.items("InstancePreferences")):
        count = row.number("InstanceCount")
        if count is not None:
            whole = int(count) if count == int(count) else count
            yield from at(distribution.instance_count(whole), *row.path, "InstanceCount")


@rule(
    "DT506",
    on=TrainingRequest,
    title="An image's address that the API refuses",
    why=_REFUSED,
    source=_ALGORITHM,
    bad=request(AlgorithmSpecification={"TrainingImage": "train: latest"}),
    good=request(),
)
def image_address(job: TrainingRequest) -> Iterator[Finding]:
    """DT506 of a request."""
    address = job.image
    if isinstance(address, str):
        yield from at(image.uri(address, limits.IMAGE.longest), "AlgorithmSpecification", "TrainingImage")
