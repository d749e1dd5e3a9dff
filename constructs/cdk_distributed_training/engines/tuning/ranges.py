"""What a tuning job may choose for a hyperparameter."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import tuning as rules
from cdk_distributed_training.checks.words import unknown_words
from cdk_distributed_training.request.hyperparameters import hyperparameter_text
from cdk_distributed_training.tokens import known

Scaling = Literal["Auto", "Linear", "Logarithmic", "ReverseLogarithmic"]


class TunedRange(ABC):
    """Values from which a tuning job chooses.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automatic-model-tuning-define-ranges.html

    Attributes:
        member: Where the API lists ranges of this kind.
    """

    member: str

    @abstractmethod
    def findings(self, name: str) -> Iterator[Finding]:
        """What is wrong with it, as a range for the hyperparameter `name`."""

    @abstractmethod
    def render(self, name: str) -> dict[str, Any]:
        """The range as the API has it."""


@dataclass(frozen=True)
class ContinuousRange(TunedRange):
    """Any number between two.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        scaling: How the range is searched; SageMaker chooses unless given. `Logarithmic` suits learning rates.
    """

    low: float
    high: float
    scaling: Scaling = "Auto"
    member = "ContinuousParameterRanges"

    def findings(self, name: str) -> Iterator[Finding]:
        """Bounds that leave nothing between them, or no logarithm."""
        yield from unknown_words(f"ranges[{name!r}].scaling", [self.scaling], Scaling)
        if not known((self.low, self.high)):
            return
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            yield from rules.no_range(name, f"from {self.low:g} to {self.high:g}", "finite bounds")
            return
        if not self.low < self.high:
            yield from rules.no_range(name, f"from {self.low:g} to {self.high:g}", "an upper bound above the lower one")
        if self.scaling == "Logarithmic" and self.low <= 0:
            yield from rules.no_range(name, f"{self.low:g} with Logarithmic", "a lower bound above 0")
        if self.scaling == "ReverseLogarithmic" and not (self.low >= 0 and self.high < 1):
            yield from rules.no_range(
                name, f"{self.low:g} to {self.high:g}", "bounds from 0 to below 1 with this scale"
            )

    def render(self, name: str) -> dict[str, Any]:
        """The range as the API has it."""
        return {
            "Name": name,
            "MinValue": _text(self.low),
            "MaxValue": _text(self.high),
            "ScalingType": self.scaling,
        }


@dataclass(frozen=True)
class IntegerRange(ContinuousRange):
    """Any whole number between two, these included.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        scaling: How the range is searched; SageMaker chooses unless given.
    """

    member = "IntegerParameterRanges"

    def findings(self, name: str) -> Iterator[Finding]:
        """Bounds with fractions, and all that a range of numbers may have."""
        yield from super().findings(name)
        for bound in (self.low, self.high):
            if known(bound) and math.isfinite(bound) and bound != int(bound):
                yield from rules.no_range(name, f"{bound:g}", "whole numbers")
        if self.scaling == "ReverseLogarithmic":
            yield from rules.no_range(name, "ReverseLogarithmic", "another scale: this one is for continuous ranges")


@dataclass(frozen=True)
class CategoricalRange(TunedRange):
    """One of several values.

    Attributes:
        values: At most 30 values; text as it is, anything else as JSON, as the job's own hyperparameters.
    """

    values: Sequence[Any]
    member = "CategoricalParameterRanges"

    def findings(self, name: str) -> Iterator[Finding]:
        """Too few or too many values, or one that has no text."""
        for value in self.values:
            if isinstance(value, float) and not math.isfinite(value):
                yield from rules.no_range(name, f"{value:g}", "finite numbers")
        if not 1 <= len(self.values) <= 30:
            yield from rules.no_range(name, f"{len(self.values)} values", "1 to 30 values")

    def render(self, name: str) -> dict[str, Any]:
        """The range as the API has it."""
        return {"Name": name, "Values": [_text(value) for value in self.values]}


def rendered_ranges(ranges: Mapping[str, TunedRange]) -> dict[str, list[dict[str, Any]]]:
    """All ranges as the API lists them, by kind."""
    listed: dict[str, list[dict[str, Any]]] = {}
    for name, chosen in ranges.items():
        listed.setdefault(chosen.member, []).append(chosen.render(name))
    return listed


def _text(value: Any) -> str:
    if isinstance(value, float) and not known(value):
        return cdk.Tokenization.stringify_number(value)
    return hyperparameter_text(value)
