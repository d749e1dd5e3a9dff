"""Where the model goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class OutputDataConfig(RequestPart):
    """The folder for models, and how they are stored there.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_OutputDataConfig.html

    Attributes:
        output_path: S3 address; SageMaker adds a folder for each run.
        key_id: KMS key with which SageMaker encrypts the model; the bucket's own encryption unless given.
        compression: `GZIP` stores one `model.tar.gz`; `NONE` stores the files as they are, which is faster for large
            models; the service's default, `GZIP`, unless given.
    """

    output_path: str = field(metadata=spelled("S3OutputPath"))
    key_id: str | None = field(default=None, metadata=spelled("KmsKeyId"))
    compression: Literal["GZIP", "NONE"] | None = field(default=None, metadata=spelled("CompressionType"))
