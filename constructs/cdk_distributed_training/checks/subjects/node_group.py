"""Nodes that train together: of a training job, of a HyperPod cluster, or of EC2 with EFA interfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.security_groups import SecurityGroups
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.graph import Graph, Resource
from cdk_distributed_training.checks.template.view import NotJudgedError, Path, View, values
from cdk_distributed_training.data.tables import instance_types

_EFA_INTERFACES = ("efa", "efa-only")
_EFA_FAMILIES = ("ml.p", "ml.trn")
MANY = 2.0


@dataclass(frozen=True)
class NodeGroup:
    """Nodes with the same network interfaces.

    Attributes:
        path: Where they are described.
        graph: The template around them.
        read: Gives the view that holds `SecurityGroupIds` and `Subnets`.
        groups_key: Path of the security groups in that view.
        subnets_key: Path of the subnets in that view.
        count: Gives the number of nodes, `MANY` where a file leaves it to others.
        efa: Says whether they talk by EFA.
        is_training_job: Whether they are a training job's, which reaches services from its own subnets alone.
        reservation_key: Path of the id of the capacity reservation in that view, empty where there can be none.
        efa_interfaces: Gives the number of EFA interfaces of each.
    """

    path: Path
    graph: Graph
    read: View
    groups_key: Path
    subnets_key: Path
    count: Callable[[], float]
    efa: Callable[[], bool]
    is_training_job: bool = False
    reservation_key: Path = ()
    efa_interfaces: Callable[[], int] = lambda: 0

    counts_nodes: ClassVar[bool] = True

    @property
    def in_vpc(self) -> bool:
        """Whether they have interfaces in a VPC of the user's."""
        return self.read.has(*self.groups_key) or self.read.has(*self.subnets_key)

    @property
    def group_ids(self) -> list[Any]:
        """Ids of their security groups."""
        return values(self.read, *self.groups_key)

    @property
    def groups(self) -> SecurityGroups:
        """Their security groups."""
        return SecurityGroups(self.graph, self.group_ids)

    @property
    def subnet_ids(self) -> list[Any]:
        """Ids of their subnets."""
        if self.subnets_key[-1] == "SubnetId":
            subnet = self.read.raw(*self.subnets_key)
            return [] if subnet is None else [subnet]
        return values(self.read, *self.subnets_key)

    @property
    def is_multi_node(self) -> bool:
        """Whether there are several of them."""
        return self.count() > 1

    @classmethod
    def find(cls, scene: Scene) -> Iterator[NodeGroup]:
        """Every group of nodes in a document."""
        for request in scene.all(TrainingRequest):
            yield cls._of_request(request, many=scene.world.many_nodes)
        for resource in scene.graph.of_type("AWS::SageMaker::Cluster"):
            yield from cls._of_cluster(resource, scene.graph, many=scene.world.many_nodes)
        for resource in scene.graph.of_type("AWS::EC2::LaunchTemplate", "AWS::EC2::Instance"):
            yield from cls._of_interfaces(resource, scene.graph)

    @classmethod
    def _of_request(cls, request: TrainingRequest, *, many: bool) -> NodeGroup:
        return cls(
            path=request.path,
            graph=request.graph,
            read=request.view,
            groups_key=("VpcConfig", "SecurityGroupIds"),
            subnets_key=("VpcConfig", "Subnets"),
            count=_counter(lambda: request.instance_count, many=many),
            efa=lambda: request.uses_efa,
            is_training_job=True,
            efa_interfaces=lambda: max((machine.efa_interfaces for machine in request.machines), default=0),
        )

    @classmethod
    def _of_cluster(cls, resource: Resource, graph: Graph, *, many: bool) -> Iterator[NodeGroup]:
        properties = View(resource.properties.value)
        for index, row in _rows(properties, "InstanceGroups"):
            group = View(row, ("InstanceGroups", index))
            own = group.has("OverrideVpcConfig")
            base: Path = ("InstanceGroups", index, "OverrideVpcConfig") if own else ("VpcConfig",)
            yield cls(
                path=resource.properties.path,
                graph=graph,
                read=properties,
                groups_key=(*base, "SecurityGroupIds"),
                subnets_key=(*base, "Subnets"),
                count=_counter(_count_of(group), many=many),
                efa=_efa_by_type(group),
                efa_interfaces=_interfaces_by_type(group),
            )

    @classmethod
    def _of_interfaces(cls, resource: Resource, graph: Graph) -> Iterator[NodeGroup]:
        properties = View(resource.properties.value)
        root: Path = () if resource.type == "AWS::EC2::Instance" else ("LaunchTemplateData",)
        base: Path = (*root, "NetworkInterfaces")
        target = (*root, "CapacityReservationSpecification", "CapacityReservationTarget", "CapacityReservationId")
        seen: list[Any] = []
        for index, interface in _rows(properties, *base):
            groups_key = "Groups" if "Groups" in interface else "GroupSet"
            if interface.get("InterfaceType") in _EFA_INTERFACES and interface.get(groups_key) not in seen:
                seen.append(interface.get(groups_key))
                yield cls(
                    path=resource.properties.path,
                    graph=graph,
                    read=properties,
                    groups_key=(*base, index, groups_key),
                    subnets_key=(*base, index, "SubnetId"),
                    count=lambda: MANY,
                    efa=lambda: True,
                    reservation_key=target,
                )


def _rows(properties: View, *keys: str | int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The literal mappings of a list, with their indexes; none where the list is not known."""
    try:
        rows = properties.raw(*keys)
    except NotJudgedError:
        return
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        if isinstance(row, dict):
            yield index, row


def _count_of(group: View) -> Callable[[], float]:
    return lambda: group.number("InstanceCount") or 1


def _counter(count: Callable[[], float], *, many: bool) -> Callable[[], float]:
    """The number of nodes; several where that is not known and is to be assumed."""

    def counted() -> float:
        try:
            return count()
        except NotJudgedError:
            if many:
                return MANY
            raise

    return counted


def _efa_by_type(group: View) -> Callable[[], bool]:
    def efa() -> bool:
        name = group.text("InstanceType") or ""
        machine = instance_types().get(name)
        return machine is not None and bool(machine.efa_interfaces) and name.startswith(_EFA_FAMILIES)

    return efa


def _interfaces_by_type(group: View) -> Callable[[], int]:
    def count() -> int:
        machine = instance_types().get(group.text("InstanceType") or "")
        return machine.efa_interfaces if machine else 0

    return count
