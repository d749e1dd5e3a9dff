"""A multi-node parallel job on hosts of this machine: no resourceconfig.json, and AWS Batch's variables."""

from collections.abc import Sequence
from pathlib import Path

from launcher_job import LauncherJob

from cdk_distributed_training.local.hosts import NamespaceHosts
from cdk_distributed_training.local.hosts.boot import address


class BatchJob(LauncherJob):
    """Hosts whose names nobody resolves to what the launcher calls them; host 0 is the main node."""

    def __init__(self, hosts: NamespaceHosts, scratch: Path, *, main: int = 0) -> None:
        super().__init__(hosts, scratch)
        self._main = main
        for name in self.names:
            (self.opt_ml(name) / "input/config/resourceconfig.json").unlink()

    def variables(self, host: str) -> dict[str, str]:
        index = self.names.index(host)
        variables = {
            "AWS_BATCH_JOB_ID": f"01234567-89ab-cdef-0123-456789abcdef#{index}",
            "AWS_BATCH_JOB_NODE_INDEX": str(index),
            "AWS_BATCH_JOB_MAIN_NODE_INDEX": str(self._main),
            "AWS_BATCH_JOB_NUM_NODES": str(len(self.names)),
            "TRAINING_INSTANCE_TYPE": "ml.c7i.xlarge",
        }
        if index != self._main:
            variables["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = address(self._main)
        return variables

    def start_nodes(self, *arguments: str, hosts: Sequence[str] = (), **changes: str) -> None:
        """Start the containers, each with its own variables."""
        for name in hosts or self.names:
            self.start(*arguments, hosts=[name], environment={**self.variables(name), **changes})

    def wait_for(self, host: str, seconds: float) -> int:
        """The exit code of one node, while others may go on."""
        return self._processes[host].wait(seconds)
