"""pytorchddp: mpirun with the environment of SageMaker's data parallel library, which the script need not use.

What the SageMaker Python SDK starts for ``distribution={"pytorchddp": {"enabled": True}}``.
https://docs.aws.amazon.com/sagemaker/latest/dg/data-parallel-framework-estimator.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from training_launcher.launchers.base import Situation
from training_launcher.launchers.mpirun import Mpirun
from training_launcher.needs import Program

SERVER_PORT = 7592
SMDDPRUN = Program("smddprun", "it comes with SageMaker's data parallel library in AWS's PyTorch containers")


class PytorchDdp(Mpirun):
    """``smddprun`` starts the script where the image holds it, as SageMaker's own toolkit does."""

    name: ClassVar[str] = "pytorchddp"
    summary: ClassVar[str] = "mpirun for PyTorch's DistributedDataParallel, by smddprun where the image holds it"

    def environment(self, situation: Situation) -> Mapping[str, str]:
        """What the library reads; `RDMAV_FORK_SAFE` and `NCCL_PROTO` are not set, since they do harm today."""
        instance_type = situation.cluster.group_of(situation.cluster.current_host).instance_type
        if len(situation.world) == 1:
            return {"SMDATAPARALLEL_USE_SINGLENODE": "1", "SAGEMAKER_INSTANCE_TYPE": instance_type}
        return {
            "SMDATAPARALLEL_USE_HOMOGENEOUS": "1",
            "SMDATAPARALLEL_SERVER_ADDR": situation.leader_address,
            "SMDATAPARALLEL_SERVER_PORT": str(SERVER_PORT),
            "SAGEMAKER_INSTANCE_TYPE": instance_type,
            **({"FI_PROVIDER": "efa"} if situation.devices.efa else {}),
        }

    def mpirun_words(self, situation: Situation) -> tuple[str, ...]:
        """The library adds server processes of its own to the slots."""
        del situation
        return ("--oversubscribe",)

    def wrapper(self, situation: Situation) -> tuple[str, ...]:
        """``smddprun``, where it is installed."""
        return (SMDDPRUN.name,) if SMDDPRUN.found(situation.environment) else ()

    def framework_parameters(self, situation: Situation) -> Mapping[str, object]:
        """As the SDK's hyperparameters would have them."""
        group = situation.cluster.group_of(situation.cluster.current_host)
        return {"sagemaker_pytorch_ddp_enabled": True, "sagemaker_instance_type": group.instance_type}
