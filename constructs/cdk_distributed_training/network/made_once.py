"""What EC2 makes once only, although several constructs may ask for it."""

from __future__ import annotations

from collections import Counter
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IConstruct

from cdk_distributed_training.network.security_group_rules import Opening, id_of

Key = tuple[str, ...]


class MadeOnce:
    """What has been made so far in an app, or in one stage of it.

    EC2 refuses a rule that a group has already, a second private name for a service in a VPC, and a second route to S3
    in a route table. Two networks, or two file systems, on the same brought group would ask for it.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self._made: dict[Key, Construct] = {}
        self._rules: Counter[str] = Counter()

    @staticmethod
    def in_stage_of(scope: IConstruct) -> MadeOnce:
        """The record of the scope's stage: each stage is deployed by itself, and cannot rely on another's rules."""
        root = cdk.Stage.of(scope) or scope.node.root
        if root not in _RECORDS:
            _RECORDS[root] = MadeOnce()
        return _RECORDS[root]

    def find(self, *key: str) -> Construct | None:
        """What was made under a key."""
        return self._made.get(key)

    def remember(self, construct: Construct, *key: str) -> None:
        """Record what was made."""
        self._made[key] = construct

    def open(self, scope: Construct, id: str, opening: Opening, *, brought: bool) -> list[Construct]:
        """The rules of an opening: those that exist, else new ones in `scope`.

        Args:
            scope: Scope of new rules.
            id: How their construct ids begin.
            opening: What to open.
            brought: Whether others made the group, and may have given it rules.
        """
        existing = _rules_of(opening.group) if brought else {}
        rules = []
        for side in opening.sides():
            rule = self._made.get(side.key) or existing.get(side.key)
            if rule is None:
                rule = side.create(scope, id)
                self._rules[f"{side.direction} {id_of(opening.group)}"] += 1
            self._made[side.key] = rule
            rules.append(rule)
        return rules

    def count_rules(self, group: ec2.ISecurityGroup) -> int:
        """How many rules this library gave a group, in the direction that has more."""
        return max(self._rules[f"{direction} {id_of(group)}"] for direction in ("Ingress", "Egress"))


def _rules_of(group: ec2.ISecurityGroup) -> dict[Key, Construct]:
    """The rules that a group's owner in the app made, as far as they name another group."""
    found: dict[Key, Construct] = {}
    for child in group.node.children:
        if isinstance(child, ec2.CfnSecurityGroupIngress):
            peer, direction = child.source_security_group_id, "Ingress"
        elif isinstance(child, ec2.CfnSecurityGroupEgress):
            peer, direction = child.destination_security_group_id, "Egress"
        else:
            continue
        if peer is not None and child.group_id is not None:
            ports = (str(child.from_port), str(child.to_port)) if child.from_port is not None else ("None", "None")
            key = (direction, child.group_id, peer, child.ip_protocol, *ports)
            found[key] = child
    return found


_RECORDS: WeakKeyDictionary[IConstruct, MadeOnce] = WeakKeyDictionary()
