"""No modules of the checks need each other in a circle, wherever in a module the import stands."""

import ast
from pathlib import Path

import cdk_distributed_training

PACKAGE = Path(cdk_distributed_training.__file__).parent
NAME = PACKAGE.name


def modules():
    """Every module by its dotted name, with what it imports at run time."""
    return {_name(path): path for path in PACKAGE.rglob("*.py")}


def _name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, known):
    """The library's modules that a module imports; not those that only a type checker reads."""
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == NAME:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def _statements(node):
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for child in ast.iter_child_nodes(node):
        yield child
        yield from _statements(child)


def circle(graph):
    """A circle of names, empty if there is none."""
    done = set()

    def visit(name, trail):
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name not in done:
            for other in sorted(graph[name]):
                found = visit(other, [*trail, name])
                if found:
                    return found
            done.add(name)
        return []

    return next(filter(None, (visit(name, []) for name in sorted(graph))), [])


def test_finds_circles():
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_no_circle():
    known = modules()
    checks = {name: path for name, path in known.items() if name.startswith(f"{NAME}.checks")}
    graph = {name: {*imports(path, known)} & checks.keys() - {name} for name, path in checks.items()}
    assert sum(map(len, graph.values())) > 200
    assert circle(graph) == []
