"""CDK tokens among the values of a job: known values are judged, tokens are passed on unharmed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.request.hyperparameters import hyperparameter_text


def known(value: object) -> bool:
    """Whether a value is a literal, all through; a token's value is unknown until deployment."""
    if isinstance(value, Mapping):
        return all(known(name) and known(item) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(known(item) for item in value)
    return not cdk.Token.is_unresolved(value)


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
