"""Closes a VPC's default security group, which EC2 makes with rules and CloudFormation cannot change."""

from __future__ import annotations

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_everywhere

_TYPE = "Custom::CloseDefaultSecurityGroup"


def close_default_security_group(scope: Construct, id: str, *, vpc: ec2.CfnVPC) -> None:
    """Remove every rule of a default security group when the stack is deployed, and restore them when it is deleted.

    Only an API call can do it, so the stack gets one small Lambda function, shared by all networks in it, that may
    change the rules of these groups and nothing else.

    Args:
        scope: Scope of the custom resource.
        id: Its construct id.
        vpc: The VPC whose default group it is.
    """
    stack = cdk.Stack.of(scope)
    security_group_id = vpc.attr_default_security_group
    provider = cdk.CustomResourceProvider.get_or_create_provider(
        scope,
        _TYPE,
        code_directory=str(Path(__file__).with_name("close_default_security_group")),
        runtime=cdk.CustomResourceProviderRuntime.NODEJS_22_X,
        description="Removes the rules of the default security group of a training VPC",
    )
    provider.add_to_role_policy(
        {
            "Effect": "Allow",
            "Action": [
                "ec2:AuthorizeSecurityGroupEgress",
                "ec2:AuthorizeSecurityGroupIngress",
                "ec2:RevokeSecurityGroupEgress",
                "ec2:RevokeSecurityGroupIngress",
            ],
            "Resource": [stack.format_arn(service="ec2", resource="security-group", resource_name=security_group_id)],
        }
    )
    cdk.CustomResource(
        scope,
        id,
        resource_type=_TYPE,
        service_token=provider.service_token,
        properties={"SecurityGroupId": security_group_id},
    )
    acknowledge_everywhere(  # they report every VPC in any template
        vpc,
        {
            f"A custom resource beside the VPC, {id}, removes the default security group's rules.": [
                "VPCDefaultSecurityGroupClosed"
            ]
        },
    )
    acknowledge_everywhere(
        provider.node.find_child("Handler"),
        {
            "CloudFormation calls it at deployments only, waits for its answer, and it calls nothing but EC2's API": [
                "CKV_AWS_115",
                "CKV_AWS_116",
                "CKV_AWS_117",
            ]
        },
    )
