"""docs/environment-variables.md says what the launcher does."""

import pytest
from tools.environment_variables import PAGE, named_in_the_code, render, variables_of_kinds
from tools.variable_meanings import OWN, READ, SCRIPT


@pytest.fixture(scope="module")
def kinds() -> dict[str, set[str]]:
    return variables_of_kinds()


def test_the_page_is_current() -> None:
    """`python -m tools.environment_variables` writes it."""
    assert PAGE.read_text() == render()


def test_every_variable_that_is_set_has_its_words(kinds: dict[str, set[str]]) -> None:
    """And no words are left of one that is not."""
    found = set.union(*kinds.values())
    assert not found - set(SCRIPT)
    assert set(SCRIPT) - found <= {"SMDATAPARALLEL_USE_SINGLENODE"}, "with one host only"


def test_every_name_in_the_code_is_on_the_page() -> None:
    known = {*SCRIPT, *READ, *OWN}
    assert not {name for name in named_in_the_code() if name not in known}


def test_torch_finds_its_names_where_the_launcher_starts_the_ranks(kinds: dict[str, set[str]]) -> None:
    assert {"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= kinds["processes"]
