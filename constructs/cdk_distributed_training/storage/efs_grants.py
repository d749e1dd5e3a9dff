"""What can be granted on an EFS file system."""

from __future__ import annotations

from aws_cdk import aws_iam as iam


class EfsFileSystemGrants:
    """Grants on one file system.

    Who may mount is decided by the network first; a file system policy may ask for these leaves besides.
    """

    def __init__(self, file_system_arn: str) -> None:
        """Make the grants of the file system with this ARN."""
        self._arn = file_system_arn

    def describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee find the file system and its mount targets, as SageMaker does before it mounts one."""
        return self._grant(grantee, "elasticfilesystem:DescribeFileSystems", "elasticfilesystem:DescribeMountTargets")

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee mount it to read."""
        return self._grant(grantee, "elasticfilesystem:ClientMount")

    def write(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee mount it to read and write."""
        return self._grant(grantee, "elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite")

    def _grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[self._arn])
