"""The security group that the nodes of a job share."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.network.placement import Placement
from cdk_distributed_training.network.security_group_rules import ALL_TRAFFIC, Opening


def create_node_security_group(
    scope: Construct, id: str, *, placement: Placement, s3_prefix_list: ec2.IPrefixList | None
) -> ec2.SecurityGroup:
    """Create the nodes' group: open to itself in both directions, and for HTTPS out.

    No rule allows all traffic to 0.0.0.0/0: such a rule does not cover EFA, makes CDK drop the rule to the group
    itself, and CloudFormation removes it when it adds a rule that is a resource of its own.

    Args:
        scope: Scope of the group.
        id: Its construct id.
        placement: The VPC.
        s3_prefix_list: Where HTTPS may go besides the VPC; by default anywhere that the subnet has a route to.
    """
    group = ec2.SecurityGroup(
        scope,
        id,
        vpc=placement.vpc,
        description="Training nodes: all traffic among themselves, HTTPS out",
        allow_all_outbound=False,
        # At least one rule inside of the group keeps EC2 from adding its own allow-all egress at creation.
        disable_inline_rules=False,
    )
    if s3_prefix_list is None:
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(443), "HTTPS to wherever the subnet has a route")
    else:
        if placement.cidr is not None:
            group.add_egress_rule(
                ec2.Peer.ipv4(placement.cidr), ec2.Port.tcp(443), "HTTPS to interface endpoints in the VPC"
            )
        ec2.CfnSecurityGroupEgress(
            group,
            "S3Egress",
            group_id=group.security_group_id,
            destination_prefix_list_id=s3_prefix_list.prefix_list_id,
            ip_protocol="tcp",
            from_port=443,
            to_port=443,
            description="HTTPS to Amazon S3",
        )
    Opening(group, group, ALL_TRAFFIC, "All traffic among training nodes").create(group, "Nodes")
    return group
