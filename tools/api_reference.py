"""Writes one page for each public name, for mkdocs: `python tools/api_reference.py FOLDER`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import cdk_distributed_training as library

# in the order in which a reader meets them
SUBJECTS = {
    "job": "Jobs",
    "distribution": "Ways to start processes",
    "request": "Parts of a request",
    "network": "Networks",
    "storage": "File systems",
    "engines": "Engines",
    "checks": "Checks",
}
ROOT = Path(__file__).parents[1]


def pages() -> dict[str, str]:
    """Content of each page by its path."""
    found: dict[str, str] = {}
    index = ["# Reference", ""]
    for subject, title in SUBJECTS.items():
        names = [name for name in library.__all__ if library._PUBLIC[name].startswith(f"{subject}.")]
        blocks = [f"::: {library.__name__}.{library._PUBLIC[name]}.{name}\n" for name in names]
        found[f"{subject}.md"] = "\n".join([f"# {title}\n", *blocks])
        index.append(f"- [{title}]({subject}.md): {', '.join(names)}")
    return {"index.md": "\n".join(index) + "\n", **found}


def main(folder: Path) -> None:
    """Write the pages into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
