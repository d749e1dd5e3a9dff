"""parameter-server: TensorFlow's chief on the first host, workers on the others, a parameter server on all.

https://www.tensorflow.org/tutorials/distribute/parameter_server_training
"""

from __future__ import annotations

import argparse
from typing import ClassVar

from training_launcher.devices import Devices
from training_launcher.launchers.base import Launch, Launcher, Situation, whole_number
from training_launcher.plan import Command
from training_launcher.tf_config import Tasks, places, tf_config

PORT = 2222
"""As the SageMaker TensorFlow toolkit has it; its parameter servers listen at the next one, as ours do."""

_TENSORFLOW_SERVER = """
import json, os
import tensorflow as tf
config = json.loads(os.environ["TF_CONFIG"])
cluster = tf.train.ClusterSpec(config["cluster"])
tf.distribute.Server(cluster, job_name=config["task"]["type"], task_index=config["task"]["index"]).join()
"""


class ParameterServer(Launcher):
    """The job ends with the chief: servers, and workers that wait for work, never end by themselves.

    On a single host there is nobody to serve, and the script runs alone, without ``TF_CONFIG``.
    """

    name: ClassVar[str] = "parameter-server"
    summary: ClassVar[str] = "TensorFlow's parameter servers and workers on every host, and a chief on the first"

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Ports, the chief's name and what a server is."""
        parser.add_argument(
            "--master-port",
            "--master_port",
            type=whole_number(1, 65534),
            default=PORT,
            metavar="PORT",
            help="port on every host where its chief or worker listens; its parameter server listens at the next one "
            f"(default: {PORT})",
        )
        parser.add_argument(
            "--chief-task",
            choices=["chief", "master"],
            default="chief",
            help="what the first task is called in TF_CONFIG; scripts for the SageMaker TensorFlow toolkit expect "
            "master (default: chief)",
        )
        parser.add_argument(
            "--servers",
            choices=["script", "tensorflow"],
            default="script",
            help="run the script for the ps tasks too, as TensorFlow describes it, or TensorFlow's own server, as the "
            "SageMaker TensorFlow toolkit does (default: script)",
        )

    def processes(self, options: argparse.Namespace, devices: Devices) -> int:
        """One, the chief."""
        del options, devices
        return 1

    def has_ranks(self, options: argparse.Namespace, host_rank: int) -> bool:
        """The chief alone decides about the end."""
        del options
        return host_rank == 0

    def launch(self, situation: Situation) -> Launch:
        """The server and the chief or worker of this host."""
        number, options = situation.host_rank, situation.options
        if len(situation.world) == 1:
            return Launch((Command("script", situation.script, rank=0),))
        port = int(options.master_port)
        trainers = places(situation.world, situation.addresses, port, 2)
        servers = places(situation.world, situation.addresses, port + 1, 2)
        tasks: Tasks = {options.chief_task: trainers[:1], "worker": trainers[1:], "ps": servers}
        server = Command(
            f"ps {number}",
            self._server(situation),
            # the GPUs are the trainers'
            environment={"TF_CONFIG": tf_config(tasks, "ps", number), "CUDA_VISIBLE_DEVICES": "-1"},
            service=True,
        )
        return Launch(
            (server, self._trainer(situation, tasks)),
            ports=tuple(int(place.rpartition(":")[2]) for place in (trainers[number], servers[number])),
        )

    @staticmethod
    def _trainer(situation: Situation, tasks: Tasks) -> Command:
        number = situation.host_rank
        if number == 0:
            task = tf_config(tasks, situation.options.chief_task, 0)
            return Command(situation.options.chief_task, situation.script, environment={"TF_CONFIG": task}, rank=0)
        task = tf_config(tasks, "worker", number - 1)
        return Command(f"worker {number - 1}", situation.script, environment={"TF_CONFIG": task}, service=True)

    @staticmethod
    def _server(situation: Situation) -> tuple[str, ...]:
        if situation.options.servers == "script":
            return situation.script
        return (situation.python, "-u", "-c", _TENSORFLOW_SERVER)
