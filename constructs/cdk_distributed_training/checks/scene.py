"""One document under one choice: what rules find their subjects in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

from cdk_distributed_training.checks.template.document import Document, Kind
from cdk_distributed_training.checks.template.graph import Graph
from cdk_distributed_training.checks.template.view import NotJudgedError, Path
from cdk_distributed_training.checks.template.worlds import World


class Subject(Protocol):
    """What a rule looks at."""

    @property
    def path(self) -> Path:
        """Where it is in the document."""

    @classmethod
    def find(cls, scene: Scene) -> Any:
        """All subjects of this kind in a scene."""


SubjectT = TypeVar("SubjectT", bound=Subject)


class Scene:
    """One document under one choice of parameters and conditions.

    Attributes:
        document: The document.
        world: The choice.
        graph: Its resources; without any where the document is no template.
    """

    def __init__(self, document: Document, world: World) -> None:
        """Find nothing yet."""
        self.document = document
        self.world = world
        template = document.source.content if document.kind is Kind.TEMPLATE else {}
        self.graph = Graph(template, world, region=document.region)
        self._found: dict[type[Any], list[Any]] = {}

    def all(self, kind: type[SubjectT]) -> list[SubjectT]:
        """The subjects of one kind, found once."""
        if kind not in self._found:
            self._found[kind] = list(self._find(kind))
        return self._found[kind]

    def _find(self, kind: type[Any]) -> Iterator[Any]:
        try:
            yield from kind.find(self)
        except NotJudgedError:
            return  # a resource whose properties are one token: nothing is to be found in it
