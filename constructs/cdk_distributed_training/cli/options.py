"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Optional

import typer

from cdk_distributed_training.local.errors import LocalModeError

# typer reads these annotations at run time, on Python 3.10 too: hence Optional
Job = Annotated[
    Optional[str],  # noqa: UP045
    typer.Argument(metavar="STACK/JOB", help="Construct path of the job; needed only if the app has several."),
]
App = Annotated[
    Path, typer.Option("--app", metavar="FOLDER", help="Folder of the synthesized app (what `cdk synth` writes).")
]
InstanceCount = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--instance-count", metavar="N", min=1, help="Number of hosts instead of the job's own."),
]
Hyperparameters = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--hyperparameter", metavar="NAME=VALUE", help="Add a hyperparameter or replace its value; repeatable."
    ),
]

DEFAULT_APP = Path("cdk.out")


def pairs(option: str, items: Sequence[str] | None, example: str) -> dict[str, str]:
    """Split NAME=VALUE items; a value may hold further equals signs.

    Args:
        option: The option, for messages.
        items: What was given.
        example: What a right item looks like.

    Raises:
        LocalModeError: An item has no `=` or no name, or a name occurs twice.
    """
    values: dict[str, str] = {}
    for item in items or ():
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise LocalModeError(f"{option} {item}: expected NAME=VALUE, for example {option} {example}")
        if name in values:
            raise LocalModeError(f"{option} {name} is given twice: {values[name]} and {value}")
        values[name] = value
    return values
