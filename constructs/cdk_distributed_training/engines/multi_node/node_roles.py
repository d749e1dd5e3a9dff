"""Who the containers are: the training script, and what pulls its image and writes its log."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.engines.service_role import ServiceRole

# What of a training job's permissions SageMaker needs, and Batch does not: to put machines into the subnet, to write
# its log, and to pull the image, which is the execution role's here.
_OF_SAGEMAKER = ("cloudwatch", "ec2", "ecr", "fsx", "logs")


class NodeRoles(Construct):
    """Both roles, which only tasks of Amazon ECS in this account and region may take on.

    Source: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html
    """

    def __init__(
        self, scope: Construct, id: str, *, statements: Sequence[iam.PolicyStatement], log_group: logs.ILogGroup
    ) -> None:
        """Make the roles.

        Args:
            scope: The parent construct.
            id: The construct id.
            statements: What the job's own role is allowed.
            log_group: Where the nodes' logs go.
        """
        super().__init__(scope, id)
        self._statements = list(statements)
        self._execution = self._role(
            "Execution",
            [
                *self._of("ecr"),
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
                ),
            ],
            "log streams have names that ECS makes up, and an ECR token knows no resources",
        )
        services = {statement.actions[0].split(":")[0] for statement in self._statements if statement.actions}
        self._job = self._role(
            "Job",
            self._of(*sorted(services - set(_OF_SAGEMAKER))),
            "resources end in * where objects under a prefix are meant",
        )

    @property
    def job(self) -> iam.IRole:
        """The role of the training script."""
        return self._job

    @property
    def execution(self) -> iam.IRole:
        """The role by which ECS pulls the image and writes the log."""
        return self._execution

    def _of(self, *services: str) -> list[iam.PolicyStatement]:
        return [
            statement.copy()
            for statement in self._statements
            if {action.split(":")[0] for action in statement.actions} <= set(services)
        ]

    def _role(self, id: str, statements: Sequence[iam.PolicyStatement], wildcards: str) -> iam.IRole:
        return ServiceRole(
            self,
            id,
            service="ecs-tasks.amazonaws.com",
            source_arn=cdk.Stack.of(self).format_arn(service="ecs", resource="*"),
            statements=statements,
            wildcards=wildcards,
        ).role
