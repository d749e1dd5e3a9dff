"""The folder for models in S3, and the use of it."""

from __future__ import annotations

from typing import Literal

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.job.s3_access import grant_write
from cdk_distributed_training.request.output_data_config import OutputDataConfig


def model_folder(
    grantee: iam.IGrantable,
    bucket: s3.IBucket,
    *,
    prefix: str,
    key: kms.IKey | None,
    compression: Literal["GZIP", "NONE"] | None,
) -> OutputDataConfig:
    """Grant writing to the folder, and return the request's part.

    SageMaker puts exactly one slash between the folder and a job's name, however the folder ends.

    Args:
        grantee: Who writes.
        bucket: The bucket.
        prefix: The folder in it; empty for the whole bucket.
        key: Key with which models are encrypted; the bucket's own encryption if `None`.
        compression: How models are stored; one `model.tar.gz` if `None`.
    """
    folder = prefix.rstrip("/")
    grant_write(grantee, bucket, f"{folder}/" if folder else "")
    return OutputDataConfig(
        output_path=f"s3://{bucket.bucket_name}/{folder}",
        key_id=None if key is None else key.key_arn,
        compression=compression,
    )
