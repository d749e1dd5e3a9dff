"""All rules: those that are described at functions of the modules in `rules/`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from cdk_distributed_training.checks import rules as rule_modules
from cdk_distributed_training.checks.rule import Rule, rules_of

# A request alone has no other subjects than these modules' rules look at, and each job is judged by them: the modules
# about templates are left where they are until a template is judged.
_OF_REQUESTS = ("node_groups", "placement", "request_", "routes")


@functools.cache
def all_rules() -> Mapping[str, Rule]:
    """Every rule by its id, in order.

    Raises:
        ValueError: Two functions claim one id.
    """
    return _rules("")


@functools.cache
def rules_of_requests() -> Mapping[str, Rule]:
    """The rules that may find something in a `CreateTrainingJob` request alone, by their ids."""
    return _rules(*_OF_REQUESTS)


def _rules(*beginnings: str) -> Mapping[str, Rule]:
    found: dict[str, Rule] = {}
    names = [info.name for info in pkgutil.iter_modules(rule_modules.__path__) if info.name.startswith(beginnings)]
    modules = [importlib.import_module(f"{rule_modules.__name__}.{name}") for name in names]
    for module in modules:  # all are imported first: some describe others' rules
        for function in vars(module).values():
            if getattr(function, "__module__", None) != module.__name__:
                continue
            for rule in rules_of(function):
                if rule.id in found:
                    raise ValueError(f"{rule.id} is described twice, the second time in {module.__name__}")
                found[rule.id] = rule
    return dict(sorted(found.items()))
