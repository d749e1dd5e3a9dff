"""The two ways in which Step Functions starts a training job: by the API itself, and by an integration of its own.

After either, the same states look at the job and judge how it ended, so that Error and Cause are the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import state_machine as rules
from cdk_distributed_training.data.tables import step_functions_members
from cdk_distributed_training.engines.job_expressions import expression

Integration = Literal["sdk", "optimized"]


class StartCall(ABC):
    """How the state `Create` creates the job, and what it leads to.

    Attributes:
        resource: The integration, after `arn:aws:states:::`.
        next_state: The state after a job that was created.
        error_state: The state after an error.
        passes_arguments: Whether the request may hold `ContainerArguments`.
    """

    resource: str
    next_state: str
    error_state: str
    passes_arguments: bool

    @abstractmethod
    def sent(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request as this integration sends it."""

    @abstractmethod
    def findings(self, request: Mapping[str, Any]) -> Iterable[Finding]:
        """What this integration would refuse of a request."""

    @abstractmethod
    def states(self, describe: Mapping[str, Any]) -> dict[str, Any]:
        """States besides those that both have in common.

        Args:
            describe: The state that looks at the job.
        """

    @abstractmethod
    def actions(self, *, jobs: str, managed_rule: str) -> list[tuple[list[str], str]]:
        """Actions that the state machine's role needs, each list with the ARN it is about.

        Args:
            jobs: Pattern of the ARNs of the job's runs.
            managed_rule: ARN of the event rule by which Step Functions learns of the end of training jobs.
        """


class SdkCall(StartCall):
    """The API itself: every member of the request, and a job that Step Functions does not wait for."""

    resource = "aws-sdk:sagemaker:createTrainingJob"
    next_state = "Wait"
    error_state = "MayRetry"
    passes_arguments = True

    def sent(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The whole request."""
        return dict(request)

    def findings(self, request: Mapping[str, Any]) -> Iterable[Finding]:
        """Nothing is refused."""
        del request
        return ()

    def states(self, describe: Mapping[str, Any]) -> dict[str, Any]:
        """No more states."""
        del describe
        return {}

    def actions(self, *, jobs: str, managed_rule: str) -> list[tuple[list[str], str]]:
        """Create, with tags, and look."""
        del managed_rule
        return [(["sagemaker:AddTags", "sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob"], jobs)]


class OptimizedCall(StartCall):
    """`createTrainingJob.sync`: fewer members, and Step Functions waits for the job.

    An error of it is either the API's, or a job that ended badly: a look at the job tells which.
    """

    resource = "sagemaker:createTrainingJob.sync"
    next_state = "Describe"
    error_state = "LookAfterError"
    passes_arguments = False

    def sent(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request without switches that say what holds anyway."""
        return {name: value for name, value in request.items() if value is not False}

    def findings(self, request: Mapping[str, Any]) -> Iterable[Finding]:
        """Members that the integration is not known to take."""
        return rules.optimized_members(self.sent(request), step_functions_members())

    def states(self, describe: Mapping[str, Any]) -> dict[str, Any]:
        """The look at a job of which only an error is known; there may be none."""
        few_times = {**describe["Retry"][0], "MaxAttempts": 3}
        catch = {"ErrorEquals": ["States.ALL"], "Next": "MayRetry"}
        return {"LookAfterError": {**describe, "Retry": [few_times], "Catch": [catch]}}

    def actions(self, *, jobs: str, managed_rule: str) -> list[tuple[list[str], str]]:
        """What Step Functions documents for this integration.

        Source: https://docs.aws.amazon.com/step-functions/latest/dg/sagemaker-iam.html
        """
        return [
            (
                [
                    "sagemaker:AddTags",
                    "sagemaker:CreateTrainingJob",
                    "sagemaker:DescribeTrainingJob",
                    "sagemaker:StopTrainingJob",
                ],
                jobs,
            ),
            (["sagemaker:ListTags"], "*"),
            (["events:DescribeRule", "events:PutRule", "events:PutTargets"], managed_rule),
        ]


_CALLS: Mapping[str, type[StartCall]] = {"sdk": SdkCall, "optimized": OptimizedCall}


def start_call(integration: Integration) -> StartCall:
    """The way of that name.

    Raises:
        ConfigurationError: There is none.
    """
    raise_errors(rules.integration(integration))
    return _CALLS[integration]()


def problem(source: str, error: str, cause: str) -> dict[str, Any]:
    """The variable that `MayRetry` and `NotStarted` read; an error may come without a cause."""

    def text(member: str) -> str:
        return expression(f'$exists($states.{source}.{member}) ? $states.{source}.{member} : ""')

    return {"problem": {"error": text(error), "cause": text(cause)}}
