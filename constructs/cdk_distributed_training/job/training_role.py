"""The role that a training job runs as: nothing that is not bound to the job."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards

_LOG_GROUP = "/aws/sagemaker/TrainingJobs"
_NETWORK_READS = (
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
)


class TrainingRole(Construct):
    """A role that only SageMaker's training jobs of this account may take on, and the policy of what they may do.

    Logs and metrics are allowed from the start; channels, image, output and network add their own statements.
    With a role of the user's the statements go to that role, and its trust is left as it is.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html
    """

    def __init__(self, scope: Construct, id: str, *, role: iam.IRole | None = None, session_tags: bool = False) -> None:
        """Make the role.

        Args:
            scope: The parent construct.
            id: The construct id.
            role: A role to use in place of a new one.
            session_tags: Whether a new role's session may have tags.
        """
        super().__init__(scope, id)
        if role is None:
            policy = iam.ManagedPolicy(self, "Policy", description="What a distributed training job may do")
            acknowledge_wildcards(
                policy,
                "resources end in * where SageMaker chooses names (objects under a prefix, log streams, network "
                "interfaces) and are * for the actions that know no resources",
            )
            self._grantee: iam.IGrantable = policy
            principal = _training_jobs(cdk.Stack.of(self))
            self._role: iam.IRole = iam.Role(
                self,
                "Resource",
                assumed_by=principal.with_session_tags() if session_tags else principal,
                managed_policies=[policy],
            )
        else:
            self._grantee = self._role = role
        self._allow_logs_and_metrics()

    @property
    def role(self) -> iam.IRole:
        """The role itself."""
        return self._role

    @property
    def grantee(self) -> iam.IGrantable:
        """To whom permissions are granted: the role's own policy, or the role that was given."""
        return self._grantee

    def allow_network(self, vpc_subnet: ec2.ISubnet, security_groups: list[ec2.ISecurityGroup]) -> None:
        """Allow SageMaker to put the machines into a subnet, and into no other."""
        stack = cdk.Stack.of(self)

        def arn(resource: str, name: str) -> str:
            return stack.format_arn(service="ec2", resource=resource, resource_name=name)

        subnet, interfaces = arn("subnet", vpc_subnet.subnet_id), arn("network-interface", "*")
        groups = [arn("security-group", group.security_group_id) for group in security_groups]
        self._allow(["ec2:CreateNetworkInterface"], [interfaces, *groups, subnet])
        self._allow(
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            [interfaces],
            {"ArnEquals": {"ec2:Subnet": subnet}},
        )
        self._allow(list(_NETWORK_READS), ["*"])

    def _allow_logs_and_metrics(self) -> None:
        group = cdk.Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=_LOG_GROUP,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        self._allow(
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            [group, f"{group}:*"],
        )
        self._allow(["cloudwatch:PutMetricData"], ["*"], {"StringEquals": {"cloudwatch:namespace": _LOG_GROUP}})

    def _allow(
        self, actions: list[str], resources: list[str], conditions: dict[str, dict[str, str]] | None = None
    ) -> None:
        self._grantee.grant_principal.add_to_principal_policy(
            iam.PolicyStatement(actions=actions, resources=resources, conditions=conditions)
        )


def _training_jobs(stack: cdk.Stack) -> iam.PrincipalBase:
    """SageMaker, on behalf of a training job of this account and region and of nobody else.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/security-confused-deputy-prevention.html
    """
    jobs = stack.format_arn(service="sagemaker", resource="training-job", resource_name="*")
    return iam.ServicePrincipal(
        "sagemaker.amazonaws.com",
        conditions={"StringEquals": {"aws:SourceAccount": stack.account}, "ArnLike": {"aws:SourceArn": jobs}},
    )
