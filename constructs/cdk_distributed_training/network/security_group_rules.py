"""Security group rules by group id, as resources of their own.

CDK's own `connections` cannot say what training needs: next to an allow-all egress it drops an egress rule to the group
itself, on an imported group it drops every egress rule, and from another stack it may close a dependency cycle.
https://github.com/aws/aws-cdk/issues/38558
"""

from __future__ import annotations

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct


@dataclass(frozen=True)
class Traffic:
    """What a rule lets through.

    Attributes:
        name: Part of the rules' construct ids.
        protocol: IP protocol name, or `-1` for all traffic.
        from_port: First port; None with all traffic.
        to_port: Last port; None with all traffic.
    """

    name: str
    protocol: str
    from_port: int | None = None
    to_port: int | None = None

    def __str__(self) -> str:
        """The traffic in words."""
        if self.from_port is None:
            return "all traffic"
        ports = f"{self.from_port}" if self.from_port == self.to_port else f"{self.from_port}-{self.to_port}"
        return f"{self.protocol} {ports}"


ALL_TRAFFIC = Traffic("All", "-1")

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
LUSTRE = (Traffic("Lustre988", "tcp", 988, 988), Traffic("Lustre1018", "tcp", 1018, 1023))


@dataclass(frozen=True)
class Opening:
    """Traffic between two groups (or one group and itself), in both directions, seen from `group`.

    Attributes:
        group: The group that gets an ingress and an egress rule.
        peer: The group that both rules name.
        traffic: What they let through.
        description: Why, as the rules' description in the console; at most 255 characters.
    """

    group: ec2.ISecurityGroup
    peer: ec2.ISecurityGroup
    traffic: Traffic
    description: str

    def create(self, scope: Construct, id: str) -> list[Construct]:
        """Create the ingress and the egress rule in `scope`."""
        ingress = ec2.CfnSecurityGroupIngress(
            scope,
            f"{id}{self.traffic.name}Ingress",
            group_id=self.group.security_group_id,
            source_security_group_id=self.peer.security_group_id,
            ip_protocol=self.traffic.protocol,
            from_port=self.traffic.from_port,
            to_port=self.traffic.to_port,
            description=self.description,
        )
        egress = ec2.CfnSecurityGroupEgress(
            scope,
            f"{id}{self.traffic.name}Egress",
            group_id=self.group.security_group_id,
            destination_security_group_id=self.peer.security_group_id,
            ip_protocol=self.traffic.protocol,
            from_port=self.traffic.from_port,
            to_port=self.traffic.to_port,
            description=self.description,
        )
        return [ingress, egress]

    def __str__(self) -> str:
        """The two rules in words, for a group that only its owner may change."""
        return f"{self.traffic} in and out between {name_of(self.group)} and {name_of(self.peer)}"


def name_of(group: ec2.ISecurityGroup) -> str:
    """The group's id, or its construct path where the id is not known before deployment."""
    if cdk.Token.is_unresolved(group.security_group_id):
        return f"the group {group.node.path}"
    return group.security_group_id
