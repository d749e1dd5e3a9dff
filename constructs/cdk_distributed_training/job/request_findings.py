"""What the rules over requests say of a job's own request, in the words of the job's properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.rules.keywords import unsettled_name
from cdk_distributed_training.checks.template.document import Document, Kind
from cdk_distributed_training.checks.template.source import Source
from cdk_distributed_training.checks.template.values import Unknown
from cdk_distributed_training.request.training_job_request import TrainingJobRequest
from cdk_distributed_training.tokens import known

# the request's parts are the job's properties but for these
_PROPERTIES = {
    "algorithm.image_uri": "image",
    "algorithm.algorithm_name": "image",
    "algorithm.registry_access": "image",
    "algorithm.arguments": "source.arguments",
    "algorithm.metric_definitions": "metric_definitions",
    "algorithm.input_mode": "input_mode",
    "output.output_path": "output_prefix",
    "output.key_id": "output_key",
    "output.compression": "output_compression",
    "stopping.max_runtime": "max_runtime",
    "stopping.max_wait": "spot.max_wait",
    "stopping.max_pending": "max_pending",
    "vpc": "network",
}

# a channel's members that ChannelOptions gives it
_CHANNEL_OPTIONS = {
    "S3DataDistributionType": "distribution",
    "InstanceGroupNames": "instance_groups",
    "ContentType": "content_type",
    "CompressionType": "compression",
    "RecordWrapperType": "record_wrapper",
    "ShuffleConfig": "shuffle_seed",
    "ModelAccessConfig": "accept_eula",
    "HubAccessConfig": "hub_content_arn",
}


def request_findings(request: TrainingJobRequest, rendered: Mapping[str, Any], *, region: str) -> list[Finding]:
    """Errors and warnings about a request without a name; tokens are never judged.

    Args:
        request: The request.
        rendered: What it renders to.
        region: The stack's region, which may be a token.
    """
    unsettled = list(_unsettled_names(request, rendered))
    if unsettled:
        return unsettled
    content = {name: _settled(value) for name, value in rendered.items()}
    # a name that the engine gives: any legal one will do
    source = Source("request", {**content, "TrainingJobName": "job"}, lambda _: (0, 0))
    report = judge(Document(source, Kind.REQUEST, region if known(region) else None))
    return [
        replace(finding, prop=_property(request, rendered, finding))
        for finding in (judgement.finding for judgement in report.judgements)
        if finding.severity is not Severity.INFORMATION
    ]


def _unsettled_names(request: TrainingJobRequest, value: Any, path: tuple[str | int, ...] = ()) -> Iterator[Finding]:
    if isinstance(value, Mapping):
        yield from unsettled_name(request.attribute_path(path), value)
    if isinstance(value, (Mapping, list)):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _unsettled_names(request, item, (*path, key))


def _settled(value: Any) -> Any:
    """The value with every token as one of the rules' own."""
    if isinstance(value, Mapping):
        return {name: _settled(item) for name, item in value.items() if known(name)}
    if isinstance(value, list):
        # one token may stand for a whole list
        return [_settled(item) for item in value] if known_list(value) else Unknown(str(value))
    return value if known(value) else Unknown(str(value))


def known_list(value: list[Any]) -> bool:
    """Whether a list is one, and no token that CDK has dressed up as a list."""
    return not (len(value) == 1 and isinstance(value[0], str) and value[0].startswith("#{Token["))


def _property(request: TrainingJobRequest, rendered: Mapping[str, Any], finding: Finding) -> str:
    path = request.attribute_path(finding.path)
    channel = re.match(r"channels\[(\d+)\](\['DataSource'\]\['\w+'\])?", path)
    if channel:
        index = int(channel.group(1))
        name = rendered["InputDataConfig"][index]["ChannelName"]
        below = re.sub(r"\['(\w+)'\]", r".\1", path[channel.end() :])
        member = re.match(r"\.(\w+)", below)
        if member and member.group(1) in _CHANNEL_OPTIONS:
            # where the option stands for a whole structure, its one member goes with it
            below = f".options.{_CHANNEL_OPTIONS[member.group(1)]}" + re.sub(r"^\.\w+", "", below[member.end() :])
        return f"channels[{repr(name) if known(name) else index}]{below}"
    for part, prop in _PROPERTIES.items():
        if path.startswith(part):
            return prop + path[len(part) :]
    return path
