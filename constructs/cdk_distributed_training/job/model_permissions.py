"""What a job's role must be allowed to take models from hubs, to register them, and to have them judged.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/model-customize-open-weight-prereq.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk

from cdk_distributed_training.job.allow import allow
from cdk_distributed_training.tokens import known

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

    from cdk_distributed_training.request.model_package_config import ModelPackageConfig
    from cdk_distributed_training.request.serverless_job import ServerlessJobConfig

_REGISTER = (
    "sagemaker:AddTags",
    "sagemaker:CreateModelPackage",
    "sagemaker:DescribeModelPackage",
    "sagemaker:ListTags",
    "sagemaker:UpdateModelPackage",
)
# an evaluation runs as one of Bedrock's, which knows its ARN only when it has been made
_EVALUATE = ("bedrock:CreateEvaluationJob", "bedrock:GetEvaluationJob")


def allow_model_package(grantee: iam.IGrantable, package: ModelPackageConfig) -> None:
    """Allow to make versions in one group of the model registry, and to read the version that a job goes on from."""
    allow(grantee, ["sagemaker:CreateModelPackage", "sagemaker:DescribeModelPackageGroup"], [package.group_arn])
    allow(grantee, _REGISTER, [f"{_versions(package.group_arn)}/*"])
    if package.source_arn is not None:
        allow(grantee, ["sagemaker:DescribeModelPackage"], [package.source_arn])


def allow_model(grantee: iam.IGrantable, job: ServerlessJobConfig) -> None:
    """Allow to take the base model from its hub, and what judges the answers."""
    # SageMaker takes the newest version, which it adds to the ARN
    allow(grantee, ["sagemaker:DescribeHubContent"], [job.base_model_arn, f"{job.base_model_arn}/*"])
    if job.evaluator_arn is not None:
        allow(grantee, _evaluator_actions(job.evaluator_arn), [job.evaluator_arn])
    if job.job_type == "Evaluation":
        allow(grantee, _EVALUATE, ["*"])


def _versions(group_arn: str) -> str:
    """The ARN of a group's versions, which differs from the group's in one word."""
    group, version = ":model-package-group/", ":model-package/"
    if known(group_arn):
        return group_arn.replace(group, version)
    return cdk.Fn.join(version, cdk.Fn.split(group, group_arn, 2))


def _evaluator_actions(arn: str) -> list[str]:
    """A function is called, a prompt in a hub is read; of a token nobody knows which it is."""
    call, read = "lambda:InvokeFunction", "sagemaker:DescribeHubContent"
    if not known(arn):
        return [call, read]
    return [call if ":lambda:" in arn else read]
