"""moto parses JSONata expressions and has no engine that evaluates them: its evaluator is `None`.

jsonata-python is one. Of the functions that Step Functions adds to JSONata, moto declares `$uuid`, `$hash` and `$parse`
as stubs; here they work. Good for everybody who uses moto: written so that it could go upstream.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html
"""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

from jsonata import Jsonata
from moto.stepfunctions.parser.asl.component.intrinsic import jsonata as intrinsic
from moto.stepfunctions.parser.asl.jsonata import jsonata as engine

_STUBS = ("$uuid", "$hash", "$parse")


def install() -> None:
    """Give moto the engine, and take its stubs away."""
    engine._eval_jsonata = evaluate
    for name in _STUBS:
        intrinsic._DECLARATION_BY_VARIABLE_REFERENCE.pop(name, None)


def evaluate(expression: str) -> Any:
    """The value of an expression that declares its own variables.

    Raises:
        JSONataException: The expression does not parse, or fails; moto turns it into a failed state.
    """
    try:
        parsed = Jsonata(expression)
        parsed.register_lambda("uuid", lambda: str(uuid.uuid4()))
        parsed.register_lambda("hash", _hash)
        parsed.register_lambda("parse", json.loads)
        return parsed.evaluate(None)
    except Exception as error:
        raise engine.JSONataException("UNKNOWN", str(error)) from error


def _hash(value: str, algorithm: str) -> str:
    return hashlib.new(algorithm.replace("-", "").lower(), value.encode()).hexdigest()
