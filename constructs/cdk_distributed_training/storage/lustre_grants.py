"""What can be granted on a file system."""

from __future__ import annotations

from aws_cdk import aws_iam as iam


class LustreFileSystemGrants:
    """Grants on one file system. Reading and writing files is no IAM matter: the network decides who may mount."""

    def __init__(self, file_system_arn: str) -> None:
        """Make the grants of the file system with this ARN."""
        self._arn = file_system_arn

    def describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee read the file system's description, which SageMaker does before it mounts one."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["fsx:DescribeFileSystems"], resource_arns=[self._arn]
        )
