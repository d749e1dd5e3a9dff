"""What `dtrain check --explain` prints."""

from __future__ import annotations

import difflib

from cdk_distributed_training.checks.pages import page
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.template.errors import UnreadableFileError


def explain(rule_id: str) -> str:
    """The page of a rule.

    Raises:
        UnreadableFileError: No rule has the id; the message names near ones.
    """
    rule = all_rules().get(rule_id.upper())
    if rule is None:
        near = difflib.get_close_matches(rule_id.upper(), all_rules(), 3)
        hint = f"; near are {', '.join(near)}" if near else ""
        raise UnreadableFileError(f"no rule has the id {rule_id!r}{hint}")
    return page(rule)
