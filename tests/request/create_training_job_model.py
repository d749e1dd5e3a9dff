"""API calls as botocore models them, with what botocore leaves to the service: enums, patterns, maxima."""

import functools
import re

import botocore.session
import botocore.validate


@functools.cache
def input_shape(service="sagemaker", operation="CreateTrainingJob"):
    """The shape of the request."""
    return botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape


def problems(request, service="sagemaker", operation="CreateTrainingJob"):
    """All that the service would refuse in a request, as far as the model says."""
    shape = input_shape(service, operation)
    report = botocore.validate.ParamValidator().validate(request, shape)
    return [*report.generate_report().splitlines(), *_strict(request, shape, "request")]


def state_machine_problems(arguments, service, operation):
    """The same of a call's arguments as Step Functions spells them, which begins every member with a capital."""
    return problems(_as_modelled(arguments, input_shape(service, operation)), service, operation)


def _as_modelled(value, shape):
    if shape.type_name == "structure" and isinstance(value, dict):
        names = {name[0].upper() + name[1:]: name for name in shape.members}
        return {
            names.get(name, name): _as_modelled(item, shape.members[names[name]]) if name in names else item
            for name, item in value.items()
        }
    if shape.type_name == "list" and isinstance(value, list):
        return [_as_modelled(item, shape.member) for item in value]
    return value


def _strict(value, shape, place):
    yield from getattr(_Checks, shape.type_name, _Checks.other)(value, shape, place)


def _in_range(size, shape, place, what):
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if (low is not None and size < low) or (high is not None and size > high):
        yield f"{place}: {what} {size} is not within {low} and {high}"


def _as_python(pattern):
    """A regular expression of Java's in Python's spelling."""
    for java, python in ((r"\p{Alnum}", "a-zA-Z0-9"), (r"\p{L}", r"\w"), (r"\p{N}", r"\d"), (r"\p{Z}", r"\s")):
        pattern = pattern.replace(java, python)
    return pattern


class _Checks:
    @staticmethod
    def structure(value, shape, place):
        for name, item in value.items():
            if name not in shape.members:
                yield f"{place}.{name}: unknown"
            else:
                yield from _strict(item, shape.members[name], f"{place}.{name}")

    @staticmethod
    def list(value, shape, place):
        yield from _in_range(len(value), shape, place, "number of items")
        for index, item in enumerate(value):
            yield from _strict(item, shape.member, f"{place}[{index}]")

    @staticmethod
    def map(value, shape, place):
        yield from _in_range(len(value), shape, place, "number of entries")
        for key, item in value.items():
            yield from _strict(key, shape.key, f"{place}<{key}>")
            yield from _strict(item, shape.value, f"{place}.{key}")

    @staticmethod
    def string(value, shape, place):
        yield from _in_range(len(value), shape, place, "length")
        if shape.enum and value not in shape.enum:
            yield f"{place}: {value!r} is none of {shape.name}"
        pattern = shape.metadata.get("pattern")
        if pattern and not re.fullmatch(_as_python(pattern), value):
            yield f"{place}: {value!r} does not match {pattern}"

    @staticmethod
    def integer(value, shape, place):
        yield from _in_range(value, shape, place, "number")

    long = integer

    @staticmethod
    def other(value, shape, place):
        yield from ()
