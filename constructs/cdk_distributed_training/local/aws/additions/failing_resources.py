"""moto answers with HTTP 500 and a traceback when it cannot make a resource of a template, and keeps half a stack.

The CDK tries again then, and says that the stack exists. Here the answer names the resource, as CloudFormation's does.
Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

from typing import Any

from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError

# what a program raises where it was not made for its input; a refusal is an error of the API's
_NOT_MADE_FOR_IT = (AttributeError, IndexError, KeyError, NotImplementedError, TypeError)


def install() -> None:
    """Name the resource."""
    make = parsing.parse_and_create_resource

    def make_or_name(logical_id: str, resource_json: dict[str, Any], *more: Any, **named: Any) -> Any:
        try:
            return make(logical_id, resource_json, *more, **named)
        except _NOT_MADE_FOR_IT as error:
            raise ValidationError(
                message=f"resource {logical_id} of type {resource_json.get('Type')} cannot be made in the emulation of "
                f"AWS, which is not made for its properties ({type(error).__name__}: {error})"
            ) from error

    parsing.parse_and_create_resource = make_or_name
