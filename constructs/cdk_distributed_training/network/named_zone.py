"""Why a subnet names its zone."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2


def acknowledge_named_zone(subnet: ec2.CfnSubnet) -> None:
    """Tell CloudFormation's validation, which would have zones chosen by the region, why this one is not."""
    cdk.Validations.of(subnet).acknowledge(
        cdk.Acknowledgment(
            id="CloudFormation-Validate::W3010",
            reason="Training runs in the one zone that has the capacity, so the zone is named on purpose.",
        )
    )
