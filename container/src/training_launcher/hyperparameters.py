r"""Hyperparameters, from ``hyperparameters.json`` to the script's arguments.

| in the file | argument | |
|---|---|---|
| `"3e-4"` | `--lr 3e-4` | text is never touched: no number is parsed, no quote, newline or letter changed |
| `"[1, 2]"`, `"{\"a\": 1}"` | `--sizes '[1, 2]'` | lists and objects stay the JSON that was given |
| `"true"` | `--amp true` | with `--boolean-hyperparameters flag`: `--amp`, and nothing for `false` |
| `"\"adam\""` | `--optimizer adam` | the SageMaker Python SDK encodes each value as JSON; see `is_json_encoded` |
| `"--quiet"` | `--extra=--quiet` | a leading dash, which parsers would take for an option, unless it is a number |
| `0.1`, `true`, `[1]` (not text) | as JSON writes them | a file written by hand |
| `sagemaker_*`, `_tuning_objective_metric` | none | the service's and the SDK's own |
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from training_launcher.json_file import Number, plain, read_json_object
from training_launcher.problems import Problem

CHANNEL = "launcher-hyperparameters"
"""Input channel with the hyperparameters that the API has no room for, in a JSON file of names and texts."""

RESERVED = re.compile(r"sagemaker_.*|default_user_module_name|_tuning_objective_metric")
_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


def read_hyperparameters(config_directory: str, encoding: str = "auto") -> dict[str, str]:
    """The job's hyperparameters as text, the reserved ones among them, ordered by name.

    The order is by name because the service keeps none, and every host must come to the same command line. Those of the
    channel `CHANNEL` are among them; where one has a value in ``hyperparameters.json`` too, that one counts, as a run
    may override it.

    Args:
        config_directory: Where ``hyperparameters.json`` lies; without the file there are none. The folders of channels
            are in ``../data``.
        encoding: ``json`` (every value is JSON, as the SageMaker Python SDK 2 writes), ``plain``, or ``auto``.

    Raises:
        Problem: The file is no JSON object, or a value cannot become an argument.
    """
    path = os.path.join(config_directory, "hyperparameters.json")
    content = {**_of_channel(os.path.join(config_directory, "..", "data", CHANNEL)), **(read_json_object(path) or {})}
    values = {name: _text(value) for name, value in sorted(content.items())}
    for name, value in values.items():
        if not name:
            raise Problem(f"{path}: a hyperparameter has an empty name (value {value!r})")
        if "\0" in name + value:
            raise Problem(f"{path}: hyperparameter {name!r} holds a NUL character, which no argument can carry")
    if encoding == "json" or (encoding == "auto" and is_json_encoded(values)):
        return {name: _decode(value) for name, value in values.items()}
    return values


def _of_channel(directory: str) -> dict[str, Any]:
    """What the files of the channel hold; nothing if there is no such channel."""
    content: dict[str, Any] = {}
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        if name.endswith(".json"):
            content.update(read_json_object(os.path.join(directory, name)) or {})
    return content


def is_json_encoded(values: Mapping[str, str]) -> bool:
    """Whether every value is JSON, as the SageMaker Python SDK 2 writes them: then text wears quotes to take off.

    A single value that is no JSON, such as ``adam``, shows that the values are plain, and then all stay as they are.
    """
    return all(_is_json(value) for value in values.values())


def to_arguments(hyperparameters: Mapping[str, str], *, booleans: str = "value") -> list[str]:
    """The script's arguments.

    Args:
        hyperparameters: As `read_hyperparameters` gives them.
        booleans: ``value`` for ``--amp true``; ``flag`` for ``--amp``, and nothing when false.
    """
    arguments = []
    for name, value in hyperparameters.items():
        if RESERVED.fullmatch(name):
            continue
        if booleans == "flag" and value in _BOOLEANS:
            arguments += [f"--{name}"] if _BOOLEANS[value] else []
        elif value.startswith("-") and not _NUMBER.fullmatch(value):
            arguments.append(f"--{name}={value}")
        else:
            arguments += [f"--{name}", value]
    return arguments


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Number):
        return value.text
    return json.dumps(plain(value), ensure_ascii=False)


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _decode(value: str) -> str:
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return decoded if isinstance(decoded, str) else value
