"""Writes `docs/rules/`: `python -m cdk_distributed_training.checks.write_pages [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from cdk_distributed_training.checks.pages import index, page
from cdk_distributed_training.checks.registry import all_rules

DEFAULT_FOLDER = Path("docs/rules")


def files() -> dict[str, str]:
    """Content of every page by its file's name."""
    return {"README.md": index(), **{f"{rule.id}.md": page(rule) for rule in all_rules().values()}}


def main(folder: Path) -> None:
    """Write all pages, and remove those of rules that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = files()
    for old in folder.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER)
