"""What can be granted on a file system."""

from __future__ import annotations

from aws_cdk import aws_iam as iam


class LustreFileSystemGrants:
    """Grants on one file system. Reading and writing files is no IAM matter: the network decides who may mount."""

    def __init__(self, file_system_arn: str, *, tasks: str, backups: str) -> None:
        """Make the grants of one file system.

        Args:
            file_system_arn: Its ARN.
            tasks: ARN of the account's data repository tasks.
            backups: ARN of the account's backups.
        """
        self._arn = file_system_arn
        self._tasks = tasks
        self._backups = backups

    def describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee read the file system's description, which SageMaker does before it mounts one."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["fsx:DescribeFileSystems"], resource_arns=[self._arn]
        )

    def data_repository_tasks(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee start and watch tasks that import from S3 or export to it, for example after training."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[
                "fsx:CancelDataRepositoryTask",
                "fsx:CreateDataRepositoryTask",
                "fsx:DescribeDataRepositoryTasks",
                "fsx:TagResource",
            ],
            resource_arns=[self._arn, self._tasks],
        )

    def create_backup(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee make backups of the file system."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["fsx:CreateBackup", "fsx:DescribeBackups", "fsx:TagResource"],
            resource_arns=[self._arn, self._backups],
        )
