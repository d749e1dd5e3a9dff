"""Every public class, member and argument has words of its own, which the API reference is made of."""

import dataclasses
import inspect
import re

import pytest

import cdk_distributed_training as dt

CLASSES = {name: value for name in dt.__all__ if inspect.isclass(value := getattr(dt, name))}
# what only the library's own constructs call
HOOKS = {"bind", "connect", "findings", "launcher_arguments", "render", "settle"}


def is_protocol(cls):
    """Whether a class only says what others must have; these describe it."""
    return getattr(cls, "_is_protocol", False)


def members(cls):
    """Public functions and properties that this library wrote, by name."""
    for base in cls.__mro__:
        if not base.__module__.startswith("cdk_distributed_training"):
            continue
        for name, member in vars(base).items():
            function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
            if not name.startswith("_") and inspect.isfunction(function):
                yield name, function


def own_init(cls):
    for base in cls.__mro__:
        if "__init__" in vars(base) and base.__module__.startswith("cdk_distributed_training"):
            return vars(base)["__init__"]
    return None


def described(docstring, name):
    return re.search(rf"^\s+\*?{name}: \S", docstring or "", re.MULTILINE)


@pytest.mark.parametrize("name", CLASSES)
def test_class_and_members(name):
    cls = CLASSES[name]
    assert inspect.getdoc(cls)
    assert [member for member, function in members(cls) if not inspect.getdoc(function)] == []


@pytest.mark.parametrize("name", [name for name, cls in CLASSES.items() if own_init(cls) and not is_protocol(cls)])
def test_arguments(name):
    cls = CLASSES[name]
    if dataclasses.is_dataclass(cls):
        fields = {field.name for field in dataclasses.fields(cls) if not field.name.startswith("_")}
        texts = "\n".join(inspect.getdoc(base) or "" for base in cls.__mro__)
        texts = re.sub(r"^", "    ", texts, flags=re.MULTILINE)
        missing = {field for field in fields if not described(texts, field)}
    else:
        init = own_init(cls)
        if (init.__doc__ or "").startswith("Use "):
            return  # made by others, who say by whom
        names = [name for name in inspect.signature(init).parameters if name != "self"]
        texts = (init.__doc__ or "") + re.sub(r"^", "    ", inspect.getdoc(cls) or "", flags=re.MULTILINE)
        missing = {name for name in names if not described(texts, name)}
    assert missing == set()


def test_arguments_of_functions():
    missing = {}
    for name, cls in CLASSES.items():
        if is_protocol(cls):
            continue
        for member, function in members(cls):
            if member in HOOKS:
                continue
            parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
            doc = function.__doc__ or ""
            if len(parameters) > 1 and "Args:" not in doc and "arguments as" not in doc.lower():
                missing[f"{name}.{member}"] = parameters
    assert missing == {}
