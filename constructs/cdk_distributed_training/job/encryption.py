"""One key for everything that a job stores, where nothing else is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cdk_distributed_training.data.tables import instance_types
from cdk_distributed_training.request.instances import Instances

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms


def with_volume_key(instances: Instances, key: kms.IKey | None) -> Instances:
    """The machines with the key for their volumes, unless they have one or cannot take one.

    Types with local NVMe storage encrypt that by the hardware and refuse a key; of a type without facts nobody knows.
    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html
    """
    table = instance_types()
    takes_key = all(name in table and not table[name].local_nvme_gb for name in instances.types)
    if key is None or instances.volume_key is not None or not takes_key:
        return instances
    return replace(instances, volume_key=key)
