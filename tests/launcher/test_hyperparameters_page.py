"""Each row of docs/hyperparameters.md is true."""

import json
import re
from pathlib import Path

import pytest

from training_launcher.hyperparameters import read_hyperparameters, to_arguments

PAGE = Path(__file__).resolve().parents[2] / "docs/hyperparameters.md"
ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| `(?P<value>[^`]+)` \| `(?P<arguments>\[[^`]*\])` \|")


def rows() -> list[tuple[str, str, str, str]]:
    """Section, name, value and arguments of each row."""
    section, found = "", []
    for line in PAGE.read_text().splitlines():
        section = line[3:] if line.startswith("## ") else section
        row = ROW.match(line)
        if row:
            found.append((section, row["name"], row["value"], row["arguments"]))
        assert row or not line.startswith("| `"), f"no row as the others: {line}"
    return found


def test_the_page_has_rows_in_each_section() -> None:
    assert {section for section, *_ in rows()} == {"", "Booleans as flags", "Values that are JSON already"}
    assert len(rows()) > 25


@pytest.mark.parametrize(("section", "name", "value", "arguments"), rows())
def test_row(tmp_path: Path, section: str, name: str, value: str, arguments: str) -> None:
    (tmp_path / "hyperparameters.json").write_text(f'{{"{name}": {value}}}')
    booleans = "flag" if section == "Booleans as flags" else "value"
    encoding = "json" if section == "Values that are JSON already" else "plain"
    found = to_arguments(read_hyperparameters(str(tmp_path), encoding), booleans=booleans)
    assert found == json.loads(arguments)
