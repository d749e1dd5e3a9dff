"""plain: any command, on every host or on the first one, without a framework's variables."""

from __future__ import annotations

import argparse
from typing import ClassVar

from training_launcher.devices import Devices
from training_launcher.launchers.base import Launch, Launcher, Situation
from training_launcher.plan import Command


class Plain(Launcher):
    """One process on each host; those that care find the others by ``SM_HOSTS`` and ``SM_CURRENT_HOST_RANK``."""

    name: ClassVar[str] = "plain"
    summary: ClassVar[str] = "a command on every host, or on the first host only"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Where."""
        parser.add_argument(
            "--on",
            choices=["every", "leader"],
            default="every",
            help="run the command on every host, or on the first host while the others wait and end with it "
            "(default: every)",
        )

    def processes(self, options: argparse.Namespace, devices: Devices) -> int:
        """One, whatever the devices."""
        del options, devices
        return 1

    def has_ranks(self, options: argparse.Namespace, host_rank: int) -> bool:
        """All, or the leader."""
        return options.on == "every" or host_rank == 0

    def launch(self, situation: Situation) -> Launch:
        """The command as it is."""
        if not self.has_ranks(situation.options, situation.host_rank):
            return Launch(())
        return Launch((Command("command", situation.script, rank=situation.host_rank),))
