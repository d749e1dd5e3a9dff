"""Hyperparameters and environment variables of any type as text, tokens unharmed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.request import value_kind
from cdk_distributed_training.request.hyperparameters import hyperparameter_text
from cdk_distributed_training.tokens import known


def texts(scope: IConstruct, prop: str, values: Mapping[str, Any]) -> tuple[dict[str, str], list[Finding]]:
    """The text of every value, and a finding for each that has none."""
    rendered: dict[str, str] = {}
    findings: list[Finding] = []
    for name, value in values.items():
        try:
            rendered[name] = text(scope, value)
        except (TypeError, ValueError) as error:
            findings.append(value_kind(prop, name, value, str(error)))
    return rendered, findings


def text(scope: IConstruct, value: Any) -> str:
    """The text of a hyperparameter, an environment variable or an argument; tokens may be anywhere in it.

    Raises:
        TypeError, ValueError: JSON cannot hold the value.
    """
    if isinstance(value, str) or known(value):
        return hyperparameter_text(value)
    if isinstance(value, (int, float)):
        return cdk.Tokenization.stringify_number(value)
    return cdk.Stack.of(scope).to_json_string(value)
