"""Security groups are read as the union of their rules, however a template spells these."""

import pytest

from cdk_distributed_training.checks.subjects.security_groups import EGRESS, INGRESS, SecurityGroups
from cdk_distributed_training.checks.template.graph import Graph
from cdk_distributed_training.checks.template.loader import parse
from cdk_distributed_training.checks.template.values import Reference
from cdk_distributed_training.checks.template.view import NotJudgedError
from cdk_distributed_training.checks.template.worlds import default_world

TEMPLATE = """
Parameters:
  Given: {{Type: String}}
  Choice: {{Type: String}}
Conditions:
  Chosen: !Equals [!Ref Choice, a]
  Never: !Equals [a, b]
Resources:
  A: {{Type: AWS::EC2::SecurityGroup, Properties: {{VpcId: vpc-1, GroupDescription: a{inline}}}}}
  B: {{Type: AWS::EC2::SecurityGroup, Properties: {{VpcId: vpc-1, GroupDescription: b}}}}
{resources}
"""
SEPARATE = """
  R:
    Type: AWS::EC2::SecurityGroupIngress
    {condition}
    Properties: {{GroupId: {group}, IpProtocol: {protocol}, {ports}SourceSecurityGroupId: {peer}}}
"""


def graph(*, inline="", resources=""):
    template = parse(TEMPLATE.format(inline=inline, resources=resources), name="t.yaml").content
    return Graph(template, default_world(template))


def separate(*, group="!Ref A", protocol="'-1'", ports="", peer="!GetAtt A.GroupId", condition=""):
    return SEPARATE.format(group=group, protocol=protocol, ports=ports, peer=peer, condition=condition)


def groups(found, *names):
    return SecurityGroups(found, [Reference(name, "GroupId") for name in names])


def admits(found, *names, protocol="-1", ports=None):
    attached = groups(found, *names)
    return attached.admits(INGRESS, attached.attached, protocol, ports)


@pytest.mark.parametrize(
    "group", ["!Ref A", "!GetAtt A.GroupId", "!GetAtt [A, GroupId]", "!If [Never, !Ref B, !Ref A]"]
)
@pytest.mark.parametrize("protocol", ["'-1'", "-1", "ALL"])
def test_own_rule_in_any_spelling(group, protocol):
    found = graph(resources=separate(group=group, peer=group, protocol=protocol))
    assert admits(found, "A")
    assert not admits(found, "B")


def test_inline_rule():
    found = graph(inline=", SecurityGroupIngress: [{IpProtocol: -1, SourceSecurityGroupId: !Ref B}]")
    assert not admits(found, "A")
    assert admits(found, "A", "B")  # nodes with both groups


def test_one_rule_that_is_no_list():
    found = graph(inline=", SecurityGroupIngress: {IpProtocol: -1, SourceSecurityGroupId: !Ref B}")
    assert admits(found, "A", "B")


@pytest.mark.parametrize(
    ("ports", "protocol", "asked", "answer"),
    [
        ("FromPort: 988, ToPort: 988, ", "tcp", (988, 988), True),
        ("FromPort: '988', ToPort: '1023', ", "6", (1018, 1023), True),
        ("FromPort: 1021, ToPort: 1023, ", "tcp", (1018, 1023), False),
        ("", "tcp", (988, 988), True),
        ("FromPort: -1, ToPort: -1, ", "tcp", (988, 988), True),
        ("FromPort: 0, ToPort: 65535, ", "udp", (988, 988), False),
    ],
)
def test_ports(ports, protocol, asked, answer):
    found = graph(resources=separate(ports=ports, protocol=f"'{protocol}'"))
    assert admits(found, "A", protocol="tcp", ports=asked) is answer


def test_tcp_is_not_all_traffic():
    assert not admits(graph(resources=separate(ports="FromPort: 0, ToPort: 65535, ", protocol="tcp")), "A")


@pytest.mark.parametrize(
    "resources",
    [
        separate(condition="Condition: Chosen"),
        separate(group="!If [Chosen, !Ref A, !Ref B]"),
        separate(peer="!If [Chosen, !Ref A, !Ref B]"),
        separate(group="!ImportValue x"),
        separate(protocol="!Ref Given"),
    ],
)
def test_what_is_not_settled_is_no_answer(resources):
    with pytest.raises(NotJudgedError):
        admits(graph(resources=resources), "A")


@pytest.mark.parametrize("resources", [separate(group="!Ref Given"), separate(peer="!Ref Given")])
def test_a_parameter_is_no_group_of_the_template(resources):
    assert admits(graph(resources=resources), "A") is False


def test_condition_that_does_not_hold():
    assert admits(graph(resources=separate(condition="Condition: Never")), "A") is False


def test_groups_from_elsewhere():
    found = graph()
    with pytest.raises(NotJudgedError):
        SecurityGroups(found, ["sg-0123456789"]).admits(INGRESS, ["sg-0123456789"])
    rule = separate(group="sg-0123456789", peer="sg-0123456789")
    assert SecurityGroups(graph(resources=rule), ["sg-0123456789"]).admits(INGRESS, ["sg-0123456789"])


OUT = """
  Out:
    Type: AWS::EC2::SecurityGroupEgress
    Properties: {GroupId: !Ref A, IpProtocol: -1, DestinationSecurityGroupId: !Ref A}
"""
ANYWHERE = """
  Any: {Type: AWS::EC2::SecurityGroupEgress, Properties: {GroupId: !Ref A, IpProtocol: -1, CidrIp: 0.0.0.0/0}}
"""
ENDPOINT = """
  Https:
    Type: AWS::EC2::SecurityGroupEgress
    Properties: {GroupId: !Ref A, IpProtocol: tcp, FromPort: 443, ToPort: 443, DestinationSecurityGroupId: !Ref B}
"""
ALL = ", SecurityGroupEgress: [{IpProtocol: -1, CidrIp: 0.0.0.0/0}]"
HTTPS = ", SecurityGroupEgress: [{IpProtocol: tcp, FromPort: 443, ToPort: 443, CidrIp: 0.0.0.0/0}]"


@pytest.mark.parametrize(
    ("inline", "resources", "default", "keeps"),
    [
        ("", "", True, True),
        (ALL, "", False, True),
        ("", OUT, False, False),  # CloudFormation removes the default rule
        (ALL, OUT, False, False),
        (HTTPS, OUT, False, True),
        ("", OUT + ANYWHERE, False, True),
        ("", OUT + ENDPOINT, False, True),
    ],
)
def test_egress_that_remains(inline, resources, default, keeps):
    attached = groups(graph(inline=inline, resources=resources), "A")
    assert attached.has_default_egress() is default
    assert attached.keeps_egress() is keeps
    assert attached.admits(EGRESS, attached.attached) is ("Out" in resources)
