"""Parameters of SageMaker's model parallel library, which scripts find as the hyperparameter ``mp_parameters``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from training_launcher.problems import Problem

HYPERPARAMETER = "mp_parameters"


def add_parameters(parser: argparse.ArgumentParser) -> None:
    """Add ``--parameter``."""
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        nargs=2,
        metavar=("NAME", "VALUE"),
        help="a parameter of the library, its value as JSON, or text where it is no JSON; may be repeated; goes before "
        f"the same one in the hyperparameter {HYPERPARAMETER}",
    )


def with_parameters(options: argparse.Namespace, hyperparameters: Mapping[str, str]) -> dict[str, str]:
    """The hyperparameters with ``mp_parameters``, from which ``SM_HP_MP_PARAMETERS`` and an argument come.

    Raises:
        Problem: The hyperparameter is no JSON object.
    """
    text = hyperparameters.get(HYPERPARAMETER, "{}")
    try:
        parameters: Any = json.loads(text)
    except ValueError:
        parameters = None
    if not isinstance(parameters, dict):
        raise Problem(f"the hyperparameter {HYPERPARAMETER} must be a JSON object, got {text!r}")
    for name, value in options.parameter:
        parameters[name] = _value(value)
    merged = {**hyperparameters, HYPERPARAMETER: json.dumps(parameters, ensure_ascii=False)}
    return dict(sorted(merged.items()))


def parameters_of(hyperparameters: Mapping[str, str]) -> dict[str, Any]:
    """What `with_parameters` has put there."""
    return dict(json.loads(hyperparameters.get(HYPERPARAMETER, "{}")))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
