"""The rules' examples share what they do not change, so no test may write to them."""

import json
from collections.abc import Iterator

import pytest

from cdk_distributed_training.checks import examples


@pytest.fixture(scope="module", autouse=True)
def shared_examples_stay() -> Iterator[None]:
    """Name the module that changed an example, where otherwise later tests would fail."""
    shared = [examples.request, examples.lustre, examples.scratch]
    before = [json.dumps(example().content) for example in shared]
    yield
    assert [json.dumps(example().content) for example in shared] == before
