"""Writes docs/construct-ids.md from the reference stacks: `python tools/construct_ids.py`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "construct-ids.md"
_HEAD = """# Construct ids

A construct's path decides the logical ids of its resources. Another path is another resource: CloudFormation would
replace what there is, and a bucket or a file system with it. So the paths below are part of this library's interface,
and a change of one is a breaking change. To change a resource beyond what the props offer, find it by its path:

```python
job.node.find_child("Output").node.default_child.add_property_override("Tags", [])
```

Written from the reference stacks in `tests/stacks/reference_stacks.py` by `tools/construct_ids.py`; a test keeps it
current. Paths are relative to the construct in the heading. Rules between security groups that CDK itself makes are
left out: it names them by the logical ids of the groups.
"""


def page(folders: list[Path]) -> str:
    """The page, from the cloud assemblies of the reference stacks."""
    found: dict[str, dict[str, str]] = {}
    for folder in folders:
        tree = json.loads((folder / "tree.json").read_text(encoding="utf-8"))["tree"]
        for heading, path, kind in _constructs(tree):
            found.setdefault(heading, {})[path] = kind
    sections = [
        "\n".join([f"## {heading}", "", "| path | resource |", "|---|---|", *_rows(found[heading])])
        for heading in sorted(found)
    ]
    return "\n\n".join([_HEAD.rstrip(), *sections]) + "\n"


def _rows(paths: dict[str, str]) -> Iterator[str]:
    for path in sorted(paths):
        yield f"| `{path}` | {paths[path]} |"


def _constructs(tree: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Resources below constructs of this library, each with the class that a user made and the path from there."""
    for name, stack in sorted(tree["children"].items()):
        if name in ("Tree", "Validation"):
            continue
        for id, child in sorted(stack.get("children", {}).items()):
            heading = _HEADINGS.get(id)
            if heading is not None:
                yield from ((heading, path, kind) for path, kind in _resources(child, ""))


# what the reference stacks call the constructs of this library
_HEADINGS = {"Job": "DistributedTrainingJob", "Network": "TrainingNetwork", "Corpus": "LustreFileSystem"}


def _resources(node: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    kind = node.get("attributes", {}).get("aws:cdk:cloudformation:type")
    if kind is not None and " " not in path:
        yield path, kind
    for id, child in sorted(node.get("children", {}).items()):
        yield from _resources(child, f"{path}/{id}" if path else id)


def main() -> None:
    """Synthesize the reference stacks and write the page."""
    sys.path.insert(0, str(ROOT))
    from tests.stacks.reference_stacks import ALL, synthesize  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder) / name for name in ALL]
        for name, place in zip(ALL, folders, strict=True):
            synthesize(ALL[name], place)
        PAGE.write_text(page(folders), encoding="utf-8")


if __name__ == "__main__":
    main()
