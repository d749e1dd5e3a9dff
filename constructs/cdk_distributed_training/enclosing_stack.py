"""What the constructs of one stack ask of it again and again, asked once: each question crosses into Node.js."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from constructs import Construct, IConstruct, IValidation


class EnclosingStack:
    """A stack with its answers, of which any may be a token; the members are `cdk.Stack`'s."""

    def __init__(self, stack: cdk.Stack) -> None:
        """Ask nothing yet; `enclosing_stack` finds the one of a construct."""
        self._stack = stack

    @functools.cached_property
    def account(self) -> str:
        """The account."""
        return self._stack.account

    @functools.cached_property
    def region(self) -> str:
        """The region."""
        return self._stack.region

    @functools.cached_property
    def partition(self) -> str:
        """The partition."""
        return self._stack.partition

    @functools.cached_property
    def url_suffix(self) -> str:
        """The end of AWS's addresses."""
        return self._stack.url_suffix

    @functools.cached_property
    def tags(self) -> Mapping[str, str]:
        """The tags that it and the stacks around it were made with, which CloudFormation gives to its resources."""
        around = self._stack.nested_stack_parent
        return {**({} if around is None else _known(around).tags), **self._stack.tags.tag_values()}

    def format_arn(self, *, service: str, resource: str, resource_name: str | None = None, separator: str = "/") -> str:
        """An ARN of this account and region.

        Args:
            service: The service, such as `sagemaker`.
            resource: The resource's type, such as `training-job`.
            resource_name: The resource's name, where an ARN has one.
            separator: What stands before the name: `/`, or `:` for some services.
        """
        name = "" if resource_name is None else f"{separator}{resource_name}"
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}{name}"

    def add_validation(self, validation: IValidation) -> None:
        """What synthesis asks the stack once it has resolved all references."""
        self._stack.node.add_validation(validation)

    def to_json_string(self, value: Mapping[str, Any]) -> str:
        """JSON with tokens anywhere in it."""
        return self._stack.to_json_string(value)

    def resolve(self, value: Any) -> Any:
        """A value with every token as the template has it."""
        return self._stack.resolve(value)


class PartOfStack(Construct):
    """A construct that knows its stack from its scope, where that is the stack itself or another such construct."""

    def __init__(self, scope: Construct, id: str) -> None:
        """Make the construct.

        Args:
            scope: The parent construct.
            id: The construct id.
        """
        super().__init__(scope, id)
        self._stack = enclosing_stack(scope)


def enclosing_stack(construct: IConstruct) -> EnclosingStack:
    """The stack that a construct is in, or is."""
    if isinstance(construct, PartOfStack):
        return construct._stack
    return _known(construct if isinstance(construct, cdk.Stack) else cdk.Stack.of(construct))


@functools.cache
def _known(stack: cdk.Stack) -> EnclosingStack:
    return EnclosingStack(stack)
