"""The request's model in data/ is what botocore says, except for what is newer there."""

import importlib
import sys
from pathlib import Path

import pytest

from cdk_distributed_training.data.tables import create_training_job_model

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
make_request_model = importlib.import_module("make_request_model")


@pytest.fixture(scope="module")
def botocores():
    return make_request_model.model()


def differences(ours, theirs, path=()):
    """Places where the two differ, apart from members and words that ours does not have yet."""
    if isinstance(ours, dict):
        for key, value in ours.items():
            if key not in theirs:
                yield (*path, key)
            else:
                yield from differences(value, theirs[key], (*path, key))
    elif isinstance(ours, list):
        yield from ((*path, item) for item in ours if item not in theirs)
    elif ours != theirs:
        yield path


def test_nothing_has_changed(botocores):
    assert list(differences(create_training_job_model(), botocores)) == []


def test_every_member_that_botocore_has_is_known(botocores):
    assert set(create_training_job_model()["members"]) >= set(botocores["members"])
