"""What a file holds, and where in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.view import Path


@dataclass(frozen=True)
class Source:
    """The content of a file.

    Attributes:
        name: The file's name as given.
        content: What it holds, functions in their long form.
        locate: Gives line and column (from 1) of the deepest member of a path that the file has.
    """

    name: str
    content: Any
    locate: Callable[[Path], tuple[int, int]]
