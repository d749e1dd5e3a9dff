"""The role of a group's nodes."""

from __future__ import annotations

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards
from cdk_distributed_training.network.interfaces import ITrainingNetwork

_LOGS = "/aws/sagemaker/Clusters"


class NodeRole(Construct):
    """A role with what `AmazonSageMakerClusterInstanceRolePolicy` allows, each statement on this cluster's own things.

    SageMaker's managed policy lets a node write the logs of every cluster and read every bucket whose name begins with
    `sagemaker-`. These statements name this cluster's log group, and the scripts' bucket only where there are scripts.
    The others are what the service needs to put nodes into a VPC.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        network: ITrainingNetwork,
        security_group_ids: Sequence[str],
        more: Sequence[iam.PolicyStatement],
        role: iam.IRole | None,
    ) -> None:
        """Make the role, or attach the policy to one that is brought.

        Args:
            scope: The parent construct.
            id: The construct id.
            cluster_name: The cluster's name.
            network: Where the nodes are.
            security_group_ids: Groups that the nodes get besides the network's.
            more: Further statements.
            role: A role that exists.
        """
        super().__init__(scope, id)
        statements = [*_statements(cdk.Stack.of(self), cluster_name, network, security_group_ids), *more]
        policy = iam.ManagedPolicy(self, "Policy", statements=statements, roles=None if role is None else [role])
        acknowledge_wildcards(
            policy,
            "SageMaker makes up the ids of clusters, network interfaces and log streams; EC2's descriptions, sessions "
            "of Systems Manager and metrics know no resources",
        )
        self._policy = policy
        self._role = role or iam.Role(
            self,
            "Resource",
            assumed_by=_sagemaker(cdk.Stack.of(self)),
            managed_policies=[policy],
        )

    @property
    def role(self) -> iam.IRole:
        """The role."""
        return self._role

    def allow(self, statement: iam.PolicyStatement) -> None:
        """Add a statement to the policy."""
        self._policy.add_statements(statement)


def _sagemaker(stack: cdk.Stack) -> iam.ServicePrincipal:
    """SageMaker on behalf of this account and of nobody else.

    Which resource it names for the nodes of a cluster is said nowhere, so that aws:SourceArn is not asked for: a wrong
    guess would be a cluster that never starts.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/security-confused-deputy-prevention.html
    """
    account = {"StringEquals": {"aws:SourceAccount": stack.account}}
    return iam.ServicePrincipal("sagemaker.amazonaws.com", conditions=account)


def _statements(
    stack: cdk.Stack, cluster_name: str, network: ITrainingNetwork, security_group_ids: Sequence[str]
) -> list[iam.PolicyStatement]:
    def arn(service: str, resource: str, name: str, separator: str = "/") -> str:
        return stack.format_arn(
            service=service,
            resource=resource,
            resource_name=name,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME if separator == ":" else cdk.ArnFormat.SLASH_RESOURCE_NAME,
        )

    log_group = arn("logs", "log-group", f"{_LOGS}/{cluster_name}/*", ":")
    interfaces = arn("ec2", "network-interface", "*")
    place = [
        interfaces,
        arn("ec2", "subnet", network.subnet.subnet_id),
        *(arn("ec2", "security-group", group.security_group_id) for group in network.security_groups),
        *(arn("ec2", "security-group", group) for group in security_group_ids),
    ]
    return [
        # the log of the node's start and of its health
        iam.PolicyStatement(actions=["logs:CreateLogGroup"], resources=[log_group]),
        iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            resources=[f"{log_group}:log-stream:*"],
        ),
        iam.PolicyStatement(
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": _LOGS}},
        ),
        # people enter a node by Systems Manager
        iam.PolicyStatement(
            actions=[
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ],
            resources=["*"],
        ),
        # nodes are in SageMaker's account, and get interfaces in this VPC
        iam.PolicyStatement(
            actions=["ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission"], resources=place
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:CreateTags",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
                "ec2:DetachNetworkInterface",
            ],
            resources=[interfaces],
        ),
        iam.PolicyStatement(
            actions=[
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            resources=["*"],
        ),
    ]
