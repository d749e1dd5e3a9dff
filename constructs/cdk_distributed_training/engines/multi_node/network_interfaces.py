"""The network interfaces of a machine, by its type."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2

from cdk_distributed_training.data.tables import InstanceType


def network_interfaces(
    facts: InstanceType, security_group_ids: Sequence[str]
) -> list[ec2.CfnLaunchTemplate.NetworkInterfaceProperty]:
    """One interface for each network card that has EFA, the first of which is the machine's own.

    A type with one card more than it has EFA interfaces, as ml.p6-b300.48xlarge, has an ordinary one on the first.

    Args:
        facts: What EC2 says of the type.
        security_group_ids: The groups of each interface.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html,
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    ordinary = facts.efa_interfaces == 0 or facts.network_cards > facts.efa_interfaces
    kinds = [*(["interface"] if ordinary else []), *["efa"] * facts.efa_interfaces]
    return [
        ec2.CfnLaunchTemplate.NetworkInterfaceProperty(
            network_card_index=card,
            device_index=0 if card == 0 else 1,
            interface_type=kind,
            groups=list(security_group_ids),
            delete_on_termination=True,
        )
        for card, kind in enumerate(kinds)
    ]
