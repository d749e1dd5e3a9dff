"""A distribution on some of a job's groups of machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import instance_groups as rules
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.request.instances import Instances


@dataclass(frozen=True, kw_only=True)
class OnInstanceGroups(Distribution):
    """Start the script on the machines of some groups, as one world; the others run a command of their own, or wait.

    For `Instances.from_groups`, such as machines without accelerators that prepare data for those that have some.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/train-heterogeneous-cluster.html

    Attributes:
        distribution: How the processes are started on these machines.
        groups: Names of the groups that take part; all without a command of their own if empty.
        group_commands: What the machines of other groups run: script and arguments by the group's name. They are told
            to end when the world has ended.
    """

    distribution: Distribution
    groups: Sequence[str] = ()
    group_commands: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def launcher_arguments(self) -> list[str | int]:
        """The distribution's own, and the groups."""
        arguments = self.distribution.launcher_arguments()
        for name in self.groups:
            arguments += ["--instance-group", name]
        for name, words in self.group_commands.items():
            arguments += ["--group-command", json.dumps([name, *words])]
        return arguments

    def findings(self, instances: Instances, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """Names that are no group's, and what the distribution finds on each group that takes part."""
        names = [group.name for group in instances.groups]
        if known(names) and known(self.groups) and known(list(self.group_commands)):
            yield from rules.group_names(names, self.groups, list(self.group_commands))
        for group in instances.groups:
            own_command = known(group.name) and group.name in self.group_commands
            if group.name in self.groups or (not self.groups and not own_command):
                machines = Instances(group.instance_type, count=group.count)
                yield from self.distribution.findings(machines, known=known)
