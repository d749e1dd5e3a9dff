"""Durations and sizes in a unit that cannot become the one that the service takes.

Asked only once a call has failed. CDK converts no value that is a token, and no value that would not stay whole; its
words name the units, but neither the property nor the construct.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.keywords import unfitting_unit

_OF_TOKEN = re.compile(r"'(?P<wanted>\w+\.(?P<unit>\w+))\(\)' here .*\(got (?P<given>\w+\.\w+)\)")
_NOT_WHOLE = re.compile(r"'(?P<given>[^']+)' cannot be converted into a whole number of (?P<unit>\w+)")
_CONVERSIONS = {"millis": "milliseconds"}


def unfitting_quantities(error: Exception, arguments: Mapping[str, Any]) -> list[Finding]:
    """A finding for each duration or size that the error may be about; none if it is about something else.

    Args:
        error: What CDK raised.
        arguments: What was called with, by the names of the parameters; a value class's own values as `self`.
    """
    for_token, not_whole = _OF_TOKEN.search(str(error)), _NOT_WHOLE.search(str(error))
    said = for_token or not_whole
    if said is None:
        return []
    conversion = f"to_{_CONVERSIONS.get(said['unit'], said['unit'])}"
    props = [path for path, quantity in _quantities(arguments) if _refuses(quantity, conversion)]
    wanted = None if for_token is None else for_token["wanted"]
    return [unfitting_unit(prop, given=said["given"], unit=said["unit"], wanted=wanted) for prop in props]


def _quantities(values: Mapping[str, Any], inside: str = "") -> Iterator[tuple[str, Any]]:
    """Every duration and size, down into value classes and lists, with its path."""
    for name, value in values.items():
        path = inside if name == "self" else f"{inside}.{name}" if inside else name
        if type(value).__module__ == "aws_cdk" and type(value).__name__ in ("Duration", "Size"):
            yield path, value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [field.name for field in dataclasses.fields(value)]
            yield from _quantities({field: getattr(value, field) for field in fields}, path)
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                yield from _quantities({f"{path}[{index}]": item})


def _refuses(quantity: Any, conversion: str) -> bool:
    try:
        getattr(quantity, conversion)()
    except AttributeError:  # a size has no seconds
        return False
    except RuntimeError:  # how CDK says that it cannot convert
        return True
    return False
