"""Hyperparameters as the text that the API wants, exactly."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from cdk_distributed_training.request.limits import HYPERPARAMETERS


def hyperparameter_text(value: Any) -> str:
    """The text of one value: strings as they are, anything else as JSON.

    So `False` becomes `false`, `[1e-4, 2e-4]` becomes `[0.0001, 0.0002]` and `None` becomes `null`; reading the text
    with a JSON parser gives the value back.

    Raises:
        ValueError: The number is not finite, which JSON has no word for.
        TypeError: The value is not made of what JSON can hold.
    """
    if isinstance(value, str):
        return value
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def number_text(value: float) -> str:
    """A finite number as JSONata writes it, which the state machine does with numbers in the execution input.

    At most 15 significant digits, then as ECMAScript does: `1e-7`, `0.3`, `3`, `1e+21`.
    Sources: https://docs.jsonata.org/string-functions#string, https://tc39.es/ecma262/#sec-numeric-types-number-tostring
    """
    rounded = float(f"{float(value):.14e}")
    if rounded == 0:
        return "0"
    if math.isinf(rounded):
        # rounding has left the range of double precision, which JSON has no word for
        return "null"
    sign, digits, exponent = Decimal(repr(rounded)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    return ("-" if sign else "") + _positional(text, point)


def _positional(digits: str, point: int) -> str:
    """Digits with the decimal point after the first `point` of them, in ECMAScript's choice of notation."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def split_hyperparameters(
    values: Mapping[str, str], *, known: Callable[[object], bool]
) -> tuple[dict[str, str], dict[str, str]]:
    """The hyperparameters that the API takes, and those for which it has no room.

    Too long ones go; then, if there are too many, the last ones. Tokens stay with the API, since a file is written
    before they are settled.

    Args:
        values: Names and texts.
        known: Whether a value is a literal.
    """
    kept: dict[str, str] = {}
    spilled: dict[str, str] = {}
    literal_room = HYPERPARAMETERS.most - sum(not known([name, value]) for name, value in values.items())
    for name, value in values.items():
        literal = known([name, value])
        if literal and (len(value) > HYPERPARAMETERS.value.longest or literal_room <= 0):
            spilled[name] = value
        else:
            kept[name] = value
            literal_room -= literal
    return kept, spilled
