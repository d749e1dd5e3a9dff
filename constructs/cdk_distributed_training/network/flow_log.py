"""A VPC's flow log in CloudWatch Logs, with a role of its own."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.monitoring.log_group import create_log_group


class VpcFlowLog(Construct):
    """Records every connection of a VPC, accepted and rejected.

    Attributes:
        log_group: Where the records go.
    """

    log_group: logs.ILogGroup

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc_id: str,
        log_group: logs.ILogGroup | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Create the flow log.

        Args:
            scope: The parent construct.
            id: The construct id.
            vpc_id: Id of the VPC.
            log_group: Where the records go. By default a new group that keeps them for one year, which stays when the
                stack is deleted.
            encryption_key: Key for the new group; by default CloudWatch Logs' own.
        """
        super().__init__(scope, id)
        self.log_group = log_group or create_log_group(self, "Records", encryption_key=encryption_key)
        role = iam.Role(self, "Role", assumed_by=self._flow_log_service(), description="Writes VPC flow logs")
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            roles=[role],
            statements=[
                iam.PolicyStatement(
                    actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                    resources=[self.log_group.log_group_arn],
                )
            ],
        )
        flow_log = ec2.CfnFlowLog(
            self,
            "Resource",
            resource_type="VPC",
            resource_id=vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_group_name=self.log_group.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
        )
        flow_log.node.add_dependency(policy)  # the service writes a first record as soon as the flow log exists

    def _flow_log_service(self) -> iam.ServicePrincipal:
        # https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html, "confused deputy"
        stack = cdk.Stack.of(self)
        any_flow_log = stack.format_arn(service="ec2", resource="vpc-flow-log", resource_name="*")
        return iam.ServicePrincipal(
            "vpc-flow-logs.amazonaws.com",
            conditions={
                "StringEquals": {"aws:SourceAccount": stack.account},
                "ArnLike": {"aws:SourceArn": any_flow_log},
            },
        )
