"""The option on the launcher's command line."""

from __future__ import annotations

import argparse


def add_hang_arguments(group: argparse._ArgumentGroup) -> None:
    """``--hang-timeout``."""
    group.add_argument(
        "--hang-timeout",
        type=_seconds,
        metavar="SECONDS",
        help="end the job when no rank on any host has written anything for this long, and write where each rank "
        "stands; choose more than loading, compiling or saving may take in silence (default: wait forever)",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 10**9:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return seconds
