"""What the other engines know of a job: its request, and as whom and under which name it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from aws_cdk import aws_iam as iam
from aws_cdk import aws_stepfunctions as sfn
from constructs import Node

from cdk_distributed_training.engines.run_calls import RunCalls


class ITrainingDefinition(Protocol):
    """A job that is defined, such as a `DistributedTrainingJob`."""

    @property
    def node(self) -> Node:
        """The job's place in the construct tree."""

    @property
    def job_name(self) -> str:
        """The job's own name."""

    @property
    def role(self) -> iam.IRole:
        """The role that the job runs as."""

    @property
    def request(self) -> Mapping[str, Any]:
        """The `CreateTrainingJob` request without a name; tokens may be anywhere in it."""


class IStartableTraining(Protocol):
    """Anything of which an execution of a state machine is one run."""

    @property
    def state_machine(self) -> sfn.IStateMachine:
        """The state machine; its input is `{"hyperparameters": {...}, "instance_count": n}`, both optional."""


@runtime_checkable
class IListedTraining(Protocol):
    """Anything else that runs, and says itself how its runs are listed and started."""

    def run_calls(self, *, hyperparameters: Mapping[str, str], instance_count: float | None) -> RunCalls:
        """The calls.

        Args:
            hyperparameters: Overrides of each run, as text.
            instance_count: Number of machines of each run; the job's own if `None`.
        """
