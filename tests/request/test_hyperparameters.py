"""Hyperparameters as text."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdk_distributed_training.request.hyperparameters import hyperparameter_text, number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", ""),
        ('it\'s "quoted" \\ {x} $.y\n', 'it\'s "quoted" \\ {x} $.y\n'),
        ("true", "true"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (3, "3"),
        (3e-4, "0.0003"),
        (1e-7, "1e-07"),
        ([1e-4, 2e-4], "[0.0001, 0.0002]"),
        ({"a": ["é", None, {"b": False}]}, '{"a": ["é", null, {"b": false}]}'),
    ],
)
def test_text(value, text):
    assert hyperparameter_text(value) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: (
            st.lists(inner | st.text(), max_size=3) | st.dictionaries(st.text(), inner | st.text(), max_size=3)
        ),
        max_leaves=8,
    )
)
def test_json_gives_the_value_back(value):
    assert json.loads(hyperparameter_text(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [math.nan]])
def test_numbers_that_are_none(value):
    with pytest.raises(ValueError, match="JSON"):
        hyperparameter_text(value)


def test_what_json_cannot_hold():
    with pytest.raises(TypeError):
        hyperparameter_text({1, 2})


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_numbers_keep_fifteen_digits(value):
    assert math.isclose(float(number_text(value)), value, rel_tol=1e-14)
