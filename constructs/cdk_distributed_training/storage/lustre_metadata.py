"""How fast a file system looks up and creates files."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_fsx as fsx


@dataclass(frozen=True)
class LustreMetadata:
    """Metadata operations of a `PERSISTENT_2` file system; `automatic` and `provisioned` make one.

    Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html

    Attributes:
        iops: Operations per second; None where they follow the capacity.
    """

    iops: int | None

    @classmethod
    def automatic(cls) -> LustreMetadata:
        """As many as the capacity gives; on solid state disks only."""
        return cls(None)

    @classmethod
    def provisioned(cls, iops: int) -> LustreMetadata:
        """A number of one's own, for data sets of many small files.

        Args:
            iops: Operations per second: 1500, 3000, 6000, or a multiple of 12000 up to 192000; 6000 or 12000 with
                Intelligent-Tiering.
        """
        return cls(iops)

    def render(self) -> fsx.CfnFileSystem.MetadataConfigurationProperty:
        """As CloudFormation takes it."""
        mode = "AUTOMATIC" if self.iops is None else "USER_PROVISIONED"
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode=mode, iops=self.iops)
