"""CreateTrainingJob as botocore models it, with what botocore leaves to the service: enums, patterns, maxima."""

import functools
import re

import botocore.session
import botocore.validate


@functools.cache
def input_shape():
    """The shape of the request."""
    return (
        botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape
    )


def problems(request):
    """All that the service would refuse in a request, as far as the model says."""
    report = botocore.validate.ParamValidator().validate(request, input_shape())
    return [*report.generate_report().splitlines(), *_strict(request, input_shape(), "request")]


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
