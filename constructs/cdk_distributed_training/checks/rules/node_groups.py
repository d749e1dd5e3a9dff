"""Security groups of nodes that train together (DT113, DT120 to DT127)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import (
    group,
    group_rule,
    in_vpc,
    job,
    machines,
    open_to_itself,
    template,
)
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.node_group import NodeGroup
from cdk_distributed_training.checks.subjects.security_groups import EGRESS, INGRESS, SecurityGroups
from cdk_distributed_training.checks.template.view import NotJudgedError

_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security"
_TRAIN_VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-vpc.html"
_ENCRYPTION = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-encrypt.html"
_STRIPPED = "https://github.com/aws/aws-cdk/issues/22140"
_ESP, _IKE = "50", (500, 500)

_EFA_JOB = job(ResourceConfig=machines("ml.p5.48xlarge", 2), VpcConfig=in_vpc(["Nodes"]))
_CPU_JOB = job(ResourceConfig=machines("ml.m5.xlarge", 2), VpcConfig=in_vpc(["Nodes"]))
_HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
_ANYTHING = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


@rule(
    "DT120",
    on=NodeGroup,
    title="EFA nodes whose group admits nothing from itself",
    why="The nodes start, and the first collective hangs or fails (libfabric error 4126): EFA is no IP traffic, so only"
    " a rule that names the group opens it.",
    source=_EFA,
    bad=template(
        {
            "Nodes": group(SecurityGroupIngress=[_ANYTHING | {"CidrIp": "10.0.0.0/16"}], SecurityGroupEgress=[_HTTPS]),
            "NodesEgress": group_rule("Egress", of="Nodes", peer="Nodes"),
            "Job": _EFA_JOB,
        }
    ),
    good=template({**open_to_itself("Nodes"), "Job": _EFA_JOB}),
)
def efa_ingress(nodes: NodeGroup) -> Iterator[Finding]:
    """DT120: all traffic from the group, by its id."""
    yield from _efa(nodes, INGRESS)


@rule(
    "DT121",
    on=NodeGroup,
    title="EFA nodes whose group lets nothing out to itself",
    why="The nodes start, and the first collective hangs or fails (libfabric error 4126): an egress rule to 0.0.0.0/0"
    " does not cover EFA, which is no IP traffic.",
    source=_EFA,
    bad=template(
        {
            "Nodes": group(SecurityGroupEgress=[_HTTPS]),
            "NodesIngress": group_rule("Ingress", of="Nodes", peer="Nodes"),
            "Job": _EFA_JOB,
        }
    ),
    good=template({**open_to_itself("Nodes"), "Job": _EFA_JOB}),
)
def efa_egress(nodes: NodeGroup) -> Iterator[Finding]:
    """DT121: all traffic to the group, by its id."""
    yield from _efa(nodes, EGRESS)


def _efa(nodes: NodeGroup, direction: str) -> Iterator[Finding]:
    if nodes.in_vpc and nodes.is_multi_node and nodes.efa() and nodes.group_ids:
        groups = nodes.groups
        if not groups.admits(direction, groups.attached):
            yield problem(
                *nodes.groups_key,
                got=f"no {direction.lower()} rule for all traffic {'from' if direction == INGRESS else 'to'} the group",
                allowed=f"{direction.lower()} of protocol -1 by security group id, the nodes' own",
                fix=f"add an AWS::EC2::SecurityGroup{direction} that names the group as its own peer",
            )


@rule(
    "DT122",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="EFA rules that are spread over several groups",
    why="AWS asks for one group that is open to itself in both directions; rules across groups are not what it tests.",
    source=_EFA,
    bad=template(
        {
            "Nodes": group(SecurityGroupEgress=[_HTTPS]),
            "Others": group(SecurityGroupEgress=[_HTTPS]),
            "In": group_rule("Ingress", of="Nodes", peer="Others"),
            "Out": group_rule("Egress", of="Others", peer="Nodes"),
            "Job": job(ResourceConfig=machines("ml.p5.48xlarge", 2), VpcConfig=in_vpc(["Nodes", "Others"])),
        }
    ),
    good=template(
        {
            **open_to_itself("Nodes"),
            "Others": group(SecurityGroupEgress=[_HTTPS]),
            "Job": job(ResourceConfig=machines("ml.p5.48xlarge", 2), VpcConfig=in_vpc(["Nodes", "Others"])),
        }
    ),
)
def one_group_open_to_itself(nodes: NodeGroup) -> Iterator[Finding]:
    """DT122: one of the groups that all nodes share is fully open to itself."""
    if not (nodes.in_vpc and nodes.is_multi_node and nodes.efa()):
        return
    groups = nodes.groups
    if not all(groups.admits(direction, groups.attached) for direction in (INGRESS, EGRESS)):
        return  # DT120 and DT121 say more
    if not any(_open_to_itself(SecurityGroups(nodes.graph, [one])) for one in groups.attached):
        yield problem(
            *nodes.groups_key,
            got=f"{len(groups.attached)} groups, none of which is open to itself in both directions",
            allowed="one group with all traffic from and to itself",
            fix="add both rules to one group that every node has",
        )


def _open_to_itself(one: SecurityGroups) -> bool:
    return one.admits(INGRESS, one.attached) and one.admits(EGRESS, one.attached)


@rule(
    "DT123",
    on=NodeGroup,
    title="Several nodes whose groups admit nobody",
    why="Workers cannot reach the first node: the job waits for them until its time is up.",
    source=_TRAIN_VPC,
    bad=template({"Nodes": group(), "Job": _CPU_JOB}),
    good=template(
        {
            "Nodes": group(),
            "NodesIngress": group_rule("Ingress", of="Nodes", peer="Nodes", IpProtocol="tcp", FromPort=0, ToPort=65535),
            "Job": _CPU_JOB,
        }
    ),
)
def nodes_admit_each_other(nodes: NodeGroup) -> Iterator[Finding]:
    """DT123: at least something comes in from the other nodes."""
    if not (nodes.in_vpc and nodes.is_multi_node and nodes.group_ids) or nodes.efa():
        return
    groups = nodes.groups
    if not (_any_from(groups, "tcp") or _any_from(groups, "-1")):
        yield problem(
            *nodes.groups_key,
            got="groups without an ingress rule for the other nodes",
            allowed="ingress from the nodes' own group",
            fix="add an AWS::EC2::SecurityGroupIngress that names the group as its own source",
        )


def _any_from(groups: SecurityGroups, protocol: str) -> bool:
    """Whether any traffic of the protocol, on whatever ports, comes in from the nodes or from addresses."""
    return groups.admits_some(INGRESS, groups.attached, protocol) or groups.admits_addresses(INGRESS, protocol, None)


@rule(
    "DT113",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="An allow-all egress that CloudFormation takes away",
    why="When CloudFormation adds an egress rule as a resource of its own, it first removes an allow-all rule: the"
    " nodes then reach each other, but neither S3 nor ECR.",
    source=_STRIPPED,
    bad=template(
        {
            "Nodes": group(),
            "NodesIngress": group_rule("Ingress", of="Nodes", peer="Nodes"),
            "NodesEgress": group_rule("Egress", of="Nodes", peer="Nodes"),
            "Job": _EFA_JOB,
        }
    ),
    good=template({**open_to_itself("Nodes"), "Job": _EFA_JOB}),
)
def allow_all_may_go(nodes: NodeGroup) -> Iterator[Finding]:
    """DT113 of a template."""
    if not nodes.in_vpc or not nodes.group_ids:
        return
    groups = nodes.groups
    if not groups.resources or len(groups.resources) < len(groups.attached):
        raise NotJudgedError(nodes.groups_key)
    if groups.separate_egress() and not groups.keeps_egress():
        yield problem(
            *nodes.groups_key,
            got="an allow-all egress, and an egress rule as a resource of its own, which removes it",
            allowed="egress rules that name what may go out, such as tcp 443",
            fix="give the group an inline egress rule for tcp 443, or add the allow-all rule as a resource that depends"
            " on the other",
        )


@rule(
    "DT124",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="Nodes that anyone may reach",
    why="Training frameworks' ports are not authenticated: whoever reaches them runs code on the nodes.",
    source="https://docs.aws.amazon.com/securityhub/latest/userguide/ec2-controls.html#ec2-19",
    bad=template(
        {
            **open_to_itself("Nodes"),
            "Open": group_rule("Ingress", of="Nodes", IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="0.0.0.0/0"),
            "Job": _EFA_JOB,
        }
    ),
    good=template(
        {
            **open_to_itself("Nodes"),
            "Open": group_rule("Ingress", of="Nodes", IpProtocol="tcp", FromPort=22, ToPort=22, CidrIp="10.0.0.0/8"),
            "Job": _EFA_JOB,
        }
    ),
)
def public_ingress(nodes: NodeGroup) -> Iterator[Finding]:
    """DT124: no ingress from 0.0.0.0/0."""
    if nodes.in_vpc and nodes.groups.admits_anyone():
        yield problem(
            *nodes.groups_key,
            got="a group with ingress from any address",
            allowed="ingress from security groups or from private ranges",
            fix="name the groups that may connect",
        )


@rule(
    "DT125",
    on=NodeGroup,
    severity=Severity.WARNING,
    title="Encryption between nodes whose groups do not admit it",
    why="With inter-container traffic encryption the nodes speak IPsec, which takes UDP port 500 and protocol 50 in"
    " both directions; without these the job fails to start.",
    source=_ENCRYPTION,
    bad=template(
        {
            "Nodes": group(SecurityGroupEgress=[_HTTPS]),
            "In": group_rule("Ingress", of="Nodes", peer="Nodes", IpProtocol="tcp", FromPort=0, ToPort=65535),
            "Out": group_rule("Egress", of="Nodes", peer="Nodes", IpProtocol="tcp", FromPort=0, ToPort=65535),
            "Job": job(
                ResourceConfig=machines("ml.m5.xlarge", 2),
                VpcConfig=in_vpc(["Nodes"]),
                EnableInterContainerTrafficEncryption=True,
            ),
        }
    ),
    good=template(
        {
            **open_to_itself("Nodes"),
            "Job": job(
                ResourceConfig=machines("ml.m5.xlarge", 2),
                VpcConfig=in_vpc(["Nodes"]),
                EnableInterContainerTrafficEncryption=True,
            ),
        }
    ),
)
def encryption_ports(nodes: NodeGroup) -> Iterator[Finding]:
    """DT125: IKE and ESP between the nodes."""
    if not (nodes.is_training_job and nodes.in_vpc and nodes.is_multi_node):
        return
    if not nodes.read.flag("EnableInterContainerTrafficEncryption"):
        return
    groups = nodes.groups
    missing = [
        f"{direction.lower()} of {name}"
        for direction in (INGRESS, EGRESS)
        for protocol, ports, name in (("udp", _IKE, "UDP 500"), (_ESP, None, "protocol 50"))
        if not groups.admits(direction, groups.attached, protocol, ports)
        and not groups.admits_addresses(direction, protocol, ports)
        and not (direction == EGRESS and groups.has_default_egress())
    ]
    if missing:
        yield problem(
            *nodes.groups_key,
            got=f"groups without {', '.join(missing)}",
            allowed="UDP port 500 and protocol 50, in and out, from and to the group itself",
            fix="add these rules, or all traffic from and to the group itself",
        )
