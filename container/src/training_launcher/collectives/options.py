"""The options on the launcher's command line."""

from __future__ import annotations

import argparse

from training_launcher.collectives.choose import AUTO, BACKENDS


def add_collectives_arguments(group: argparse._ArgumentGroup) -> None:
    """``--collectives`` and ``--require-efa``."""
    group.add_argument(
        "--collectives",
        choices=[AUTO, *BACKENDS],
        default=AUTO,
        help="the backend that TRAINING_COLLECTIVES tells the script to take (default: auto, the best that works here)",
    )
    group.add_argument(
        "--require-efa",
        action="store_true",
        help="end at once, saying what is missing, where the hosts would have to meet over TCP",
    )
