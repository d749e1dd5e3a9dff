"""The deployment types and disks of FSx for Lustre."""

from __future__ import annotations

import enum

from cdk_distributed_training.checks.rules.lustre_deployments import DEPLOYMENTS, Deployment


class LustreDeploymentType(enum.Enum):
    """How a file system keeps its data.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
    """

    SCRATCH_1 = "SCRATCH_1"
    """Short-term, an older generation: no data repository associations, no encryption in transit."""
    SCRATCH_2 = "SCRATCH_2"
    """Short-term: data are lost when a file server fails. For data that S3 has too."""
    PERSISTENT_1 = "PERSISTENT_1"
    """Long-term, an older generation, offered in every region and with hard disks."""
    PERSISTENT_2 = "PERSISTENT_2"
    """Long-term, the fastest; offered in most regions."""

    @property
    def facts(self) -> Deployment:
        """What FSx allows for this type."""
        return DEPLOYMENTS[self.value]


class LustreStorageType(enum.Enum):
    """The disks of a file system."""

    SSD = "SSD"
    """Solid state disks."""
    HDD = "HDD"
    """Hard disks, only for `PERSISTENT_1`: cheaper, for large sequential reads."""
    INTELLIGENT_TIERING = "INTELLIGENT_TIERING"
    """Elastic storage, only for `PERSISTENT_2`: pays for what is stored, moves what is not read to cheaper tiers, and
    has no links to S3."""


class LustreLogLevel(enum.Enum):
    """What a file system logs of its exchanges with S3.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/cw-event-logging.html
    """

    WARN_ONLY = "WARN_ONLY"
    """Warnings."""
    ERROR_ONLY = "ERROR_ONLY"
    """Errors."""
    WARN_ERROR = "WARN_ERROR"
    """Both."""
