"""Heterogeneous clusters: which instance groups form the world, and what the hosts of the others run.

https://docs.aws.amazon.com/sagemaker/latest/dg/train-heterogeneous-cluster.html
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence

from training_launcher.entry import Entry
from training_launcher.problems import Problem


def add_group_arguments(parser: argparse._ArgumentGroup) -> None:
    """Add the options; every host of a job gets the same command line, so that it must hold every group's command."""
    parser.add_argument(
        "--instance-group",
        dest="instance_groups",
        action="append",
        default=[],
        metavar="NAME",
        help="an instance group that takes part, as one world with the others named so; may be repeated "
        "(default: every group without a command of its own)",
    )
    parser.add_argument(
        "--group-command",
        dest="group_commands",
        type=_group_command,
        action="append",
        default=[],
        metavar="JSON",
        help='what the hosts of another group run, as a JSON list of its name and the words, such as ["data", '
        '"serve.py", "--port", "5000"]; no hyperparameters are appended; it is told to end when the world has ended. '
        "May be repeated; hosts of a group without one wait and end with the world",
    )


def group_entries(options: argparse.Namespace) -> Mapping[str, Entry]:
    """What each group outside of the world runs, by its name.

    Raises:
        Problem: A group has two commands, or takes part as well.
    """
    entries: dict[str, Entry] = {}
    for name, entry in options.group_commands:
        if name in entries:
            raise Problem(f"--group-command is given twice for the instance group {name!r}")
        if name in options.instance_groups:
            raise Problem(
                f"the instance group {name!r} cannot both take part (--instance-group) and run a command of its own "
                "(--group-command)"
            )
        entries[name] = entry
    return entries


def world_of(groups: Mapping[str, Sequence[str]], taking_part: Sequence[str], own: Sequence[str]) -> set[str]:
    """Hosts of the groups that take part.

    Args:
        groups: The job's groups: name to hosts.
        taking_part: Names from ``--instance-group``.
        own: Names from ``--group-command``.

    Raises:
        Problem: A name is no group's, or no group is left.
    """
    known = ", ".join(map(repr, groups))
    for option, names in (("--instance-group", taking_part), ("--group-command", own)):
        for name in names:
            if name not in groups:
                raise Problem(f"{option} names {name!r}, but the job has the groups {known}")
    chosen = taking_part or [name for name in groups if name not in own]
    if not chosen:
        raise Problem(f"every instance group ({known}) has a --group-command, so that none is left for the script")
    return {host for name in chosen for host in groups[name]}


def _group_command(text: str) -> tuple[str, Entry]:
    try:
        words = json.loads(text)
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or not all(words[:2]):
        words = []
    if len(words) < 2 or (words[1] == "-m" and len(words) < 3):
        raise argparse.ArgumentTypeError(
            f'must be a JSON list of the group\'s name and its command, such as ["data", "serve.py"], got {text!r}'
        )
    return words[0], Entry(tuple(words[1:]))
