"""How parameters of SageMaker's model parallel library go onto the launcher's command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast


def parameter_arguments(parameters: Mapping[str, object]) -> list[str | int]:
    """`--parameter NAME VALUE` for each, the value as JSON.

    Numbers and text stay what they are, so that they may be CDK tokens; text is JSON only if it could be taken for
    another value.
    """
    return [word for name, value in parameters.items() for word in ("--parameter", name, _word(value))]


def _word(value: object) -> str | int:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return cast("int", value)  # a number that is a CDK token is a float, whatever it stands for
    if isinstance(value, str) and not _is_json(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
