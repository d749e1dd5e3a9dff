"""Read the JSON files of ``/opt/ml/input/config``, with messages for people."""

from __future__ import annotations

import json
import re
from typing import Any

from training_launcher.problems import Problem


def read_json_object(path: str) -> dict[str, Any] | None:
    """A JSON file that must hold an object; None when there is no such file.

    Raises:
        Problem: The file cannot be read, is no JSON, or holds something else; says which and where.
    """
    try:
        with open(path, encoding="utf-8") as file:
            # numbers stay text: what the user wrote as 1e-7 must not come out as 1e-07
            content = json.load(file, parse_float=Number, parse_int=Number)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise Problem(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise Problem(f"{path} must hold a JSON object, got {type(content).__name__}")
    return content


class Number(float):
    """A JSON number that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def plain(value: Any) -> Any:
    """The value with ordinary numbers, as `json.dumps` wants them."""
    if isinstance(value, Number):
        return int(value.text) if re.fullmatch(r"-?\d+", value.text) else float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value
