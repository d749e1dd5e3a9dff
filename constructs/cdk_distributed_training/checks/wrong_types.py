"""Which arguments are of another type than the public class or method declares.

Asked once a call has failed, so that good input pays nothing: a Duration that is a bare number or an `Instances` that
is only its type's name ends deep inside otherwise, in words that name nothing the user wrote. Asked beforehand only of
text and of None where they would do the wrong thing without an error. The declared types are read from the annotations,
and what an annotation does not say for certain is never held against a value.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.keywords import wrong_type, wrong_word
from cdk_distributed_training.tokens import known

_PACKAGE = __package__.partition(".")[0]
_PLAIN = (str, bytes, int, float, Mapping, Sequence, AbstractSet, enum.Enum)
"""What cannot stand for an interface of CDK's or of this library's."""
_QUANTITIES = {"cdk.Duration": "cdk.Duration.seconds({0!r})", "cdk.Size": "cdk.Size.gibibytes({0!r})"}
"""How a bare number becomes the quantity that was asked for."""
_MAKERS_SHOWN = 6


def wrong_types(function: Callable[..., Any], arguments: Mapping[str, Any]) -> list[Finding]:
    """A finding for each argument whose type the function does not declare, down into this library's value classes.

    Args:
        function: The initializer or method that was called.
        arguments: What it was called with, by the names of its parameters.
    """
    modules = annotation_modules(function)
    declared = {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}
    return [
        finding
        for name, value in arguments.items()
        if name in declared
        for finding in _judge(name, value, declared[name], modules)
    ]


def annotation_modules(function: Callable[..., Any]) -> tuple[str, ...]:
    """The modules whose names a function's annotations use: its own, and for a method those of all its classes.

    The initializer of a value class is written from fields that its bases declare in their own modules.
    """
    module = function.__globals__["__name__"]
    owner = vars(sys.modules[module]).get(function.__qualname__.partition(".")[0])
    return _modules_of(owner) if isinstance(owner, type) else (module,)


def _modules_of(owner: type) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kind.__module__ for kind in owner.__mro__ if _is_ours(kind)))


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == _PACKAGE


def _judge(prop: str, value: Any, declared: Any, modules: tuple[str, ...]) -> Iterator[Finding]:
    if not isinstance(declared, str):
        return
    if not _fits(value, evaluated(declared, modules)):
        yield _finding(prop, value, declared, modules)
    else:
        yield from _judge_inside(prop, value)


def _judge_inside(prop: str, value: Any) -> Iterator[Finding]:
    """What is wrong in this library's value classes, and in those that a list or a mapping holds."""
    if dataclasses.is_dataclass(value) and _is_ours(type(value)):
        for field in dataclasses.fields(value):
            yield from _judge(f"{prop}.{field.name}", getattr(value, field.name), field.type, _modules_of(type(value)))
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _judge_inside(f"{prop}[{name!r}]", item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _judge_inside(f"{prop}[{index}]", item)


def _finding(prop: str, value: Any, declared: str, modules: tuple[str, ...]) -> Finding:
    words, given = _words(evaluated(declared, modules)), [value] if isinstance(value, str) else value
    wrong = [word for word in given if word not in words] if isinstance(given, (list, tuple)) else []
    if words and wrong and all(isinstance(word, str) for word in wrong):
        return wrong_word(prop, value=value, words=words, wrong=wrong)
    allowed = [word for word in declared.split(" | ") if word != "None"]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    quantity = next((_QUANTITIES[word] for word in allowed if number and word in _QUANTITIES), None)
    makers = [maker for word in allowed for maker in _makers(word, modules)]
    if quantity:
        fix = f"write {quantity.format(value)}, or what else you mean by it"
    elif makers:
        fix = f"make one with {', '.join(makers[:_MAKERS_SHOWN])}"
    elif isinstance(value, str) and declared.startswith("Sequence["):
        fix = f"write a list, such as {value.split()!r:.200}"
    else:
        fix = "give a value of that type"
    return wrong_type(prop, value=value, declared=" or ".join(allowed), fix=fix)


def _words(declared: Any) -> list[str]:
    """The fixed choice of words that a type is, or that a list's elements are; empty for other types."""
    arguments = [argument for argument in typing.get_args(declared) if argument is not types.NoneType]
    if typing.get_origin(declared) is typing.Literal:
        return arguments
    return _words(arguments[0]) if len(arguments) == 1 else []


def _makers(word: str, modules: tuple[str, ...]) -> list[str]:
    """What makes a value, or the elements of a list: a `from_...` method or a class of this library or of CDK's."""
    element = word.rpartition("[")[2].rpartition(", ")[2].removesuffix("]")
    declared = evaluated(element, modules)
    if not isinstance(declared, type):
        return []
    if not _is_ours(declared):
        prefix, _, name = element.rpartition(".")
        named = name[1:] if getattr(declared, "_is_protocol", False) else name  # CDK's IRole is made by its Role
        return _ways(f"{prefix}.{named}", evaluated(f"{prefix}.{named}", modules))
    public = sys.modules[_PACKAGE]
    kinds = {name: getattr(public, name) for name in public.__all__}
    of_others = [
        way for name, kind in kinds.items() if _stands_for(kind, declared) for way in _ways(name, kind) or [name]
    ]
    own = [f"{element}(...)"] if dataclasses.is_dataclass(declared) and not inspect.isabstract(declared) else []
    return [*own, *_ways(element, declared)] or of_others or [element]


def _stands_for(kind: Any, declared: type) -> bool:
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return False
    if not getattr(declared, "_is_protocol", False):
        return issubclass(kind, declared) and kind is not declared
    return all(hasattr(kind, member) for member in _members(declared))


def _members(protocol: type) -> list[str]:
    return [name for name in {*dir(protocol), *inspect.get_annotations(protocol)} if not name.startswith("_")]


def _ways(name: str, kind: Any) -> list[str]:
    return [f"{name}.{method}" for method in dir(kind) if method.startswith("from_")]


def evaluated(declared: str, modules: tuple[str, ...]) -> Any:
    """The type that an annotation means in those modules; `Any` where it cannot be told."""
    try:
        return eval(declared, _names(modules))  # noqa: S307  an annotation of this library's own source
    except (NameError, AttributeError, TypeError, SyntaxError):
        return Any


@functools.cache
def _names(modules: tuple[str, ...]) -> dict[str, Any]:
    """What the annotations may name: the modules' own names and those that they import for type checkers only."""
    names: dict[str, Any] = {}
    for module in reversed(modules):
        names |= vars(sys.modules[module])
        for node in ast.parse(inspect.getsource(sys.modules[module])).body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                code = compile(ast.Module([*node.body], type_ignores=[]), module, "exec")
                exec(code, names)  # noqa: S102  imports of this library's own source
    return names


def _fits(value: Any, declared: Any) -> bool:
    """Whether a value may stand where a type is declared; yes in doubt."""
    if declared is Any or hasattr(value, "resolve"):  # a token: what it will be, only the deployment knows
        return True
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if declared is None or declared is types.NoneType:
        return value is None
    if origin is typing.Literal:
        return value in arguments or not known(value)
    if isinstance(origin, type):
        return _fits_collection(value, origin, arguments)
    return _fits_class(value, declared) if isinstance(declared, type) else True


def _fits_collection(value: Any, origin: type, arguments: tuple[Any, ...]) -> bool:
    if issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_all_fit(*pair) for pair in _columns(value, arguments))
    if issubclass(origin, (Sequence, AbstractSet)):
        return isinstance(value, origin) and not isinstance(value, str) and _all_fit(value, arguments)
    return True


def _columns(value: Mapping[Any, Any], arguments: tuple[Any, ...]) -> list[tuple[Any, tuple[Any, ...]]]:
    return [(value.keys(), arguments[:1]), (value.values(), arguments[1:])]


def _all_fit(values: Any, arguments: tuple[Any, ...]) -> bool:
    uniform = [argument for argument in arguments if argument is not Ellipsis]
    return len(uniform) != 1 or all(_fits(value, uniform[0]) for value in values)


def _fits_class(value: Any, declared: type) -> bool:
    if declared is float or declared is int:
        return isinstance(value, (int, float))  # number tokens of CDK are floats
    if getattr(declared, "_is_protocol", False):
        return not isinstance(value, _PLAIN) and _has(type(value), declared)
    if hasattr(declared, "__jsii_type__") and _is_open(declared):
        return value is not None and not isinstance(value, _PLAIN)
    return isinstance(value, declared)


def _has(kind: type, protocol: type) -> bool:
    """Whether a class has what a protocol asks for; of one that looks members up itself, as CDK's do, nobody knows."""
    return hasattr(kind, "__getattr__") or all(hasattr(kind, member) for member in _members(protocol))


def _is_open(declared: type) -> bool:
    """Whether an object of CDK's may stand for a class without being of it, as imported resources do."""
    return f"cdk.{declared.__name__}" not in _QUANTITIES
