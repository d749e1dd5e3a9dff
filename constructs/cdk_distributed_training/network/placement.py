"""Where training runs: a VPC and exactly one subnet of it."""

from __future__ import annotations

from typing import NamedTuple

from aws_cdk import aws_ec2 as ec2


class Placement(NamedTuple):
    """A VPC and the one subnet of it in which nodes and file systems live.

    Attributes:
        vpc: The VPC.
        subnet: The subnet.
        availability_zone: Name of the subnet's zone, often a token; None if nothing says it.
        cidr: The VPC's IPv4 range; None if nothing says it.
        availability_zone_id: Id of the subnet's zone, often a token; None if nothing says it.
        subnet_cidr: The subnet's IPv4 range; None if it is not known before deployment.
    """

    vpc: ec2.IVpc
    subnet: ec2.ISubnet
    availability_zone: str | None
    cidr: str | None
    availability_zone_id: str | None = None
    subnet_cidr: str | None = None
