"""Slurm's lists of nodes: ``node[001-003,7],x`` are five.

https://slurm.schedmd.com/scontrol.html#OPT_hostnames
"""

from __future__ import annotations

import re

from training_launcher.problems import Problem

_NAMES = re.compile(r"(?:[^\[\],\s]|\[[^\[\]]*\])+")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_MOST = 100_000
"""More nodes than any cluster has: a slip of the pen must not fill the memory."""


def expand_node_list(text: str) -> list[str]:
    """Names in the list's order.

    >>> expand_node_list("node[001-003,7],x")
    ['node001', 'node002', 'node003', 'node7', 'x']

    Raises:
        Problem: It is no such list, or names a node twice.
    """
    parts = _NAMES.findall(text)
    if not parts or ",".join(parts) != text:
        raise Problem(f"no list of Slurm's nodes, such as node[001-003,7],x: {text!r}")
    names = [name for part in parts for name in _expand(part, text)]
    if len(set(names)) != len(names):
        raise Problem(f"a node is twice in Slurm's list {text!r}")
    return names


def _expand(part: str, text: str) -> list[str]:
    """One name, of which any number of places may have brackets; the first changes slowest."""
    names = [""]
    for word in re.findall(r"\[[^\]]*\]|[^\[]+", part):
        endings = _numbers(word[1:-1], text) if word.startswith("[") else [word]
        if len(names) * len(endings) > _MOST:
            raise Problem(f"more than {_MOST} nodes in Slurm's list {text!r}")
        names = [name + ending for name in names for ending in endings]
    return names


def _numbers(listed: str, text: str) -> list[str]:
    numbers: list[str] = []
    for item in listed.split(","):
        match = _RANGE.fullmatch(item)
        if not match:
            raise Problem(f"{item!r} in Slurm's list {text!r} is no number and no range of numbers")
        first, last = match[1], match[2] or match[1]
        count = int(last) - int(first) + 1
        if not 1 <= count <= _MOST:
            raise Problem(f"the range {item!r} in Slurm's list {text!r} has {max(count, 0)} nodes")
        # the first number's zeros give the width of all
        numbers += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return numbers
