"""CDK tokens among the values of a job: known values are judged, tokens are passed on unharmed."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.request.hyperparameters import hyperparameter_text

# CDK hides tokens in text behind these marks, and in numbers far below any that means something:
# https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
_MARKS = ("${Token[", "#{Token[")
_LOWEST_NUMBER = -1e288


@functools.cache
def partition() -> str:
    """The partition that a stack is deployed to, as a token; one call into Node.js for all apps."""
    return cdk.Aws.PARTITION


def known(value: object) -> bool:
    """Whether a value is a literal, all through; a token's value is unknown until deployment.

    CDK is asked only where there is a doubt: asking crosses into Node.js, and numbers that are not finite end it.
    """
    if isinstance(value, Mapping):
        return all(known(name) and known(item) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(known(item) for item in value)
    if isinstance(value, str):
        return not any(mark in value for mark in _MARKS)
    if isinstance(value, float):
        return not (math.isfinite(value) and value < _LOWEST_NUMBER and cdk.Token.is_unresolved(value))
    return not (hasattr(value, "resolve") and cdk.Token.is_unresolved(value))


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
