"""Tells whether an imported security group may be changed."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2


def may_change(group: ec2.ISecurityGroup) -> bool:
    """Whether rules may be added to a group: not if it was imported with `mutable=False`.

    CDK publishes no such property, it only ignores what is added. So a rule is added and taken away again.
    """
    before = {child.node.id for child in group.node.children}
    group.add_ingress_rule(group, ec2.Port.tcp(1), "probe")
    added = [child.node.id for child in group.node.children if child.node.id not in before]
    return bool(added) and all(group.node.try_remove_child(child) for child in added)
