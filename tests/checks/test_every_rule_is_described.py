"""Whatever id a finding may carry, there is a page about it, and `dtrain check --explain` shows it."""

import ast
import re
from pathlib import Path

import pytest

import cdk_distributed_training
from cdk_distributed_training.checks.explain import explain
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.template.errors import UnreadableFileError

PACKAGE = Path(cdk_distributed_training.__file__).parent
ROOT = PACKAGE.parents[1]
PAGES = ROOT / "docs" / "rules"
SOURCES = [PACKAGE, ROOT / "stacks", ROOT / "container" / "src"]
ID = re.compile(r"DT\d{3}")


def ids_in(text):
    """Every id that stands alone in a piece of source, wherever that is: findings take theirs from there."""
    nodes = ast.walk(ast.parse(text))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and ID.fullmatch(str(node.value))}


def sources():
    return [path for folder in SOURCES for path in folder.rglob("*.py")]


NAMED = {rule_id: path for path in sources() for rule_id in ids_in(path.read_text(encoding="utf-8"))}


def test_ids_are_found_wherever_they_are():
    text = 'Finding(rule="DT001")\nwith_id = "DT002" if late else "DT003"\n"the rule DT004 is another"'
    assert ids_in(text) == {"DT001", "DT002", "DT003"}
    assert NAMED.keys() >= set(all_rules())


@pytest.mark.parametrize("rule_id", sorted(NAMED))
def test_id_is_explained(rule_id):
    assert rule_id in all_rules(), f"{NAMED[rule_id]}: describe it as described_files.py does, run checks.write_pages"
    text = explain(rule_id)
    assert (PAGES / f"{rule_id}.md").read_text(encoding="utf-8") == text
    assert text.startswith(f"# {rule_id}: ")
    found, right = text.split("\n## Found\n")[1].split("\n## Right\n")
    assert found.strip()
    assert right.strip()


def test_an_id_that_no_rule_has():
    with pytest.raises(UnreadableFileError, match="no rule has the id 'DT999'"):
        explain("DT999")
