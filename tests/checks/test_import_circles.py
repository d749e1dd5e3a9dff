"""No modules need each other in a circle, wherever in a module the import stands, be it for type checkers alone."""

import ast
import graphlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "constructs/cdk_distributed_training"
LAUNCHER = ROOT / "container/src/training_launcher"


def imports_of(package):
    """What each module of a package imports from it, by dotted names."""
    modules = {_name(path, package): path for path in package.rglob("*.py")}
    return {name: {*_imported(path, name, modules)} - {name} for name, path in modules.items()}


def _name(path, package):
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path, name, modules):
    folder = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), folder)
            for alias in node.names:
                part = f"{origin}.{alias.name}"
                yield from {part if part in modules else origin} & modules.keys()


def circle(graph):
    """A circle of names, each of which needs the next; empty if there is none."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as found:
        return found.args[1][::-1]
    return []


IMPORTS_OF_B = [
    "import parts.inner.b",
    "from parts.inner import b",
    "from parts.inner.b import B",
    "from .inner import b",
    "from .inner.b import B",
    "def make():\n    from parts.inner.b import B\n    return B()",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from parts.inner.b import B",
]


@pytest.mark.parametrize("import_of_b", IMPORTS_OF_B)
def test_finds_every_kind_of_import(tmp_path, import_of_b):
    package = tmp_path / "parts"
    (package / "inner").mkdir(parents=True)
    for name in ("__init__", "inner/__init__", "c"):
        (package / f"{name}.py").write_text("", encoding="utf-8")
    (package / "a.py").write_text(f"import json\nimport parts.c\n{import_of_b}\n", encoding="utf-8")
    (package / "inner/b.py").write_text("from ..c import C\n", encoding="utf-8")
    assert circle(imports_of(package)) == []
    (package / "inner/b.py").write_text("from .. import a\nB = 1\n", encoding="utf-8")
    found = circle(imports_of(package))
    assert found[0] == found[-1]
    assert set(found) == {"parts.a", "parts.inner.b"}


@pytest.mark.parametrize(("package", "least"), [(LIBRARY, 1200), (LAUNCHER, 200)])
def test_no_circle_of_modules(package, least):
    graph = imports_of(package)
    assert sum(map(len, graph.values())) > least
    assert circle(graph) == []


def test_no_circle_of_subjects():
    """The library's folders: the job knows the engines, no engine knows the job."""
    subjects = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}
    graph = {subject: set() for subject in subjects}
    for name, others in imports_of(LIBRARY).items():
        subject = _subject(name)
        if subject in subjects:
            graph[subject] |= {_subject(other) for other in others} & subjects - {subject}
    assert "engines" in graph["job"]
    assert circle(graph) == []


def _subject(name):
    return name.partition(".")[2].partition(".")[0]
