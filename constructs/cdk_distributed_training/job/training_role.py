"""The role that a training job runs as: nothing that is not bound to the job."""

from __future__ import annotations

import json
from typing import Any, cast

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards
from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.rules.brought_role import unchangeable_role
from cdk_distributed_training.enclosing_stack import EnclosingStack, PartOfStack
from cdk_distributed_training.engines.service_role import service_principal
from cdk_distributed_training.job.allow import allow
from cdk_distributed_training.job.role_mutability import may_change
from cdk_distributed_training.job.training_principal import TrainingPrincipal
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.request.vpc_config import VpcConfig

_LOG_GROUP = "/aws/sagemaker/TrainingJobs"
_NETWORK_READS = (
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
)


class TrainingRole(PartOfStack):
    """A role that only SageMaker's training jobs of this account may take on, and the policy of what they may do.

    Logs and metrics are allowed from the start; channels, image, output and network add their own statements. All stand
    in one managed policy of the job's own, also for a role of the user's, whose trust is left as it is: IAM attaches at
    most 10 managed policies to a role (a quota that can be raised to 20), each with at most 6,144 characters.

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
        self._brought = role
        self._session_tags = session_tags
        self._changeable = role is None or may_change(self, role)
        self._made: iam.IRole | None = None
        self._document: iam.PolicyDocument | None = None
        self._principal = TrainingPrincipal(lambda: self.role, account=self._stack.account, holder=self)
        self._allow_logs_and_metrics()

    @property
    def role(self) -> iam.IRole:
        """The role itself; a new one is made when it is first asked for, best after all that it may do is known."""
        if self._made is None:
            self._made = self._brought or self._new()
        return self._made

    @property
    def grantee(self) -> iam.IGrantable:
        """To whom permissions are granted until `settle` is called."""
        return cast("iam.IGrantable", self._principal)

    @property
    def required_statements(self) -> list[dict[str, Any]]:
        """What the role must be allowed, as an IAM policy has it; values that deployment decides are intrinsics."""
        statements: list[dict[str, Any]] = self._stack.resolve(self._principal.document)["Statement"]
        return statements

    def settle(self) -> iam.IRole:
        """Make the role, with all that was granted; of one that may not be changed, say what its owner must allow."""
        if not self._changeable:
            listed = json.dumps(self.required_statements, separators=(",", ":"))
            annotate_warnings(self, unchangeable_role(listed))
        elif self._document is not None:  # a resource's policy has asked for the role before
            self._document.add_statements(*self._principal.statements)
        elif self._brought is not None:
            self._policy(self._principal.document, self._brought)
        else:
            self._made = self._new(self._principal.document)
        return self.role

    def trust(self, service: iam.ServicePrincipal) -> None:
        """Let another service of this account take on a role made here."""
        role = self.role
        if isinstance(role, iam.Role) and role.assume_role_policy is not None:
            account = {"StringEquals": {"aws:SourceAccount": self._stack.account}}
            role.assume_role_policy.add_statements(
                iam.PolicyStatement(
                    actions=["sts:AssumeRole"],
                    principals=[service],
                    conditions=account,
                )
            )

    def allow_network(self, network: ITrainingNetwork) -> VpcConfig:
        """Allow SageMaker to put the machines into a network's subnet and nowhere else; return the request's entry."""

        def arn(resource: str, name: str) -> str:
            return self._stack.format_arn(service="ec2", resource=resource, resource_name=name)

        subnet_id, group_ids = network.subnet.subnet_id, [group.security_group_id for group in network.security_groups]
        subnet, interfaces = arn("subnet", subnet_id), arn("network-interface", "*")
        groups = [arn("security-group", group_id) for group_id in group_ids]
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
        return VpcConfig(subnet_ids=[subnet_id], security_group_ids=group_ids)

    def _allow_logs_and_metrics(self) -> None:
        group = self._stack.format_arn(service="logs", resource="log-group", resource_name=_LOG_GROUP, separator=":")
        self._allow(
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            [group, f"{group}:*"],
        )
        self._allow(["cloudwatch:PutMetricData"], ["*"], {"StringEquals": {"cloudwatch:namespace": _LOG_GROUP}})

    def _allow(
        self, actions: list[str], resources: list[str], conditions: dict[str, dict[str, str]] | None = None
    ) -> None:
        allow(self.grantee, actions, resources, conditions)

    def _new(self, document: iam.PolicyDocument | None = None) -> iam.IRole:
        self._document = document or iam.PolicyDocument()
        principal = _training_jobs(self._stack)
        return iam.Role(
            self,
            "Resource",
            assumed_by=principal.with_session_tags() if self._session_tags else principal,
            managed_policies=[self._policy(self._document)],
        )

    def _policy(self, document: iam.PolicyDocument, *roles: iam.IRole) -> iam.ManagedPolicy:
        policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="What a distributed training job may do",
            document=document,
            roles=list(roles) or None,
        )
        acknowledge_wildcards(
            policy,
            "resources end in * where SageMaker chooses names (objects under a prefix, log streams, network "
            "interfaces) and are * for the actions that know no resources",
            document=document,
            stack=self._stack,
        )
        return policy


def _training_jobs(stack: EnclosingStack) -> iam.PrincipalBase:
    """SageMaker, on behalf of a training job of this account and region and of nobody else.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/security-confused-deputy-prevention.html
    """
    jobs = stack.format_arn(service="sagemaker", resource="training-job", resource_name="*")
    return service_principal("sagemaker.amazonaws.com", account=stack.account, source_arn=jobs)
