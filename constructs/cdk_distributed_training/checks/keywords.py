"""Keywords that a public class does not have, and values of types that it does not take, are refused in its own words.

Python alone would say only that there is no such keyword, and for some classes from deep inside of CDK. The check
stands at the one door through which public names are handed out, the package's `__getattr__`, so that no class can
forget it.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from cdk_distributed_training.checks.findings import ConfigurationError, Finding, raise_errors
from cdk_distributed_training.checks.quantities import unfitting_quantities
from cdk_distributed_training.checks.rules.keywords import unknown_keyword
from cdk_distributed_training.checks.wrong_types import wrong_types

_PACKAGE = __package__.partition(".")[0]
_CHECKED = "__keywords_are_checked__"
_JUDGED_LATER = ("findings", "bind")
"""Methods of what is judged when a construct takes it: its own rules know its words, and tell all faults at once."""


class UnknownKeywordError(ConfigurationError, TypeError):
    """A public class or one of its methods was called with a keyword that it does not have."""


class WrongTypeError(ConfigurationError, TypeError):
    """A public class or one of its methods was called with a value of a type that it does not declare."""


def check_keywords(public: Any) -> Any:
    """A public class or function that refuses unknown keywords and wrong types; anything else stays as it is.

    A class itself is changed, once, and so are this library's classes that it inherits from.
    """
    if inspect.isfunction(public) and public.__module__.partition(".")[0] == _PACKAGE:
        return _checked(public, public.__name__, own_rules=False)
    if not isinstance(public, type) or issubclass(public, (enum.Enum, BaseException)):
        return public
    for owner in public.__mro__:
        ours = owner.__module__.partition(".")[0] == _PACKAGE
        if ours and _CHECKED not in vars(owner) and not getattr(owner, "_is_protocol", False):
            _check_class(owner)
    return public


def _check_class(owner: type) -> None:
    own_rules = any(hasattr(owner, name) for name in _JUDGED_LATER)
    for name, member in list(vars(owner).items()):
        if name != "__init__" and name.startswith("_"):
            continue
        called = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
        if isinstance(member, (classmethod, staticmethod)):
            checked: Any = type(member)(_checked(member.__func__, called, own_rules=own_rules))
        elif inspect.isfunction(member):
            checked = _checked(member, called, own_rules=own_rules)
        else:
            continue
        setattr(owner, name, checked)
    setattr(owner, _CHECKED, True)


def _checked(function: Callable[..., Any], called: str, *, own_rules: bool) -> Callable[..., Any]:
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return function
    names = {parameter.name for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_POSITIONAL}
    offered = [name for name in signature.parameters if name not in ("self", "cls", "scope", "id")]
    order = tuple(signature.parameters)
    texts = {
        parameter.name
        for parameter in parameters
        if _takes_no_text(parameter.annotation) or (not own_rules and _takes_words(parameter.annotation))
    }
    lists = set() if own_rules else {item.name for item in parameters if _lists_words(item.annotation)}
    never_none = {parameter.name for parameter in parameters if _takes_no_none(parameter.annotation)}

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if keywords.keys() <= names:
            quiet = {
                name: value
                for name, value in (*zip(order, arguments, strict=False), *keywords.items())
                if (value is None and name in never_none)
                or (isinstance(value, str) and name in texts)
                or (isinstance(value, (list, tuple)) and name in lists and any(isinstance(item, str) for item in value))
            }
            if quiet and wrong_types(function, quiet):
                given = {**quiet, **_bound(signature, arguments, keywords)}
                raise WrongTypeError(wrong_types(function, given), where=called) from None
            try:
                return function(*arguments, **keywords)
            # RuntimeError: what CDK itself refused
            except (AttributeError, KeyError, TypeError, RuntimeError) as error:
                given = _bound(signature, arguments, keywords)
                mistaken = wrong_types(function, given)
                if mistaken:
                    raise WrongTypeError(mistaken, where=called) from None
                where = type(given["self"]).__name__ if "self" in given else called
                raise_errors(unfitting_quantities(error, given), where=where)
                raise
        unknown = [name for name in keywords if name not in names]
        raise UnknownKeywordError(
            [_finding(name, called, offered, keywords.values()) for name in unknown], where=called
        )

    return call


def _takes_no_text(annotation: Any) -> bool:
    """Whether text would do the wrong thing without an error: even `"false"` counts as true, and a list of letters.

    Context values come as text.
    """
    return annotation in ("bool", "bool | None") or str(annotation).startswith("Sequence[")


def _takes_words(annotation: Any) -> bool:
    """Whether text may be one of a few words; where a number may stand too, a rule judges both."""
    kinds = set(str(annotation).split(" | ")) - {"None"}
    return isinstance(annotation, str) and len(kinds) == 1 and not kinds & {"str", "Any", "object"}


def _lists_words(annotation: Any) -> bool:
    """The same of what a list holds."""
    return str(annotation).startswith("Sequence[") and annotation not in ("Sequence[str]", "Sequence[Any]")


def _takes_no_none(annotation: Any) -> bool:
    """Whether nothing may not be given, which often ends in a template without the property."""
    return isinstance(annotation, str) and annotation not in ("Any", "object") and "None" not in annotation


def _bound(signature: inspect.Signature, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    try:
        return signature.bind_partial(*arguments, **keywords).arguments
    except TypeError:  # more positional arguments than there are parameters: Python's own words say it
        return keywords


def _finding(name: str, called: str, offered: list[str], values: Iterable[Any]) -> Finding:
    owner = next((type(value).__name__ for value in values if _takes(value, name)), None)
    return unknown_keyword(name, called=called, offered=offered, owner=owner)


def _takes(value: Any, name: str) -> bool:
    """Whether a value that was given is of a class of this library that takes the keyword."""
    ours = type(value).__module__.partition(".")[0] == _PACKAGE
    return ours and name in inspect.signature(type(value).__init__).parameters
