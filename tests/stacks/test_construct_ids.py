"""The page of construct ids says what the reference stacks have."""

import pytest
from tests.stacks.reference_stacks import ALL, synthesize
from tools.construct_ids import PAGE, page


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = []
    for name, build in ALL.items():
        made.append(tmp_path_factory.mktemp(name))
        synthesize(build, made[-1])
    return made


def test_the_page_is_current(folders):
    assert PAGE.read_text(encoding="utf-8") == page(folders), "run: python tools/construct_ids.py"


def test_the_page_has_every_kind_of_construct():
    text = PAGE.read_text(encoding="utf-8")
    for heading in ("DistributedTrainingJob", "TrainingNetwork", "LustreFileSystem"):
        assert f"## {heading}" in text
    assert "| `StateMachine/Job/Resource/Resource` | AWS::StepFunctions::StateMachine |" in text
