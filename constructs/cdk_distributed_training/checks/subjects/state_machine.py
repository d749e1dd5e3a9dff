"""State machines, in templates and in definition files."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.template import definition as definitions
from cdk_distributed_training.checks.template.document import Kind
from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import PartialText, Token
from cdk_distributed_training.checks.template.view import Path


@dataclass(frozen=True)
class StateMachine:
    """One state machine whose definition can be read.

    Attributes:
        definition: The definition; tokens stand for what is settled at deployment.
        path: Where the definition is in the document.
        graph: The template around it.
        resource: The resource that it belongs to; None for a definition file.
    """

    definition: Any
    path: Path
    graph: Graph
    resource: Resource | None = None

    @functools.cached_property
    def states(self) -> list[definitions.State]:
        """All its states, nested ones too."""
        return list(definitions.states(self.definition))

    @property
    def is_whole(self) -> bool:
        """Whether every state and everything that a task calls is literal."""
        return definitions.is_literal(self.definition, ("States", "Resource", "Iterator", "ItemProcessor", "Branches"))

    @property
    def waits_elsewhere(self) -> bool:
        """Whether a state waits for someone else to call back, or hands the job on to another state machine."""
        return any("waitForTaskToken" in state.resource or "lambda" in state.resource for state in self.states)

    def tasks(self, *endings: str) -> Iterator[definitions.State]:
        """The states that call one of these, such as `sagemaker:createTrainingJob`."""
        for state in self.states:
            if state.resource.removesuffix(".sync").endswith(endings):
                yield state

    @classmethod
    def find(cls, scene: Scene) -> Iterator[StateMachine]:
        """Every state machine of a document."""
        if scene.document.kind is Kind.DEFINITION:
            yield cls(scene.document.source.content, (), scene.graph)
        for resource in scene.graph.of_type("AWS::StepFunctions::StateMachine", "AWS::Serverless::StateMachine"):
            yield from cls._of_resource(resource, scene.graph)

    @classmethod
    def _of_resource(cls, resource: Resource, graph: Graph) -> Iterator[StateMachine]:
        properties = resource.properties
        for key in ("DefinitionString", "Definition"):
            found = properties.raw(key) if not isinstance(properties.value, Token) else None
            if isinstance(found, (str, PartialText)):
                try:
                    found = definitions.read_definition(found)
                except UnreadableFileError:
                    continue  # not JSON, which CloudFormation says better
            if isinstance(found, dict):
                names = properties.raw("DefinitionSubstitutions")
                found = definitions.substitute(found, names if isinstance(names, Mapping) else {})
                yield cls(found, (*resource.path, "Properties", key), graph, resource)


def is_sync(state: definitions.State) -> bool:
    """Whether a task waits for the job to end by itself: the optimized integration with `.sync`."""
    return state.resource.endswith(".sync")


def is_optimized(state: definitions.State) -> bool:
    """Whether a task uses Step Functions' own integration and not the SDK's."""
    return "aws-sdk:" not in state.resource
