"""What the job's role must be allowed for features that a request turns on.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdk_distributed_training.job.allow import allow

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms

    from cdk_distributed_training.request.mlflow_config import MlflowConfig

# https://docs.aws.amazon.com/sagemaker/latest/dg/train-remote-debugging.html
_REMOTE_DEBUG = (
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
# https://docs.aws.amazon.com/sagemaker/latest/dg/mlflow-create-tracking-server-iam.html, for a run that reports itself
_MLFLOW = tuple(
    f"sagemaker-mlflow:{action}"
    for action in (
        "CreateExperiment",
        "CreateRun",
        "GetExperiment",
        "GetExperimentByName",
        "GetRun",
        "ListArtifacts",
        "LogBatch",
        "LogInputs",
        "LogMetric",
        "LogModel",
        "LogParam",
        "SearchRuns",
        "SetExperimentTag",
        "SetTag",
        "UpdateRun",
    )
)


def allow_remote_debug(grantee: iam.IGrantable) -> None:
    """Allow the containers to be entered by Systems Manager, which knows no resources here."""
    allow(grantee, _REMOTE_DEBUG, ["*"])


def allow_mlflow(grantee: iam.IGrantable, mlflow: MlflowConfig) -> None:
    """Allow to report runs to one MLflow server or app."""
    allow(grantee, _MLFLOW, [mlflow.resource_arn])


def allow_output_key(grantee: iam.IGrantable, key: kms.IKey) -> None:
    """Allow to encrypt models, in parts too, which takes decrypting."""
    key.grant(grantee, "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey")


def allow_volume_key(grantee: iam.IGrantable, key: kms.IKey) -> None:
    """Allow SageMaker to give the machines' volumes the use of the key, and nobody else anything.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/encryption-at-rest.html
    """
    key.grant(grantee, "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext")
    allow(grantee, ["kms:CreateGrant"], [key.key_arn], {"Bool": {"kms:GrantIsForAWSResource": "true"}})
