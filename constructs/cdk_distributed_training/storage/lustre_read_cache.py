"""The solid state disks in front of elastic storage."""

from __future__ import annotations

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_fsx as fsx


@dataclass(frozen=True)
class LustreReadCache:
    """The read cache of an Intelligent-Tiering file system; `proportional`, `of_size` and `none` make one.

    Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreReadCacheConfiguration.html

    Attributes:
        mode: How it is sized, in FSx's words.
        size: Its size, where the user chose one.
    """

    mode: str
    size: cdk.Size | None = None

    @classmethod
    def proportional(cls) -> LustreReadCache:
        """As large as the throughput capacity gives."""
        return cls("PROPORTIONAL_TO_THROUGHPUT_CAPACITY")

    @classmethod
    def of_size(cls, size: cdk.Size) -> LustreReadCache:
        """A size of one's own.

        Args:
            size: From 8 to 32,768 GiB for each 1,000 MB/s of throughput capacity.
        """
        return cls("USER_PROVISIONED", size)

    @classmethod
    def none(cls) -> LustreReadCache:
        """No cache: every read goes to the elastic storage."""
        return cls("NO_CACHE")

    def render(self) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty:
        """As CloudFormation takes it."""
        return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(
            sizing_mode=self.mode, size_gib=None if self.size is None else self.size.to_gibibytes()
        )
