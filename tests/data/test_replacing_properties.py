"""What replaces a resource is what CloudFormation's specification and the registry's schemas say."""

import importlib
import sys
from pathlib import Path

import pytest

from cdk_distributed_training.data.tables import replacing_properties

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
theirs = importlib.import_module("replacing_properties")
TYPES = list(replacing_properties())


@pytest.fixture(scope="module")
def specified():
    return theirs.by_specification(TYPES)


@pytest.fixture(scope="module")
def registered():
    return theirs.by_registry(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_row(name, specified, registered):
    row = replacing_properties()[name]
    assert set(row.always) <= specified[name]
    assert {prop for prop in row.always if "." not in prop} <= registered[name]
    assert set(row.perhaps) <= specified[name] - registered[name]
    assert not row.name or row.name in row.always
