"""Events about the runs of whatever starts a job, in the words in which SageMaker tells how a training job is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import engines as rules

if TYPE_CHECKING:
    from aws_cdk import aws_events as events
    from constructs import Construct


@dataclass(frozen=True, kw_only=True)
class RunEvents:
    """How a service tells of its runs.

    Attributes:
        source: The event's source, such as `aws.states`.
        detail_type: The event's kind.
        whose: Member of the event's detail that says whose run it is, and its value.
        status: Member of the event's detail that says how the run is.
        words: Status of a training job -> the service's own words for it.
    """

    source: str
    detail_type: str
    whose: tuple[str, str]
    status: str
    words: Mapping[str, Sequence[str]]

    def rule(
        self, scope: Construct, id: str, *, target: events.IRuleTarget | None, statuses: Sequence[str]
    ) -> events.Rule:
        """A rule for them.

        Args:
            scope: The parent construct.
            id: The construct id.
            target: Where the events go; nowhere yet if `None`.
            statuses: Only these; all if there are none.

        Raises:
            ConfigurationError: The service has no word for one of them.
        """
        # only who asks for events pays for the module
        from aws_cdk import aws_events as events  # noqa: PLC0415

        raise_errors(rules.told_statuses(statuses, list(self.words)), where=f"{scope.node.path}/{id}")
        member, value = self.whose
        detail: dict[str, object] = {member: [value]}
        if statuses:
            detail[self.status] = [word for status in statuses for word in self.words[status]]
        pattern = events.EventPattern(source=[self.source], detail_type=[self.detail_type], detail=detail)
        return events.Rule(scope, id, event_pattern=pattern, targets=[] if target is None else [target])


def execution_events(state_machine_arn: str) -> RunEvents:
    """Events of a state machine's executions.

    Source: https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html

    Args:
        state_machine_arn: The state machine.
    """
    return RunEvents(
        source="aws.states",
        detail_type="Step Functions Execution Status Change",
        whose=("stateMachineArn", state_machine_arn),
        status="status",
        words={
            "InProgress": ["RUNNING"],
            "Completed": ["SUCCEEDED"],
            "Failed": ["FAILED", "TIMED_OUT"],
            "Stopped": ["ABORTED"],
        },
    )


def pipeline_events(pipeline_arn: str) -> RunEvents:
    """Events of a pipeline's executions.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html

    Args:
        pipeline_arn: The pipeline.
    """
    return RunEvents(
        source="aws.sagemaker",
        detail_type="SageMaker Model Building Pipeline Execution Status Change",
        whose=("pipelineArn", pipeline_arn),
        status="currentPipelineExecutionStatus",
        words={
            "InProgress": ["Executing"],
            "Completed": ["Succeeded"],
            "Failed": ["Failed"],
            "Stopping": ["Stopping"],
            "Stopped": ["Stopped"],
        },
    )
