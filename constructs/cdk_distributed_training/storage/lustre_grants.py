"""What can be granted on a file system."""

from __future__ import annotations

from collections.abc import Callable

from aws_cdk import aws_iam as iam


class LustreFileSystemGrants:
    """Grants on one file system. Reading and writing files is no IAM matter: the network decides who may mount."""

    def __init__(self, file_system_id: str, *, arn: Callable[[str, str], str]) -> None:
        """Make the grants of one file system.

        Args:
            file_system_id: Its id.
            arn: Gives the ARN of an FSx resource, by its kind and name.
        """
        self._file_system_id = file_system_id
        self._arn = arn

    def describe(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee read the file system's description, which SageMaker does before it mounts one."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=["fsx:DescribeFileSystems"], resource_arns=[self._own]
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
            resource_arns=[self._own, self._arn("task", "*")],
        )

    def create_backup(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let the grantee make backups of the file system."""
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["fsx:CreateBackup", "fsx:DescribeBackups", "fsx:TagResource"],
            resource_arns=[self._own, self._arn("backup", "*")],
        )

    @property
    def _own(self) -> str:
        return self._arn("file-system", self._file_system_id)
