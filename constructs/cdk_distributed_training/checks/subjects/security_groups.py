"""Security groups' rules: the union over groups, inline rules and separate resources alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.values import Reference, is_undecided
from cdk_distributed_training.checks.template.view import NotJudgedError, View

GROUP = "AWS::EC2::SecurityGroup"
INGRESS, EGRESS = "Ingress", "Egress"
_PEER_GROUP = {INGRESS: "SourceSecurityGroupId", EGRESS: "DestinationSecurityGroupId"}
_PEER_PREFIX = {INGRESS: "SourcePrefixListId", EGRESS: "DestinationPrefixListId"}
_ANYWHERE = ("0.0.0.0/0", "::/0")
_PROTOCOL_NAMES = {"6": "tcp", "17": "udp", "all": "-1"}


@dataclass(frozen=True)
class TrafficRule:
    """One rule of a group.

    Attributes:
        view: Its members.
        direction: `Ingress` or `Egress`.
    """

    view: View
    direction: str

    @property
    def protocol(self) -> str:
        """`-1` for all, else the protocol's name or number."""
        text = (self.view.text("IpProtocol") or "").lower()
        return _PROTOCOL_NAMES.get(text, text)

    @property
    def peer_group(self) -> Any:
        """The other group; None if the rule names addresses."""
        return self.view.raw(_PEER_GROUP[self.direction])

    @property
    def names_addresses(self) -> bool:
        """Whether the peer is a range of addresses or a prefix list."""
        return any(self.view.has(key) for key in ("CidrIp", "CidrIpv6", _PEER_PREFIX[self.direction]))

    @property
    def is_anywhere(self) -> bool:
        """Whether the peer is any address."""
        return self.view.raw("CidrIp") in _ANYWHERE or self.view.raw("CidrIpv6") in _ANYWHERE

    def covers(self, protocol: str, ports: tuple[int, int] | None) -> bool:
        """Whether it is about all of these ports of a protocol, or about some where `ports` is None.

        The protocol `-1` asks for all protocols.
        """
        if self.protocol == "-1":
            return True
        if protocol != self.protocol or ports is None:
            return protocol == self.protocol
        first, last = self.view.number("FromPort"), self.view.number("ToPort")
        if first is None or last is None or first == -1:
            return True
        return first <= ports[0] and ports[1] <= last


class SecurityGroups:
    """The groups of one network interface, or of one kind of node.

    Args:
        graph: The template.
        attached: The groups' ids as the template writes them.
    """

    def __init__(self, graph: Graph, attached: Sequence[Any]) -> None:
        """Read nothing yet."""
        self._graph = graph
        self.attached = [identity(graph, value) for value in attached]

    @property
    def resources(self) -> list[Resource]:
        """Those groups that this template makes."""
        found = [self._graph.target(item, GROUP) for item in self.attached]
        return [resource for resource in found if resource is not None]

    def admits(
        self, direction: str, peers: Sequence[Any], protocol: str = "-1", ports: tuple[int, int] | None = None
    ) -> bool:
        """Whether a rule lets this traffic through to or from one of the peers' groups.

        Raises:
            NotJudgedError: No rule that is known does, but there are rules that are not known.
        """
        wanted = [identity(self._graph, peer) for peer in peers]

        def matches(rule: TrafficRule) -> bool:
            peer = rule.peer_group
            if is_undecided(peer) and peer not in wanted and rule.covers(protocol, ports):
                raise NotJudgedError(rule.view.path)
            return peer is not None and identity(self._graph, peer) in wanted and rule.covers(protocol, ports)

        return self._any(direction, matches, wanted)

    def admits_some(self, direction: str, peers: Sequence[Any], protocol: str) -> bool:
        """Whether a rule lets any traffic of the protocol through, on whatever ports, to or from the peers' groups."""
        wanted = [identity(self._graph, peer) for peer in peers]

        def matches(rule: TrafficRule) -> bool:
            peer = rule.peer_group
            if is_undecided(peer) and peer not in wanted:
                raise NotJudgedError(rule.view.path)
            return peer is not None and identity(self._graph, peer) in wanted and rule.protocol in (protocol, "-1")

        return self._any(direction, matches, wanted)

    def admits_anyone(self) -> bool:
        """Whether anything comes in from any address."""
        return self._any(INGRESS, lambda rule: rule.is_anywhere)

    def has_default_egress(self) -> bool:
        """Whether one of the groups lets everything out because nothing says otherwise."""
        return any(
            not group.properties.has("SecurityGroupEgress") and not self._separate(group, EGRESS)
            for group in self.resources
        )

    def separate_egress(self) -> bool:
        """Whether an egress rule is a resource of its own."""
        return any(self._separate(group, EGRESS) for group in self.resources)

    def keeps_egress(self) -> bool:
        """Whether something may go out to addresses after CloudFormation has removed an inline allow-all rule."""
        for group in self.resources:
            separate = self._separate(group, EGRESS)
            if any(self._leads_out(TrafficRule(item.properties, EGRESS)) for item in separate):
                return True
            if group.properties.has("SecurityGroupEgress"):
                rules = [TrafficRule(item, EGRESS) for item in group.properties.items("SecurityGroupEgress")]
                gone = [rule for rule in rules if separate and rule.is_anywhere and rule.protocol == "-1"]
                if any(rule.names_addresses or rule.peer_group is not None for rule in rules if rule not in gone):
                    return True
            elif not separate:
                return True
        return False

    def _leads_out(self, rule: TrafficRule) -> bool:
        """Whether a rule leads to addresses, or by HTTPS to another group, which may be an endpoint's."""
        peer = identity(self._graph, rule.peer_group)
        return rule.names_addresses or (peer not in self.attached and rule.covers("tcp", (443, 443)))

    def _separate(self, group: Resource, direction: str) -> list[Resource]:
        """The rules of a group that are resources of their own."""
        return self._graph.pointing(f"AWS::EC2::SecurityGroup{direction}", "GroupId", "GroupName").at(
            Reference(group.logical_id)
        )

    def admits_addresses(self, direction: str, protocol: str, ports: tuple[int, int] | None) -> bool:
        """Whether a rule lets this traffic through to or from some addresses, whichever these are."""
        return self._any(direction, lambda rule: rule.names_addresses and rule.covers(protocol, ports))

    def _any(self, direction: str, matches: Callable[[TrafficRule], bool], peers: Sequence[Any] = ()) -> bool:
        """Whether one rule matches; raises if that cannot be told."""
        doubt = NotJudgedError(("SecurityGroupIds",)) if any(map(is_undecided, peers)) else None
        for group in self.attached:
            try:
                for rule in self._rules(group, direction):
                    try:
                        if matches(rule):
                            return True
                    except NotJudgedError as error:
                        doubt = error
            except NotJudgedError as error:
                doubt = error
        if doubt is not None:
            raise doubt
        return False

    def _rules(self, group: Any, direction: str) -> Iterator[TrafficRule]:
        """The rules of a group, known ones first."""
        own = self._graph.target(group, GROUP)
        if own is not None and own.properties.has(f"SecurityGroup{direction}"):
            yield from (TrafficRule(item, direction) for item in own.properties.items(f"SecurityGroup{direction}"))
        separate = self._graph.pointing(f"AWS::EC2::SecurityGroup{direction}", "GroupId", "GroupName")
        mine = separate.at(group)
        yield from (TrafficRule(resource.properties, direction) for resource in mine if resource.exists)
        doubtful = [*separate.undecided, *(resource for resource in mine if not resource.exists)]
        uncertain = NotJudgedError((*doubtful[0].path, "Properties", "GroupId")) if doubtful else None
        if own is None or not own.exists:
            uncertain = NotJudgedError((str(group),))
        if uncertain is not None:
            raise uncertain


def identity(graph: Graph, value: Any) -> Any:
    """One spelling for a group that may be named by `Ref` or by `GroupId`."""
    if graph.target(value, GROUP) is not None and isinstance(value, Reference):
        return Reference(value.logical_id, "GroupId")
    return value
