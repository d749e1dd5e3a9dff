"""CloudFormation's intrinsic functions, evaluated for a job's request on this machine.

What exists only after a deployment gets a readable stand-in, and `Resolver.stand_ins` lists them: local mode needs none
of those values to run, but a script might read one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.synthesized_stack import SynthesizedStack

STAND_IN_ACCOUNT = "111111111111"
STAND_IN_REGION = "us-east-1"
_NO_VALUE = {"Ref": "AWS::NoValue"}
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


class Resolver:
    """Evaluates intrinsic functions for one stack.

    Args:
        stack: The stack whose resources and parameters the values refer to.
        others: The other stacks of the app, for values that one exports and another imports.
        parameters: Values of the stack's parameters; the template's defaults are used for the others.

    Attributes:
        stand_ins: What was replaced, by its name in the template: `Role.Arn` -> the stand-in.
    """

    def __init__(
        self,
        stack: SynthesizedStack,
        others: Iterable[SynthesizedStack] = (),
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        """Remember where to look."""
        self._stack = stack
        self._template = stack.template
        self._others = tuple(others)
        self._parameters = dict(parameters or {})
        self.account = stack.account or STAND_IN_ACCOUNT
        self.region = stack.region or STAND_IN_REGION
        self.stand_ins: dict[str, str] = {}
        self._pseudo: dict[str, Any] = {
            "AWS::AccountId": self.account,
            "AWS::Region": self.region,
            "AWS::Partition": _partition(self.region),
            "AWS::URLSuffix": "amazonaws.com.cn" if self.region.startswith("cn-") else "amazonaws.com",
            "AWS::StackName": stack.name,
            "AWS::StackId": f"arn:{_partition(self.region)}:cloudformation:{self.region}:{self.account}:"
            f"stack/{stack.name}/local",
            "AWS::NotificationARNs": [],
        }
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self._condition,
            "Fn::GetAtt": self._get_att,
            "Fn::Join": lambda a: str(self(a[0])).join(str(item) for item in self(a[1])),
            "Fn::Sub": self._sub,
            "Fn::ImportValue": self._import_value,
            "Fn::GetStackOutput": self._stack_output,
            "Fn::Select": lambda a: self(a[1])[int(self(a[0]))],
            "Fn::Split": lambda a: str(self(a[1])).split(self(a[0])),
            "Fn::FindInMap": self._find_in_map,
            "Fn::GetAZs": lambda a: [f"{self(a) or self.region}{letter}" for letter in "abc"],
            "Fn::If": lambda a: self(a[1] if self._condition(a[0]) else a[2]),
            "Fn::Equals": lambda a: self(a[0]) == self(a[1]),
            "Fn::Not": lambda a: not self(a[0]),
            "Fn::And": lambda a: all(self(item) for item in a),
            "Fn::Or": lambda a: any(self(item) for item in a),
        }

    def __call__(self, value: Any) -> Any:
        """The value with every intrinsic function in it evaluated.

        Raises:
            LocalModeError: A function is unknown here or refers to something that the template lacks.
        """
        if isinstance(value, list):
            return [self(item) for item in value if item != _NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            name, argument = next(iter(value.items()))
            if name in self._functions and self._is_function(name, argument):
                return self._functions[name](argument)
            if name.startswith("Fn::"):
                raise LocalModeError(f"the request of the job uses {name}, which local mode cannot evaluate")
        return {key: self(item) for key, item in value.items() if item != _NO_VALUE}

    def _is_function(self, name: str, argument: Any) -> bool:
        # a hyperparameter may be called "Condition"; the function's argument is always a known condition
        return name != "Condition" or argument in self._template.get("Conditions", {})

    def _ref(self, name: str) -> Any:
        if name in self._pseudo:
            return self._pseudo[name]
        if name in self._parameters:
            return self._parameters[name]
        parameter = self._template.get("Parameters", {}).get(name)
        if parameter is None:
            return self._stand_in(name)
        # the default of such a parameter is the name of an entry in Parameter Store, not its value
        if "Default" not in parameter or parameter.get("Type", "").startswith("AWS::SSM"):
            return self._stand_in(name)
        default = parameter["Default"]
        kind = parameter.get("Type", "String")
        if kind == "CommaDelimitedList" or kind.startswith("List<"):
            return [item.strip() for item in str(default).split(",")]
        return default

    def _get_att(self, argument: Any) -> str:
        name, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
        return self._stand_in(name, str(self(attribute)))

    def _stand_in(self, name: str, attribute: str = "") -> str:
        key = f"{name}.{attribute}" if attribute else name
        kind = self._template.get("Resources", {}).get(name, {}).get("Type", "")
        if attribute == "Arn" and kind == "AWS::IAM::Role":
            text = f"arn:{_partition(self.region)}:iam::{self.account}:role/{name}"
        elif not attribute and kind == "AWS::S3::Bucket":
            text = name.lower()
        else:
            text = key
        return self.stand_ins.setdefault(key, text)

    def _sub(self, argument: Any) -> str:
        text, own = (argument, {}) if isinstance(argument, str) else argument

        def value(match: re.Match[str]) -> str:
            name = match.group(1)
            if name.startswith("!"):
                return "${" + name[1:] + "}"
            if name in own:
                return str(self(own[name]))
            return str(self._get_att(name) if "." in name else self._ref(name))

        return _VARIABLE.sub(value, text)

    def _import_value(self, argument: Any) -> Any:
        name = self(argument)
        for stack in self._others:
            resolver = Resolver(stack, self._others)
            for output in stack.template.get("Outputs", {}).values():
                if resolver(output.get("Export", {}).get("Name")) == name:
                    return self._from(resolver, output)
        return self._stand_in(str(name))

    def _stack_output(self, argument: Any) -> Any:
        """A weak reference, which the CDK writes where `@aws-cdk/core:defaultCrossStackReferences` says so."""
        wanted = self(argument)
        for stack in self._others:
            output = stack.template.get("Outputs", {}).get(wanted["OutputName"])
            if stack.name == wanted["StackName"] and output is not None:
                return self._from(Resolver(stack, self._others), output)
        return self._stand_in(wanted["StackName"], wanted["OutputName"])

    def _from(self, resolver: Resolver, output: Mapping[str, Any]) -> Any:
        """The value of another stack's output, with the stand-ins that it needed."""
        value = resolver(output["Value"])
        self.stand_ins.update(resolver.stand_ins)
        return value

    def _find_in_map(self, argument: list[Any]) -> Any:
        name, first, second = (self(item) for item in argument[:3])
        try:
            return self._template["Mappings"][name][first][second]
        except KeyError:
            defaults = argument[3] if len(argument) > 3 else {}
            if "DefaultValue" in defaults:
                return self(defaults["DefaultValue"])
            raise LocalModeError(f"the template's mapping {name} has no entry {first}, {second}") from None

    def _condition(self, name: str) -> bool:
        conditions = self._template.get("Conditions", {})
        if name not in conditions:
            raise LocalModeError(f"the template has no condition {name}")
        return bool(self(conditions[name]))


def _partition(region: str) -> str:
    prefixes = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
    return next((partition for prefix, partition in prefixes.items() if region.startswith(prefix)), "aws")
