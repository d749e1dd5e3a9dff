"""multi-worker-mirrored: one TensorFlow worker a host, with ``TF_CONFIG``.

https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
"""

from __future__ import annotations

import argparse
from typing import ClassVar

from training_launcher.devices import Devices
from training_launcher.launchers.base import Launch, Launcher, Situation, whole_number
from training_launcher.plan import Command
from training_launcher.tf_config import places, tf_config

PORT = 8890
"""As the SageMaker TensorFlow toolkit has it."""


class MultiWorkerMirrored(Launcher):
    """Every worker drives all GPUs of its host; worker 0 is on the first host and writes checkpoints."""

    name: ClassVar[str] = "multi-worker-mirrored"
    summary: ClassVar[str] = "a TensorFlow worker on every host, for MultiWorkerMirroredStrategy"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """The workers' port."""
        parser.add_argument(
            "--master-port",
            "--master_port",
            type=whole_number(1, 65535),
            default=PORT,
            metavar="PORT",
            help=f"port on every host where its worker listens (default: {PORT})",
        )

    def processes(self, options: argparse.Namespace, devices: Devices) -> int:
        """One, whatever the devices."""
        del options, devices
        return 1

    def launch(self, situation: Situation) -> Launch:
        """The worker of this host."""
        workers = places(situation.world, situation.addresses, int(situation.options.master_port))
        number = situation.host_rank
        command = Command(
            "worker",
            situation.script,
            environment={"TF_CONFIG": tf_config({"worker": workers}, "worker", number)},
            rank=number,
        )
        return Launch((command,), ports=(int(workers[number].rpartition(":")[2]),))
