"""Changes of a template that replace networks and groups (DT160, DT161)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import Data, group, subnet_in, update
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.update import Update

_BEHAVIOUR = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html"
)
_NAMES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html"
_SUBNET, _GROUP = "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"
# in words, and what the change costs
_NETWORKS = {
    "AWS::EC2::VPC": ("VPC", "everything in it is made anew with it"),
    _SUBNET: ("subnet", "file systems and endpoints in it are made anew with it, jobs that run there keep it in use"),
    _GROUP: ("security group", "jobs that run keep the old one in use, file systems in it are made anew"),
}


def _subnet(zone: str, cidr: str) -> Data:
    return {"Subnet": subnet_in(zone, cidr)}


@rule(
    "DT160",
    on=Update,
    severity=Severity.WARNING,
    title="A network or group that is made anew",
    why="Whatever is in it is replaced too. While a job uses the old one it cannot be deleted, and the update waits.",
    source=_BEHAVIOUR,
    bad=update(_subnet("us-east-1a", "10.0.0.0/20"), _subnet("us-east-1b", "10.0.16.0/20")),
    good=update(
        _subnet("us-east-1a", "10.0.0.0/20"),
        {**_subnet("us-east-1a", "10.0.0.0/20"), "Other": subnet_in("us-east-1b", "10.0.16.0/20")},
    ),
    since="2026-12",
)
def network_made_anew(update_: Update) -> Iterator[Finding]:
    """DT160: a VPC, subnet or group is replaced or removed; of those in each other only the outermost is named."""
    if update_.type in _NETWORKS and update_.is_lost and not _is_inside(update_) and not _collides(update_):
        noun, cost = _NETWORKS[update_.type]
        yield problem(
            *update_.place,
            got=f"a {noun} that is {update_.words}: {cost}",
            allowed="a change that leaves it in place",
            fix="add another one beside it, and move to that when no job runs",
        )


@rule(
    "DT161",
    on=Update,
    title="A new network at the place of the old one",
    why="CloudFormation makes the new one before it deletes the old one, which still has the addresses or the name.",
    source=_NAMES,
    bad=update(_subnet("us-east-1a", "10.0.0.0/20"), _subnet("us-east-1b", "10.0.0.0/20")),
    good=update(
        {"Nodes": group(GroupName="nodes")},
        {"Nodes": group(GroupName="nodes", SecurityGroupIngress=[])},
    ),
    since="2026-12",
)
def network_at_one_place(update_: Update) -> Iterator[Finding]:
    """DT161: a subnet keeps its addresses or a group its name, and is replaced."""
    if update_.type in _NETWORKS and update_.is_lost and _collides(update_):
        what = "GroupName" if update_.type == _GROUP else "CidrBlock"
        yield problem(
            *update_.place,
            got=f"a {_NETWORKS[update_.type][0]} that is {update_.words}, with the {what} that the old one has",
            allowed=f"another {what}",
            fix=f"change {what} too, or add another one beside it",
        )


def _collides(update_: Update) -> bool:
    if update_.after is None:
        return False
    if update_.type == _SUBNET:
        return update_.stays("CidrBlock", "VpcId")
    # names of groups are unique in their VPC
    return update_.keeps_its_name and update_.stays("VpcId")


def _is_inside(update_: Update) -> bool:
    """Whether it is replaced because its VPC is."""
    return update_.cause is not None and update_.cause.follows
