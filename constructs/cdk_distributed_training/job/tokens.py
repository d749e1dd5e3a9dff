"""Texts in which tokens may be, and the token that every job names."""

from __future__ import annotations

import functools
from typing import Any

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.request.hyperparameters import hyperparameter_text
from cdk_distributed_training.tokens import known


@functools.cache
def partition() -> str:
    """The partition that a stack is deployed to, as a token; one call into Node.js for all apps."""
    return cdk.Aws.PARTITION


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
