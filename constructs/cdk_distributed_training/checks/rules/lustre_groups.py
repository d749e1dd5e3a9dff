"""Security groups between Lustre file systems and their clients (DT270 to DT275)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import (
    Data,
    Example,
    file_system,
    group,
    group_rule,
    in_vpc,
    lustre_job,
    template,
)
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.lustre_client import LustreClient
from cdk_distributed_training.checks.subjects.lustre_file_system import LustreFileSystem
from cdk_distributed_training.checks.subjects.security_groups import EGRESS, INGRESS, SecurityGroups

_PORTS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html"
_EFA = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html"
_FIRST: tuple[int, int] = (988, 988)
_FURTHER: tuple[int, int] = (1018, 1023)


def _with(groups: Data, **changes: Any) -> Example:
    """A template with a file system in the group `Storage`."""
    ids = [{"Fn::GetAtt": ["Storage", "GroupId"]}]
    return template({"FileSystem": file_system(SecurityGroupIds=ids, **changes), **groups})


def _storage(*ports: tuple[int, int]) -> Data:
    """The group `Storage`, with rules of its own for some ports."""
    return {"Storage": group(), **_rules("Storage", "Storage", ports)}


def _rules(of: str, peer: str, ports: tuple[tuple[int, int], ...]) -> Data:
    return {
        f"{of}{peer}{first}": group_rule("Ingress", of=of, peer=peer, IpProtocol="tcp", FromPort=first, ToPort=last)
        for first, last in ports
    }


_BOTH = (_FIRST, _FURTHER)
_CLIENT: Data = {**_storage(*_BOTH), "Nodes": group(), "Job": lustre_job()}
_WELL: Data = {**_CLIENT, **_rules("Storage", "Nodes", _BOTH), **_rules("Nodes", "Storage", _BOTH)}
_EFA_CHANGES: Data = {
    "StorageCapacity": 4800,
    "LustreConfiguration": {
        "PerUnitStorageThroughput": 1000,
        "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    },
}


@rule(
    "DT270",
    on=LustreFileSystem,
    title="A file system whose group does not admit Lustre from itself",
    why="FSx checks port 988 when it creates the file system: creation fails, and the stack rolls back.",
    source=_PORTS,
    bad=_with(_storage()),
    good=_with(_storage(*_BOTH)),
)
def own_port(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT270: tcp 988 among the file system's own servers."""
    groups = file_system.groups
    if groups.attached and not _admits(groups, groups, _FIRST):
        yield problem(
            "SecurityGroupIds",
            got="groups without ingress of tcp 988 from themselves",
            allowed="tcp 988 and 1018-1023 from the group itself and from the clients' groups",
            fix="add ingress rules for both ranges that name the group as its own source",
        )


@rule(
    "DT271",
    on=LustreFileSystem,
    severity=Severity.WARNING,
    title="A file system whose group admits port 988 alone",
    why="FSx documents tcp 1018 to 1023 too: file systems come up without, and can hang under load or at fail-over.",
    source=_PORTS,
    bad=_with(_storage(_FIRST)),
    good=_with(_storage(*_BOTH)),
)
def own_further_ports(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT271: tcp 1018 to 1023 among the file system's own servers."""
    groups = file_system.groups
    if groups.attached and _admits(groups, groups, _FIRST) and not _admits(groups, groups, _FURTHER):
        yield problem(
            "SecurityGroupIds",
            got="groups that do not admit all of tcp 1018-1023 from themselves",
            allowed="tcp 988 and 1018-1023",
            fix="add an ingress rule for 1018-1023",
        )


@rule(
    "DT272",
    on=LustreClient,
    title="Nodes that cannot reach the file system",
    why="The job fails when it mounts the file system, after its machines have started.",
    source=_PORTS,
    bad=_with(_CLIENT),
    good=_with(_WELL),
)
def client_port(client: LustreClient) -> Iterator[Finding]:
    """DT272: tcp 988 from the nodes to the file system, out of one and into the other."""
    storage, nodes = client.file_system.groups, client.groups
    if not (storage.attached and nodes.attached):
        return
    if not _admits(storage, nodes, _FIRST):
        got = "nodes whose groups the file system's groups do not admit on tcp 988"
    elif not _lets_out(nodes, storage, _FIRST):
        got = "nodes whose groups let nothing out to the file system on tcp 988"
    else:
        return
    yield problem(
        "VpcConfig",
        "SecurityGroupIds",
        got=got,
        allowed="tcp 988 and 1018-1023 between both groups, in both directions",
        fix="add rules to both groups that name each other",
    )


@rule(
    "DT273",
    on=LustreClient,
    severity=Severity.WARNING,
    title="Lustre ports that are open in one direction or in part",
    why="FSx documents tcp 988 and 1018 to 1023 in both directions between client and file system: the servers call"
    " back, and mounts can hang without.",
    source=_PORTS,
    bad=_with({**_CLIENT, **_rules("Storage", "Nodes", _BOTH)}),
    good=_with(_WELL),
)
def client_further_ports(client: LustreClient) -> Iterator[Finding]:
    """DT273: both ranges, both directions."""
    storage, nodes = client.file_system.groups, client.groups
    if not (storage.attached and nodes.attached) or not _admits(storage, nodes, _FIRST):
        return
    missing = [
        text
        for ports, name in ((_FIRST, "988"), (_FURTHER, "1018-1023"))
        for text, to, of in (
            (f"{name} into the file system", storage, nodes),
            (f"{name} into the nodes", nodes, storage),
        )
        if not _admits(to, of, ports)
    ]
    if missing:
        yield problem(
            "VpcConfig",
            "SecurityGroupIds",
            got=f"groups without tcp {', '.join(missing)}",
            allowed="tcp 988 and 1018-1023 between both groups, in both directions",
            fix="add the missing rules",
        )


@rule(
    "DT274",
    on=LustreFileSystem,
    title="An EFA-enabled file system whose group is not open to itself",
    why="FSx refuses: insufficient security group permissions to create an EFA-enabled file system.",
    source=_EFA,
    bad=_with(_storage(*_BOTH), **_EFA_CHANGES),
    good=_with(
        {
            "Storage": group(SecurityGroupEgress=[]),
            "In": group_rule("Ingress", of="Storage", peer="Storage"),
            "Out": group_rule("Egress", of="Storage", peer="Storage"),
        },
        **_EFA_CHANGES,
    ),
)
def efa_group(file_system: LustreFileSystem) -> Iterator[Finding]:
    """DT274: all traffic from and to the group, by its id."""
    if not file_system.has_efa or not file_system.group_ids:
        return
    groups = file_system.groups
    for direction in (INGRESS, EGRESS):
        if not groups.admits(direction, groups.attached):
            yield problem(
                "SecurityGroupIds",
                got=f"groups without {direction.lower()} of all traffic between themselves",
                allowed="protocol -1 from and to the group itself, by its id",
                fix=f"add an AWS::EC2::SecurityGroup{direction} that names the group as its own peer",
            )
            return


@rule(
    "DT275",
    on=LustreClient,
    severity=Severity.INFORMATION,
    title="One group for nodes and file system",
    why="Whatever is let in to the nodes reaches the file system too; a group of its own keeps them apart.",
    source=_PORTS,
    bad=_with({**_storage(*_BOTH), "Job": lustre_job(VpcConfig=in_vpc(["Storage"]))}),
    good=_with(_WELL),
)
def shared_group(client: LustreClient) -> Iterator[Finding]:
    """DT275: it works, and is good to know."""
    shared = [one for one in client.file_system.groups.attached if one in client.groups.attached]
    if shared:
        yield problem(
            "VpcConfig",
            "SecurityGroupIds",
            got="a group that the file system has too",
            allowed="a group for each",
            fix="give the file system a group of its own, or leave it so knowingly",
        )


def _admits(to: SecurityGroups, of: SecurityGroups, ports: tuple[int, int]) -> bool:
    return to.admits(INGRESS, of.attached, "tcp", ports) or to.admits_addresses(INGRESS, "tcp", ports)


def _lets_out(of: SecurityGroups, to: SecurityGroups, ports: tuple[int, int]) -> bool:
    return (
        of.has_default_egress()
        or of.admits(EGRESS, to.attached, "tcp", ports)
        or of.admits_addresses(EGRESS, "tcp", ports)
    )
