"""Resolves CloudFormation's functions as far as literals, parameter defaults and conditions go."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from cdk_distributed_training.checks.template.values import (
    ABSENT,
    Reference,
    Token,
    Unknown,
    ZoneByIndex,
    join,
    text_of,
)

# what CDK writes for a lookup that has not been made yet
_PENDING = re.compile(r"vpc-12345|[ps]-(12345|67890)|rtb-(12345|67890)[sp]|sg-12345678|dummy1[abc]|dummy-value-for-.*")
_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_CONDITION_FUNCTIONS = ("Fn::Equals", "Fn::And", "Fn::Or", "Fn::Not", "Condition")


def expression(node: Any) -> Unknown:
    """The token for an expression that nothing resolves; equal expressions give equal tokens."""
    return Unknown(json.dumps(node, sort_keys=True, default=str))


def is_function(node: Any) -> bool:
    """Whether a node is a call of one of CloudFormation's functions."""
    return isinstance(node, dict) and len(node) == 1 and (next(iter(node)) == "Ref" or next(iter(node))[:4] == "Fn::")


class Resolver:
    """Resolves nodes of one template under one choice of parameters and conditions.

    Args:
        template: The template, with all functions in their long form.
        parameters: Value of each parameter that is settled; others are unknown.
        conditions: Truth of conditions that is assumed instead of evaluated.
        region: The stack's region, if known.
    """

    def __init__(
        self,
        template: Mapping[str, Any],
        *,
        parameters: Mapping[str, Any],
        conditions: Mapping[str, bool],
        region: str | None = None,
    ) -> None:
        """Resolve nothing yet."""
        self._template = template
        self._parameters = parameters
        self._truths: dict[str, bool | None] = dict(conditions)
        self._pseudo = {"AWS::NoValue": ABSENT, **({"AWS::Region": region} if region else {})}
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._get_attribute,
            "Fn::If": self._if,
            "Fn::Join": self._join,
            "Fn::Sub": self._sub,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::FindInMap": self._find_in_map,
            "Fn::Cidr": self._cidr,
        }

    def resolve(self, node: Any) -> Any:
        """The node with its functions replaced by literals or tokens; what has no value is left out."""
        if isinstance(node, list):
            items = [self.resolve(item) for item in node]
            return [item for item in items if item is not ABSENT]
        if isinstance(node, str):
            return expression(node) if "{{resolve:" in node or _PENDING.fullmatch(node) else node
        if not isinstance(node, dict):
            return node
        if is_function(node):
            ((name, argument),) = node.items()
            function = self._functions.get(name)
            resolved = function(argument) if function is not None else None
            return expression(node) if resolved is None else resolved
        if any(key.startswith(("Fn::ForEach", "Fn::Transform")) for key in node if isinstance(key, str)):
            return expression(node)
        members = {key: self.resolve(value) for key, value in node.items()}
        return {key: value for key, value in members.items() if value is not ABSENT}

    def truth(self, condition: str) -> bool | None:
        """Whether a condition holds; None if the file does not settle it."""
        if condition not in self._truths:
            self._truths[condition] = None  # a condition that refers to itself is never settled
            conditions = self._template.get("Conditions")
            node = conditions.get(condition) if isinstance(conditions, dict) else None
            self._truths[condition] = self.holds(node)
        return self._truths[condition]

    def holds(self, node: Any) -> bool | None:
        """Whether an expression of condition functions holds; None if the file does not settle it."""
        if not (isinstance(node, dict) and len(node) == 1):
            return None
        ((name, argument),) = node.items()
        if name == "Condition":
            return self.truth(argument) if isinstance(argument, str) else None
        if not isinstance(argument, list) or name not in _CONDITION_FUNCTIONS:
            return None
        if name == "Fn::Equals":
            return self._equal(argument)
        truths = [self.holds(item) for item in argument]
        if name == "Fn::Not":
            return None if truths[:1] in ([], [None]) else not truths[0]
        settles = name == "Fn::Or"  # one true settles an Or, one false an And
        return settles if settles in truths else (None if None in truths else not settles)

    def _equal(self, arguments: list[Any]) -> bool | None:
        if len(arguments) != 2:
            return None
        left, right = (self.resolve(item) for item in arguments)
        if isinstance(left, Token) or isinstance(right, Token):
            return left == right or None
        return text_of(left) == text_of(right)

    def _ref(self, name: Any) -> Any:
        if not isinstance(name, str):
            return None
        if name in self._pseudo:
            return self._pseudo[name]
        if name in self._parameters:
            return self._parameters[name]
        resources = self._template.get("Resources")
        return Reference(name) if isinstance(resources, dict) and name in resources else None

    def _get_attribute(self, argument: Any) -> Any:
        if isinstance(argument, str):
            argument = argument.split(".", 1)
        if isinstance(argument, list) and len(argument) == 2 and all(isinstance(item, str) for item in argument):
            return Reference(argument[0], argument[1])
        return None

    def _if(self, argument: Any) -> Any:
        if not (isinstance(argument, list) and len(argument) == 3 and isinstance(argument[0], str)):
            return None
        truth = self.truth(argument[0])
        if truth is not None:
            return self.resolve(argument[1 if truth else 2])
        branches = [self.resolve(branch) for branch in argument[1:]]
        return branches[0] if branches[0] == branches[1] else None

    def _join(self, argument: Any) -> Any:
        if not (isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str)):
            return None
        parts = self.resolve(argument[1])
        if not isinstance(parts, list) or any(isinstance(part, (dict, list)) for part in parts):
            return None
        return join(parts, argument[0])

    def _sub(self, argument: Any) -> Any:
        text, names = argument, {}
        if isinstance(argument, list) and len(argument) == 2 and isinstance(argument[1], dict):
            text, names = argument[0], argument[1]
        if not isinstance(text, str):
            return None
        parts: list[Any] = []
        end = 0
        for match in _VARIABLE.finditer(text):
            parts.append(text[end : match.start()])
            parts.append(self._variable(match.group(1).strip(), names))
            end = match.end()
        return join([*parts, text[end:]])

    def _variable(self, name: str, names: Mapping[str, Any]) -> Any:
        if name.startswith("!"):
            return f"${{{name[1:]}}}"
        node = names.get(name, {"Fn::GetAtt": name} if "." in name else {"Ref": name})
        value = self.resolve(node)
        return expression(node) if value is ABSENT or isinstance(value, (dict, list)) else value

    def _select(self, argument: Any) -> Any:
        if not (isinstance(argument, list) and len(argument) == 2):
            return None
        index = self.resolve(argument[0])
        try:
            index = int(index)
        except (TypeError, ValueError):
            return None
        if isinstance(argument[1], dict) and list(argument[1]) == ["Fn::GetAZs"]:
            region = self.resolve(argument[1]["Fn::GetAZs"]) or self.resolve({"Ref": "AWS::Region"})
            return ZoneByIndex(index, region if isinstance(region, str) else "")
        items = self.resolve(argument[1])
        return items[index] if isinstance(items, list) and 0 <= index < len(items) else None

    def _split(self, argument: Any) -> Any:
        if not (isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str) and argument[0]):
            return None
        text = self.resolve(argument[1])
        return text.split(argument[0]) if isinstance(text, str) else None

    def _find_in_map(self, argument: Any) -> Any:
        if not (isinstance(argument, list) and len(argument) >= 3):
            return None
        node: Any = self._template.get("Mappings")
        for key in argument[:3]:
            name = self.resolve(key)
            if not isinstance(node, dict) or isinstance(name, (Token, dict, list)) or text_of(name) not in node:
                return None
            node = node[text_of(name)]
        return self.resolve(node)

    def _cidr(self, argument: Any) -> Any:
        if not (isinstance(argument, list) and len(argument) == 3):
            return None
        block, count, bits = (self.resolve(item) for item in argument)
        if isinstance(block, Reference) and block.attribute == "CidrBlock":
            resource = self._template.get("Resources", {}).get(block.logical_id, {})
            block = self.resolve(resource.get("Properties", {}).get("CidrBlock"))
        try:
            network = ipaddress.IPv4Network(block)
            subnets = network.subnets(new_prefix=32 - int(bits))
            return [str(subnet) for subnet, _ in zip(subnets, range(int(count)), strict=False)]
        except (TypeError, ValueError):
            return None
