"""Rules about distributions on groups of machines (DT440 to DT442)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding

_GROUPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/train-heterogeneous-cluster.html"


def group_names(names: Sequence[str], taking_part: Sequence[str], own: Sequence[str]) -> Iterator[Finding]:
    """DT440: a group that the job does not have. DT441: one that does two things. DT442: nobody runs the script.

    Args:
        names: The job's groups.
        taking_part: Groups that run the script.
        own: Groups that run commands of their own.
    """
    for prop, given in (("groups", taking_part), ("group_commands", own)):
        for name in given:
            if name not in names:
                yield Finding(
                    rule="DT440",
                    prop=f"distribution.{prop}",
                    got=repr(name),
                    allowed=", ".join(map(repr, names)) or "no name: the instances have no groups",
                    fix="name a group of the instances, which Instances.from_groups makes",
                    source=_GROUPS,
                )
    for name in taking_part:
        if name in own:
            yield Finding(
                rule="DT441",
                prop="distribution.group_commands",
                got=f"a command for {name!r}, which runs the script",
                allowed="commands for other groups",
                fix="leave the group out of one of the two",
                source=_GROUPS,
            )
    if names and not taking_part and set(names) <= set(own):
        yield Finding(
            rule="DT442",
            prop="distribution.group_commands",
            got="a command for every group",
            allowed="a group without one, which runs the script",
            fix="leave one group out",
            source=_GROUPS,
        )
