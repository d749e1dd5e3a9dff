"""Rules that SageMaker Debugger and its profiler judge a job by, while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cdk_distributed_training.request.instance_type_name import instance_type_name
from cdk_distributed_training.request.request_part import RequestPart, gibibytes, spelled

if TYPE_CHECKING:
    import aws_cdk as cdk


@dataclass(frozen=True, kw_only=True)
class EvaluationRule(RequestPart):
    """A container that reads what the debugger's hook or the profiler stores, and says what is wrong.

    It runs as a processing job of its own, outside of the job's network.
    Sources: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DebugRuleConfiguration.html,
    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProfilerRuleConfiguration.html

    Attributes:
        name: The rule's name, different from the others of the job.
        image_uri: Address of the image that judges; for AWS's own rules, the region's `sagemaker-debugger-rules`.
        parameters: The rule's parameters, texts, such as `{"rule_to_invoke": "VanishingGradient"}`.
        instance_type: Machine of a rule of one's own, such as `ml.m5.xlarge`; none for AWS's own rules.
        volume_size: Storage of that machine; the service's default unless given.
        local_path: Folder of the results in the container; the service's default unless given.
        output_uri: S3 address of the results; the folder of what is judged unless given.
    """

    name: str = field(metadata=spelled("RuleConfigurationName"))
    image_uri: str = field(metadata=spelled("RuleEvaluatorImage"))
    parameters: Mapping[str, str] = field(default_factory=dict, metadata=spelled("RuleParameters"))
    instance_type: str | None = field(default=None, metadata=spelled("InstanceType"))
    volume_size: cdk.Size | None = field(default=None, metadata=spelled("VolumeSizeInGB", gibibytes))
    local_path: str | None = field(default=None, metadata=spelled("LocalPath"))
    output_uri: str | None = field(default=None, metadata=spelled("S3OutputPath"))

    def __post_init__(self) -> None:
        """Complete EC2's name to SageMaker's."""
        if self.instance_type is not None:
            object.__setattr__(self, "instance_type", instance_type_name(self.instance_type))
