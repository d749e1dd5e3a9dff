"""Hyperparameters that are too long or too many for the API, as a file in a channel of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from cdk_distributed_training.job.allow import allow
from cdk_distributed_training.request.channels import HYPERPARAMETER_CHANNEL, s3_channel


class HyperparameterFile(Construct):
    """A JSON object of names and texts; the launcher reads it with what the API brings."""

    def __init__(self, scope: Construct, id: str, *, values: Mapping[str, str]) -> None:
        """Write the file.

        Args:
            scope: The parent construct.
            id: The construct id.
            values: Names and texts, without tokens: the file exists before the deployment does.
        """
        import hashlib  # noqa: PLC0415  it loads OpenSSL, and few jobs have such a file

        super().__init__(scope, id)
        content = json.dumps(dict(sorted(values.items())), ensure_ascii=False).encode()
        stage = cdk.Stage.of(self)
        # in the assembly itself, so that it lasts as long as what names it, also where CDK stages no assets
        folder = Path(stage.asset_outdir if stage else cdk.App.of(self).outdir)  # type: ignore[union-attr]
        path = folder / f"hyperparameters-{hashlib.sha256(content).hexdigest()[:16]}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._asset = assets.Asset(self, "Asset", path=str(path))

    def bind(self, grantee: iam.IGrantable) -> dict[str, Any]:
        """Grant reading, and return the request's entry."""
        bucket = self._asset.bucket
        for action, arn in (("s3:ListBucket", bucket.bucket_arn), ("s3:GetObject", bucket.arn_for_objects("*.json"))):
            allow(grantee, [action], [arn])
        return s3_channel(HYPERPARAMETER_CHANNEL, self._asset.s3_object_url)
