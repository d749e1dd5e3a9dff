"""The container that every node runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aws_cdk import aws_batch as batch

from cdk_distributed_training.data.tables import InstanceType
from cdk_distributed_training.engines.multi_node.user_data import LustreMount

# of a machine's memory, what the system and the ECS agent leave:
# https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html
_FREE_FOR_CONTAINERS = 0.9
_DEVICE = "/dev/infiniband/uverbs"

_Property = batch.CfnJobDefinition


def start_command() -> list[str]:
    """The container's command, whatever the image's entry point makes of it.

    AWS Batch can replace an image's command and not its entry point. That of AWS's training images hands the command's
    words to the shell's `eval`, others run them as they are: here the first reads `sh -c :` and then the rest, the
    second one script, and either reads the quotes once.
    """
    text = (Path(__file__).parent / "node_start.py").read_text(encoding="utf-8")
    return ["sh", "-c", f":;exec python3 -u -c {shlex.quote(text)}"]


@dataclass(frozen=True, kw_only=True)
class NodeContainer:
    """What the container depends on.

    Attributes:
        facts: What EC2 says of the instance type.
        image: The image's address.
        job_role_arn: The role of the training script.
        execution_role_arn: The role by which the image is pulled and the log is written.
        environment: Variables.
        mounts: Directories of file systems.
        log_group_name: Where the log goes.
        region: The log's region.
        memory_mib: Memory of the container; most of the machine's if `None`.
        shared_memory_mib: Size of /dev/shm; half of the container's memory if `None`.
    """

    facts: InstanceType
    image: str
    job_role_arn: str
    execution_role_arn: str
    environment: Mapping[str, str]
    mounts: Sequence[LustreMount]
    log_group_name: str
    region: str
    memory_mib: float | None = None
    shared_memory_mib: float | None = None

    def properties(self) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
        """The container as the job definition has it."""
        memory = int(self.memory_mib or self.facts.memory_mib * _FREE_FOR_CONTAINERS)
        resources = {"VCPU": self.facts.vcpu, "MEMORY": memory, "GPU": self.facts.gpu_count}
        return batch.CfnJobDefinition.ContainerPropertiesProperty(
            image=self.image,
            instance_type=self.facts.name.removeprefix("ml."),
            command=start_command(),
            job_role_arn=self.job_role_arn,
            execution_role_arn=self.execution_role_arn,
            environment=[
                _Property.EnvironmentProperty(name=name, value=value) for name, value in self.environment.items()
            ],
            resource_requirements=[
                _Property.ResourceRequirementProperty(type=kind, value=str(amount))
                for kind, amount in resources.items()
                if amount
            ],
            linux_parameters=_Property.LinuxParametersProperty(
                shared_memory_size=int(self.shared_memory_mib or memory // 2),
                devices=[self._device(number) for number in range(self.facts.efa_interfaces)] or None,
            ),
            # EFA and NCCL pin memory: https://docs.aws.amazon.com/batch/latest/userguide/efa.html
            ulimits=[
                _Property.UlimitProperty(name="memlock", soft_limit=-1, hard_limit=-1),
                _Property.UlimitProperty(name="nofile", soft_limit=1048576, hard_limit=1048576),
            ],
            volumes=[
                _Property.VolumesProperty(
                    name=f"channel-{number}", host=_Property.VolumesHostProperty(source_path=mount.folder)
                )
                for number, mount in enumerate(self.mounts, 1)
            ]
            or None,
            mount_points=[
                _Property.MountPointsProperty(
                    source_volume=f"channel-{number}",
                    container_path=f"/opt/ml/input/data/{mount.channel_name}",
                    read_only=mount.read_only,
                )
                for number, mount in enumerate(self.mounts, 1)
            ]
            or None,
            log_configuration=_Property.LogConfigurationProperty(
                log_driver="awslogs",
                options={
                    "awslogs-group": self.log_group_name,
                    "awslogs-region": self.region,
                    "awslogs-stream-prefix": "node",
                },
            ),
        )

    @staticmethod
    def _device(number: int) -> batch.CfnJobDefinition.DeviceProperty:
        path = f"{_DEVICE}{number}"
        return _Property.DeviceProperty(host_path=path, container_path=path, permissions=["READ", "WRITE", "MKNOD"])
