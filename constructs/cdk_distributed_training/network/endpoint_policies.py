"""What may be done through the network's endpoints."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_iam as iam

# https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html: those known to take a policy
_SERVICES_WITH_POLICY = frozenset(
    {
        "ec2",
        "ecr.api",
        "ecr.dkr",
        "elasticfilesystem",
        "fsx",
        "kms",
        "logs",
        "monitoring",
        "sagemaker.api",
        "sagemaker.runtime",
        "secretsmanager",
        "ssm",
        "states",
        "sts",
        "xray",
    }
)


def takes_policy(service_name: str) -> bool:
    """Whether an interface endpoint of a service, by its short name, is known to take a policy."""
    return service_name in _SERVICES_WITH_POLICY


def own_principals_only(accounts: Sequence[str]) -> iam.PolicyStatement:
    """Calls that are signed by these accounts, and no others: credentials from elsewhere carry nothing out."""
    return iam.PolicyStatement(
        sid="OwnPrincipalsOnly",
        principals=[iam.AnyPrincipal()],
        actions=["*"],
        resources=["*"],
        conditions={"StringEquals": {"aws:PrincipalAccount": list(accounts)}},
    )


def read_objects() -> iam.PolicyStatement:
    """Reading from S3 with any credentials or none.

    Layers of images and packages of Amazon Linux come from AWS's own buckets, public data sets from anyone's.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
    """
    return iam.PolicyStatement(
        sid="ReadObjects",
        principals=[iam.AnyPrincipal()],
        actions=["s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket", "s3:GetBucketLocation"],
        resources=["*"],
    )
