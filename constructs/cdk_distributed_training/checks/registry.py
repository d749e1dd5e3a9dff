"""All rules: those that are described at functions of the modules in `rules/`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from cdk_distributed_training.checks import rules as rule_modules
from cdk_distributed_training.checks.rule import Rule, rules_of


@functools.cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its id, in order.

    Raises:
        ValueError: Two functions claim one id.
    """
    found: dict[str, Rule] = {}
    names = [f"{rule_modules.__name__}.{info.name}" for info in pkgutil.iter_modules(rule_modules.__path__)]
    for module in [importlib.import_module(name) for name in names]:  # all of them first: some describe others' rules
        for function in vars(module).values():
            if getattr(function, "__module__", None) != module.__name__:
                continue
            for rule in rules_of(function):
                if rule.id in found:
                    raise ValueError(f"{rule.id} is described twice, the second time in {module.__name__}")
                found[rule.id] = rule
    return dict(sorted(found.items()))
