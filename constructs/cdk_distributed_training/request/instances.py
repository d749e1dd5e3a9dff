"""The machines of a training job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cdk_distributed_training.data.tables import InstanceType, instance_types

if TYPE_CHECKING:
    import aws_cdk as cdk

# large enough for a container, the code and a model; SageMaker ignores it where the type has local NVMe storage
_DEFAULT_VOLUME_GIB = 30


@dataclass(frozen=True)
class Instances:
    """A number of equal machines.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html

    Attributes:
        instance_type: SageMaker's name, such as `ml.p5.48xlarge`; `p5.48xlarge` means the same. A type that this
            library does not know yet passes with a warning.
        count: How many; 1 unless given. An execution may override it.
        volume_size: Storage of each machine; 30 GiB unless given. Ignored by SageMaker where the type has local
            NVMe storage.
    """

    instance_type: str
    count: int = field(default=1, kw_only=True)
    volume_size: cdk.Size | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Complete EC2's name to SageMaker's; a token stays as it is."""
        name = self.instance_type
        if isinstance(name, str) and not name.startswith(("ml.", "${")):
            object.__setattr__(self, "instance_type", f"ml.{name}")

    @property
    def facts(self) -> InstanceType | None:
        """What the table of instance types says of the type; `None` if it has no row for it."""
        return instance_types().get(self.instance_type)

    def render(self) -> dict[str, Any]:
        """The request's `ResourceConfig`."""
        volume = _DEFAULT_VOLUME_GIB if self.volume_size is None else self.volume_size.to_gibibytes()
        return {"InstanceType": self.instance_type, "InstanceCount": self.count, "VolumeSizeInGB": volume}
