"""A stack of a synthesized app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class SynthesizedStack:
    """A stack's template and where it would be deployed.

    Attributes:
        name: The stack's name.
        template: The CloudFormation template.
        account: Twelve digits, or None for an environment-agnostic stack.
        region: For example `us-east-1`, or None for an environment-agnostic stack.
    """

    name: str
    template: dict[str, Any]
    account: str | None = None
    region: str | None = None
