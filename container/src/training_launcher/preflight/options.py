"""The options on the launcher's command line."""

from __future__ import annotations

import argparse

from training_launcher.preflight.levels import LEVELS

TRIAL_SECONDS = 120


def add_preflight_arguments(group: argparse._ArgumentGroup) -> None:
    """``--preflight`` and ``--preflight-timeout``."""
    group.add_argument(
        "--preflight",
        choices=LEVELS,
        help="what several hosts try before the start: nothing; the network between them, in well under a second; and "
        "a small all-reduce in throwaway processes too (default: network; collectives where there is EFA)",
    )
    group.add_argument(
        "--preflight-timeout",
        type=_seconds,
        default=float(TRIAL_SECONDS),
        metavar="SECONDS",
        help=f"how long that all-reduce may take with all that it needs to begin (default: {TRIAL_SECONDS})",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 10**9:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return seconds
