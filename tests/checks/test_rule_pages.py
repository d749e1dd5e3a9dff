"""docs/rules is what the rules say."""

from pathlib import Path

import pytest

from cdk_distributed_training.checks.pages import page
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.write_pages import files, main

FILES = files()
FOLDER = Path(__file__).parents[2] / "docs" / "rules"


@pytest.mark.parametrize("name", FILES)
def test_page_is_current(name):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == FILES[name], "run python -m cdk_distributed_training.checks.write_pages"


def test_no_page_too_many():
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)


def test_old_pages_are_removed(tmp_path):
    (tmp_path / "DT000.md").write_text("old")
    main(tmp_path)
    assert not (tmp_path / "DT000.md").exists()
    assert len(list(tmp_path.iterdir())) == len(all_rules()) + 1


def test_long_examples_are_shortened():
    text = page(all_rules()["DT301"])
    assert "101 in all" in text
    assert len(text.splitlines()) < 120
