"""CDK tokens among values: known values are judged, tokens are passed on unharmed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import aws_cdk as cdk

# CDK hides tokens in text behind these marks, and in numbers far below any that means something:
# https://docs.aws.amazon.com/cdk/v2/guide/tokens.html
_MARKS = ("${Token[", "#{Token[")
_LOWEST_NUMBER = -1e288


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
