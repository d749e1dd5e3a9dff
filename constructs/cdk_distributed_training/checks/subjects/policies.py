"""What roles of a template may do, and who may take them."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.state_machine import StateMachine
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import PartialText, Token
from cdk_distributed_training.checks.template.view import NotJudgedError, Path, View, values

ROLE = "AWS::IAM::Role"
_POLICIES = ("AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::ManagedPolicy")


@dataclass(frozen=True)
class Statement:
    """One statement of a policy.

    Attributes:
        view: Its members.
        path: Where it is in the document.
    """

    view: View
    path: Path

    @property
    def allows(self) -> bool:
        """Whether it allows something."""
        return self.view.text("Effect") == "Allow"

    @property
    def actions(self) -> list[str]:
        """Its actions, as far as they are literal."""
        return [action for action in values(self.view, "Action") if isinstance(action, str)]

    @property
    def resources(self) -> list[Any]:
        """Its resources, tokens included."""
        return values(self.view, "Resource")

    def names(self, action: str) -> bool:
        """Whether one of its actions is, or by wildcard contains, the given one.

        Raises:
            NotJudgedError: None is, but one is settled only at deployment.
        """
        if any(fnmatch.fnmatchcase(action.lower(), pattern.lower()) for pattern in self.actions):
            return True
        if any(isinstance(item, Token) for item in values(self.view, "Action")):
            raise NotJudgedError(("Policies",))
        return False

    def has_condition_on(self, *keys: str) -> bool:
        """Whether a condition is about one of these keys."""
        return any(
            key.lower() in (name.lower() for name, _ in operator.entries())
            for _, operator in self.view.entries("Condition")
            for key in keys
        )


@dataclass(frozen=True)
class Role:
    """One role that the template makes.

    Attributes:
        resource: The resource.
        graph: The template around it.
    """

    resource: Resource
    graph: Graph

    @property
    def path(self) -> Path:
        """Where its properties are."""
        return self.resource.properties.path

    @property
    def view(self) -> View:
        """Its properties."""
        return View(self.resource.properties.value)

    @property
    def trust(self) -> list[Statement]:
        """The statements of who may take it."""
        return list(_statements(self.view.view("AssumeRolePolicyDocument"), self.path))

    @property
    def trusted_services(self) -> list[Any]:
        """The services that may take it, tokens included."""
        return [
            service
            for statement in self.trust
            if statement.allows and not isinstance(statement.view.raw("Principal"), str)
            for service in values(statement.view, "Principal", "Service")
        ]

    @functools.cached_property
    def statements(self) -> list[Statement]:
        """The statements of all policies that this template gives it; managed policies of others are not among them."""
        return list(self._all_statements())

    @functools.cached_property
    def managed_policies(self) -> list[Any]:
        """Its managed policies, tokens included."""
        return values(self.view, "ManagedPolicyArns")

    def may(self, action: str) -> bool:
        """Whether a statement names the action, on whatever resource.

        Raises:
            NotJudgedError: None does, but the role has policies that this template does not hold.
        """
        doubt: NotJudgedError | None = None
        for statement in self.statements:
            try:
                if statement.allows and statement.names(action):
                    return True
                if statement.allows and statement.view.has("NotAction"):
                    doubt = NotJudgedError(("Policies",))
            except NotJudgedError as error:
                doubt = error
        if doubt is None and any(not self._is_here(policy) for policy in self.managed_policies):
            doubt = NotJudgedError(("ManagedPolicyArns",))
        if doubt is not None:
            raise doubt
        return False

    def _is_here(self, policy: Any) -> bool:
        return self.graph.target(policy, "AWS::IAM::ManagedPolicy") is not None

    def _all_statements(self) -> Iterator[Statement]:
        for index, policy in enumerate(self.view.items("Policies")):
            yield from _statements(policy.view("PolicyDocument"), (*self.path, "Policies", index))
        for resource in self.graph.perhaps_of_type(*_POLICIES):
            if self._has(resource):
                yield from _statements(View(resource.properties.raw("PolicyDocument")), resource.properties.path)

    def _has(self, policy: Resource) -> bool:
        properties = View(policy.properties.value)
        named = [*values(properties, "Roles"), properties.raw("RoleName")]
        attached = any(self.graph.target(value, ROLE) is self.resource for value in named)
        return attached or any(
            self.graph.target(value, "AWS::IAM::ManagedPolicy") is policy for value in self.managed_policies
        )


@dataclass(frozen=True)
class JobRole:
    """The role that a training job's containers work with.

    Attributes:
        request: The job.
        role: Its role.
    """

    request: TrainingRequest
    role: Role

    @property
    def path(self) -> Path:
        """Where the role's properties are."""
        return self.role.path

    @classmethod
    def find(cls, scene: Scene) -> Iterator[JobRole]:
        """Every job whose role is made by its template."""
        for request in scene.all(TrainingRequest):
            arn = request.view.raw("RoleArn") if not isinstance(request.value, Token) else None
            resource = scene.graph.target(arn, ROLE)
            if resource is not None and resource.exists:
                yield cls(request, Role(resource, scene.graph))


@dataclass(frozen=True)
class StateMachineRole:
    """The role that a state machine calls SageMaker with.

    Attributes:
        machine: The state machine.
        role: Its role.
    """

    machine: StateMachine
    role: Role

    @property
    def path(self) -> Path:
        """Where the role's properties are."""
        return self.role.path

    @classmethod
    def find(cls, scene: Scene) -> Iterator[StateMachineRole]:
        """Every state machine whose role is made by its template."""
        for machine in scene.all(StateMachine):
            arn = machine.resource.properties.raw("RoleArn") if machine.resource else None
            resource = scene.graph.target(arn, ROLE)
            if resource is not None and resource.exists:
                yield cls(machine, Role(resource, scene.graph))


def is_service(value: Any, name: str) -> bool:
    """Whether a principal is an AWS service, in any partition."""
    text = str(value) if isinstance(value, (str, PartialText)) else ""
    return text.startswith(f"{name}.")


def _statements(document: View, base: Path) -> Iterator[Statement]:
    for statement in document.items("Statement"):
        yield Statement(View(statement.value), (*base, *statement.path))
