"""Rules over security groups that constructs get or make (DT108, DT109, DT113, DT154), over plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding, Severity

_EFA_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security"
_VPC_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_VpcConfig.html"

RULES_PER_GROUP = 60


def security_group_count(count: int) -> Iterator[Finding]:
    """DT108: SageMaker attaches at most five groups to a job."""
    if count > 5:
        yield Finding(
            rule="DT108",
            prop="additional_security_groups",
            got=f"{count - 1} besides the node security group",
            allowed="at most 4",
            fix="merge some of them",
            source=_VPC_CONFIG,
        )


def some_security_group(count: int) -> Iterator[Finding]:
    """DT108: SageMaker attaches at least one group to a job in a VPC."""
    if count < 1:
        yield Finding(
            rule="DT108",
            prop="security_group_ids",
            got="none",
            allowed="1 to 5 ids",
            fix="pass the group that is open to itself first",
            source=_VPC_CONFIG,
        )


def unchangeable_group(openings: Sequence[str], *, prop: str) -> Iterator[Finding]:
    """DT109 (warning): an imported group that must not be changed needs these rules from its owner."""
    if openings:
        yield Finding(
            rule="DT109",
            prop=prop,
            got="a security group imported with mutable=False, so no rule was added to it",
            allowed="; ".join(openings),
            fix="add these rules, by security group id and not by address range, where the group is defined",
            severity=Severity.WARNING,
            source=_EFA_GROUPS,
        )


def allow_all_may_go(group: str, *, prop: str = "node_security_group") -> Iterator[Finding]:
    """DT113 (warning): CloudFormation takes an allow-all egress away from a group to which it adds an egress rule."""
    yield Finding(
        rule="DT113",
        prop=prop,
        got=f"{group}, which may allow all traffic to 0.0.0.0/0 and now gets egress rules of its own",
        allowed="a group that names what may go out: CloudFormation removes an allow-all rule when it adds another",
        fix="give the group an egress rule for tcp 443 where it is defined, or import it with mutable=False",
        severity=Severity.WARNING,
        source="https://github.com/aws/aws-cdk/issues/22140",
    )


def rules_per_group(count: int, *, group: str) -> Iterator[Finding]:
    """DT154 (warning): a group has at most 60 rules in each direction, unless the quota was raised."""
    if count > RULES_PER_GROUP:
        yield Finding(
            rule="DT154",
            prop="node_security_group",
            got=f"{count} rules for {group}",
            allowed="60 in each direction, unless the account's quota was raised",
            fix="give file systems one security_group in common, or raise the quota L-0EA8095F",
            severity=Severity.WARNING,
            source="https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html",
        )
