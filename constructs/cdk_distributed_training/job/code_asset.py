"""Folders that travel into the container as zip files, each in a channel of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from cdk_distributed_training.enclosing_stack import PartOfStack
from cdk_distributed_training.job.allow import allow
from cdk_distributed_training.request.channels import s3_channel


class CodeAsset(PartOfStack):
    """A folder as an S3 asset, and the channel that brings it."""

    def __init__(
        self, scope: Construct, id: str, *, directory: Path, exclude: Sequence[str], channel_name: str
    ) -> None:
        """Make the asset.

        Args:
            scope: The parent construct.
            id: The construct id.
            directory: The folder.
            exclude: Patterns of what stays out, as in `.gitignore`.
            channel_name: Name of the channel.
        """
        super().__init__(scope, id)
        self._channel_name = channel_name
        self._asset = assets.Asset(
            self, "Asset", path=str(directory), exclude=list(exclude), ignore_mode=cdk.IgnoreMode.GIT
        )

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Grant reading, and return the request's entry.

        All zip files of the asset bucket may be read, not only today's: a job that waits for spare capacity restarts
        with the code that it began with, also when a newer one has been deployed since.
        """
        bucket_arn = f"arn:{self._stack.partition}:s3:::{self._asset.s3_bucket_name}"
        for action, arn in (("s3:ListBucket", bucket_arn), ("s3:GetObject", f"{bucket_arn}/*.zip")):
            allow(grantee, [action], [arn])
        return s3_channel(self._channel_name, self._asset.s3_object_url)
