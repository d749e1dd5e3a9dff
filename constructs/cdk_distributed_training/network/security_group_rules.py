"""Security group rules by group id, as resources of their own.

CDK's own `connections` cannot say what training needs: next to an allow-all egress it drops an egress rule to the group
itself, on an imported group it drops every egress rule, and from another stack it may close a dependency cycle.
https://github.com/aws/aws-cdk/issues/38558
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge
from cdk_distributed_training.tokens import known


class Traffic(NamedTuple):
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

NFS = Traffic("Nfs", "tcp", 2049, 2049)


class Opening(NamedTuple):
    """Traffic between two groups (or one group and itself), seen from `group`.

    Attributes:
        group: The group that gets the rules.
        peer: The group that they name.
        traffic: What they let through.
        description: Why, as the rules' description in the console; at most 255 characters.
        directions: `Ingress`, `Egress` or both.
    """

    group: ec2.ISecurityGroup
    peer: ec2.ISecurityGroup
    traffic: Traffic
    description: str
    directions: Sequence[str] = ("Ingress", "Egress")

    def sides(self) -> Sequence[Side]:
        """Its rules, one for each direction."""
        return [Side(self, direction) for direction in self.directions]

    def create(self, scope: Construct, id: str) -> list[Construct]:
        """Create the rules in `scope`."""
        return [side.create(scope, id) for side in self.sides()]

    def __str__(self) -> str:
        """The rules in words, for a group that only its owner may change."""
        ways = " and ".join({"Ingress": "in", "Egress": "out"}[direction] for direction in self.directions)
        return f"{self.traffic} {ways} between {name_of(self.group)} and {name_of(self.peer)}"


class Side(NamedTuple):
    """One of an opening's two rules.

    Attributes:
        opening: The opening.
        direction: `Ingress` or `Egress`.
    """

    opening: Opening
    direction: str

    @property
    def key(self) -> tuple[str, ...]:
        """What EC2 tells rules of a group apart by."""
        traffic = self.opening.traffic
        return (
            self.direction,
            id_of(self.opening.group),
            id_of(self.opening.peer),
            traffic.protocol,
            str(traffic.from_port),
            str(traffic.to_port),
        )

    def create(self, scope: Construct, id: str) -> Construct:
        """Create the rule in `scope`."""
        traffic = self.opening.traffic
        name = f"{id}{traffic.name}{self.direction}"
        group, peer = id_of(self.opening.group), id_of(self.opening.peer)
        if self.direction == "Ingress":
            rule = ec2.CfnSecurityGroupIngress(
                scope,
                name,
                group_id=group,
                source_security_group_id=peer,
                ip_protocol=traffic.protocol,
                from_port=traffic.from_port,
                to_port=traffic.to_port,
                description=self.opening.description,
            )
            if traffic is ALL_TRAFFIC:
                _acknowledge_all_traffic(rule)
            return rule
        return ec2.CfnSecurityGroupEgress(
            scope,
            name,
            group_id=group,
            destination_security_group_id=peer,
            ip_protocol=traffic.protocol,
            from_port=traffic.from_port,
            to_port=traffic.to_port,
            description=self.opening.description,
        )


def _acknowledge_all_traffic(rule: Construct) -> None:
    for pack in ("NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321"):  # they take any rule of all traffic for a wide one
        acknowledge(
            rule,
            f"{pack}-EC2RestrictedCommonPorts",
            "The rule's only source is a security group; EFA needs all traffic among the members.",
        )


_IDS: WeakKeyDictionary[ec2.ISecurityGroup, str] = WeakKeyDictionary()


def id_of(group: ec2.ISecurityGroup) -> str:
    """The group's id, asked of CDK once: it never changes, and several rules name it."""
    if group not in _IDS:
        _IDS[group] = group.security_group_id
    return _IDS[group]


def name_of(group: ec2.ISecurityGroup) -> str:
    """The group's id, or its construct path where the id is not known before deployment."""
    if not known(id_of(group)):
        return f"the group {group.node.path}"
    return id_of(group)
