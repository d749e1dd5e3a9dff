"""Training jobs: every CreateTrainingJob request that a document holds."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.state_machine import StateMachine
from cdk_distributed_training.checks.template.definition import read_definition
from cdk_distributed_training.checks.template.document import Kind
from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.graph import Graph
from cdk_distributed_training.checks.template.values import PartialText, Unknown
from cdk_distributed_training.checks.template.view import NotJudgedError, Path, View
from cdk_distributed_training.data.tables import InstanceType, instance_types

# families whose EFA interfaces SageMaker gives to a training job's containers for certain
_EFA_FAMILIES = ("ml.p", "ml.trn")

# members that an execution chooses, or that the engine which sends the request adds to
_CHOSEN = {"TrainingJobName", "HyperParameters", "Environment", "Tags", "ExperimentConfig"}


@dataclass(frozen=True)
class TrainingRequest:
    """One request.

    Attributes:
        value: Its members; expressions are tokens.
        path: Where it is in the document.
        graph: The template around it.
        names_itself: Whether the request brings its `TrainingJobName`; a pipeline or a launcher may add it.
    """

    value: Any
    path: Path
    graph: Graph
    names_itself: bool = True

    @functools.cached_property
    def view(self) -> View:
        """Its members."""
        return View(self.value)

    @property
    def channels(self) -> list[View]:
        """Its input channels."""
        return self.view.items("InputDataConfig")

    @property
    def instance_types(self) -> list[str]:
        """The names of all types that it may run on."""
        config = self.view.view("ResourceConfig")
        rows = [*config.items("InstanceGroups"), *config.items("InstancePreferences"), config]
        return [name for name in (row.text("InstanceType") for row in rows) if name]

    @property
    def machines(self) -> list[InstanceType]:
        """What is known of these types; empty if the table lacks one."""
        machines = [instance_types().get(name) for name in self.instance_types]
        return [machine for machine in machines if machine] if all(machines) else []

    @property
    def instance_count(self) -> float:
        """The number of machines, 1 if none is given."""
        config = self.view.view("ResourceConfig")
        groups = config.items("InstanceGroups")
        if groups:
            return sum(group.number("InstanceCount") or 1 for group in groups)
        return config.number("InstanceCount") or 1

    @property
    def uses_efa(self) -> bool:
        """Whether its machines talk to each other by EFA."""
        machines = self.machines
        return bool(machines) and all(
            machine.efa_interfaces and machine.name.startswith(_EFA_FAMILIES) for machine in machines
        )

    @property
    def image(self) -> str | PartialText | None:
        """The container image's address, tokens in their places."""
        image = self.view.view("AlgorithmSpecification").raw("TrainingImage")
        if isinstance(image, (str, PartialText)) or image is None:
            return image
        raise NotJudgedError(("AlgorithmSpecification", "TrainingImage"))

    @property
    def hyperparameters(self) -> Mapping[str, Any]:
        """Its hyperparameters; single values may be tokens."""
        return {name: view.value for name, view in self.view.entries("HyperParameters")}

    @classmethod
    def find(cls, scene: Scene) -> Iterator[TrainingRequest]:
        """Every request of a document, and those that constructs left beside it and it does not have itself."""
        found = list(cls._inside(scene))
        yield from found
        for path, request in scene.document.requests.items():
            left = cls(scene.graph.resolve(request), ("Metadata", path), scene.graph, names_itself=False)
            if not any(left.is_within(other) for other in found):
                yield left

    def is_within(self, other: TrainingRequest) -> bool:
        """Whether another request is this one, apart from what may be chosen for each run."""
        if not isinstance(self.value, Mapping) or not isinstance(other.value, Mapping):
            return False
        members = self.value.keys() - _CHOSEN
        return all(_matches(self.value[name], other.value.get(name)) for name in members)

    @classmethod
    def _inside(cls, scene: Scene) -> Iterator[TrainingRequest]:
        content, graph = scene.document.source.content, scene.graph
        if scene.document.kind is Kind.REQUEST:
            yield cls(content, (), graph, names_itself="TrainingJobName" in content)
        elif scene.document.kind is Kind.PIPELINE:
            yield from cls._of_pipeline(content, (), graph)
        for machine in scene.all(StateMachine):
            yield from cls._of_state_machine(machine)
        for resource in graph.of_type("AWS::SageMaker::TrainingJob"):
            yield cls(resource.properties.value, resource.properties.path, graph)
        for resource in graph.of_type("AWS::SageMaker::Pipeline"):
            text = View(resource.properties.value).raw("PipelineDefinition")
            key = "PipelineDefinitionBody"
            body = _json(text.get(key)) if isinstance(text, Mapping) else None
            yield from cls._of_pipeline(body, (*resource.properties.path, "PipelineDefinition", key), graph)
        for resource in graph.of_type("AWS::Scheduler::Schedule"):
            target = View(resource.properties.value).raw("Target")
            if isinstance(target, Mapping) and str(target.get("Arn")).endswith("sagemaker:createTrainingJob"):
                yield from cls._of_text(target.get("Input"), (*resource.properties.path, "Target", "Input"), graph)

    @classmethod
    def _of_state_machine(cls, machine: StateMachine) -> Iterator[TrainingRequest]:
        for state in machine.tasks("sagemaker:createTrainingJob"):
            key, view = state.arguments_key, state.arguments
            if isinstance(view.value, Mapping):
                yield cls(view.value, (*machine.path, *state.path, key), machine.graph)
        for state in machine.tasks("batch:submitServiceJob"):
            key, view = state.arguments_key, state.arguments
            payload = view.value.get("ServiceRequestPayload") if isinstance(view.value, Mapping) else None
            yield from cls._of_text(payload, (*machine.path, *state.path, key, "ServiceRequestPayload"), machine.graph)

    @classmethod
    def _of_text(cls, text: Any, path: Path, graph: Graph) -> Iterator[TrainingRequest]:
        request = _json(text)
        if isinstance(request, dict):
            yield cls(request, path, graph, names_itself="TrainingJobName" in request)

    @classmethod
    def _of_pipeline(cls, pipeline: Any, path: Path, graph: Graph) -> Iterator[TrainingRequest]:
        steps = pipeline.get("Steps") if isinstance(pipeline, dict) else None
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            if isinstance(step, dict) and step.get("Type") == "Training":
                request = _without_pipeline_variables(step.get("Arguments"))
                yield cls(request, (*path, "Steps", index, "Arguments"), graph, names_itself=False)


def _matches(value: Any, other: Any) -> bool:
    """Whether two values are one, or may be: an expression stands for what is settled at run time."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return all(_matches(item, other.get(name)) for name, item in value.items())
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        return all(map(_matches, value, other))
    return isinstance(other, Unknown) or bool(value == other)


def _json(text: Any) -> Any:
    try:
        return read_definition(text) if isinstance(text, (str, PartialText)) else text
    except UnreadableFileError:
        return None  # not JSON, so not a request that anything could be said of


def _without_pipeline_variables(node: Any) -> Any:
    """A step's arguments with `{"Get": "Parameters.X"}` and its like as tokens."""
    if isinstance(node, dict):
        if len(node) == 1 and next(iter(node)) in ("Get", "Std:Join", "Std:JsonGet"):
            return Unknown(json.dumps(node, sort_keys=True, default=str))
        return {key: _without_pipeline_variables(value) for key, value in node.items()}
    return [_without_pipeline_variables(item) for item in node] if isinstance(node, list) else node
