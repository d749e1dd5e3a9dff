"""The launcher's command line: ``KIND [options] -- SCRIPT [arguments]``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from training_launcher import __version__
from training_launcher.collectives.options import add_collectives_arguments
from training_launcher.entry import Entry, parse_entry
from training_launcher.groups import add_group_arguments, group_entries
from training_launcher.hang.options import add_hang_arguments
from training_launcher.launchers import launcher_kinds
from training_launcher.launchers.base import Launcher, whole_number
from training_launcher.preflight.options import add_preflight_arguments
from training_launcher.problems import Problem

CONTROL_PORT = 7775


class Request(NamedTuple):
    """A parsed command line."""

    launcher: Launcher
    options: argparse.Namespace
    entry: Entry
    group_entries: Mapping[str, Entry] = {}
    """What the hosts of instance groups outside of the world run, by the group's name."""


def parse_command_line(words: Sequence[str], environment: Mapping[str, str]) -> Request:
    """Parse the words after the program's name.

    Raises:
        Problem: They make no sense; the message says how they should look.
        SystemExit: After printing ``--help`` or ``--version``.
    """
    cut = words.index("--") if "--" in words else len(words)
    kinds = launcher_kinds(words[0] if words else "")
    parser = make_parser(environment, kinds)
    options = parser.parse_args(words[:cut])
    if cut == len(words):
        raise Problem(f"there must be `--` and the entry script after the options, got: {' '.join(words)}")
    return Request(kinds[options.kind](), options, parse_entry(words[cut + 1 :]), group_entries(options))


class _Parser(argparse.ArgumentParser):
    """Complains by `Problem`, so that a wrong argument reaches the failure file like anything else."""

    def error(self, message: str) -> NoReturn:
        raise Problem(f"{message} (see `{self.prog} --help`)")


def make_parser(environment: Mapping[str, str], kinds: Mapping[str, type[Launcher]]) -> argparse.ArgumentParser:
    """The parser, with the kinds' own options."""
    parser = _Parser(
        prog="launcher",
        description="Start distributed training on every host of a SageMaker training job.",
        epilog="Hyperparameters are appended to the script's arguments as `--name value`.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"training-launcher {__version__}")
    children = parser.add_subparsers(dest="kind", metavar="KIND", required=True, parser_class=_Parser)
    for name, kind in kinds.items():
        child = children.add_parser(
            name,
            help=kind.summary,
            description=kind.summary,
            usage=f"launcher {name} [options] -- SCRIPT [arguments]",
            allow_abbrev=False,
        )
        kind.add_arguments(child)
        _add_common(child.add_argument_group("options of every kind"), environment)
    return parser


def _add_common(group: argparse._ArgumentGroup, environment: Mapping[str, str]) -> None:
    group.add_argument(
        "--base-dir",
        default=environment.get("SAGEMAKER_BASE_DIR") or "/opt/ml",
        metavar="DIR",
        help="what SageMaker calls /opt/ml (default: SAGEMAKER_BASE_DIR, else /opt/ml)",
    )
    group.add_argument("--dry-run", action="store_true", help="print what this host would run, as JSON, and end")
    add_group_arguments(group)
    add_hang_arguments(group)
    add_collectives_arguments(group)
    add_preflight_arguments(group)
    group.add_argument(
        "--boolean-hyperparameters",
        choices=["value", "flag"],
        default="value",
        help="pass true as `--name true`, or as `--name` alone and false not at all (default: value)",
    )
    group.add_argument(
        "--hyperparameter-encoding",
        choices=["auto", "plain", "json"],
        default="auto",
        help="whether each value is JSON, as the SageMaker Python SDK writes it (default: auto, by looking at all)",
    )
    group.add_argument(
        "--control-port",
        type=whole_number(1, 65535),
        default=CONTROL_PORT,
        metavar="PORT",
        help=f"port on the first host where the launchers meet (default: {CONTROL_PORT})",
    )
    for option, default, meaning in (
        ("--name-timeout", 600, "how long to wait until every host's name resolves"),
        ("--join-timeout", 1200, "how long to wait until every host's launcher is ready"),
        ("--silent-timeout", 30, "how long a host may say nothing before it counts as lost"),
        ("--grace", 110, "after a stop, how long the ranks may take to save and end before they are killed"),
        ("--failure-grace", 2, "after a failure, how long the other ranks may take to end before they are killed"),
    ):
        group.add_argument(
            option, type=_seconds, default=float(default), metavar="SECONDS", help=f"{meaning} (default: {default})"
        )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 10**9:
        raise argparse.ArgumentTypeError(f"must be a number of seconds of at least 0, got {text!r}")
    return seconds


def base_directory(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """The base directory even if the command line is wrong, so that the failure file finds its place."""
    cut = words.index("--") if "--" in words else len(words)
    for position, word in enumerate(words[:cut]):
        if word.startswith("--base-dir="):
            return os.path.abspath(word.split("=", 1)[1])
        if word == "--base-dir" and position + 1 < cut:
            return os.path.abspath(words[position + 1])
    return os.path.abspath(environment.get("SAGEMAKER_BASE_DIR") or "/opt/ml")
