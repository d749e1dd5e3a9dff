"""A cluster of SageMaker HyperPod: machines that stay, and are replaced when they fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import engines as engine_rules
from cdk_distributed_training.checks.rules import hyperpod as rules
from cdk_distributed_training.engines.hyperpod.hyperpod_cluster_base import (
    HyperPodClusterBase,
    ImportedHyperPodCluster,
)
from cdk_distributed_training.engines.hyperpod.instance_group import HyperPodInstanceGroup, vpc_config
from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle
from cdk_distributed_training.engines.hyperpod.node_role import NodeRole
from cdk_distributed_training.engines.hyperpod.orchestrator import HyperPodOrchestrator
from cdk_distributed_training.engines.hyperpod.script_bucket import ScriptBucket, read_statements
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.storage.interfaces import ILustreFileSystem

_CLUSTER = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html"


class HyperPodCluster(HyperPodClusterBase):
    """Machines for many jobs, or for one that runs for weeks: HyperPod watches, tests and replaces them.

    The machines cost from the deployment on, whether they train or not. `HyperPodJob` runs a `DistributedTrainingJob`
    on them. They are in the network's subnet and in its node security group, which is open to itself as EFA asks.

    Construct ids, which are part of the interface: `Resource`, `Scripts`, and for each group `<name>Role`.

    Example:
        >>> cluster = HyperPodCluster(  # doctest: +SKIP
        ...     stack,
        ...     "Cluster",
        ...     network=network,
        ...     file_system=corpus,
        ...     orchestrator=HyperPodOrchestrator.slurm(controller_group="controller"),
        ...     instance_groups=[
        ...         HyperPodInstanceGroup(name="controller", instances=Instances("ml.m5.2xlarge")),
        ...         HyperPodInstanceGroup(name="workers", instances=Instances("ml.p5.48xlarge", count=16)),
        ...     ],
        ... )

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: ITrainingNetwork,
        instance_groups: Sequence[HyperPodInstanceGroup],
        orchestrator: HyperPodOrchestrator,
        file_system: ILustreFileSystem | None = None,
        mount_path: str = "/fsx",
        node_recovery: Literal["Automatic", "None"] = "Automatic",
        continuous_provisioning: bool = False,
        tiered_storage_percentage: float | None = None,
        cluster_name: str | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the cluster.

        Args:
            scope: The parent construct.
            id: The construct id.
            network: Where the nodes are. A job's access to the internet, to ECR and to other services is the network's
                to give: `add_calls` opens what the nodes call.
            instance_groups: The machines, from 1 to 100 groups.
            orchestrator: Slurm or EKS.
            file_system: File system that every node mounts. On Slurm HyperPod mounts it; on EKS it is a volume of
                FSx's CSI driver, which `HyperPodJob` names.
            mount_path: Where nodes and pods see it; `/fsx` unless given.
            node_recovery: Whether HyperPod replaces nodes that fail; `None` only marks them. Automatic unless given.
            continuous_provisioning: Whether the cluster is in service as soon as some nodes are, and the others come
                as there is capacity; else all of them must come, or the deployment fails. Not unless given; fixed for
                a cluster's life.
            tiered_storage_percentage: Percentage of the nodes' memory that holds checkpoints between saves to S3, from
                0 to 100; none unless given.
            cluster_name: The cluster's name: letters, digits and, inside, hyphens, at most 63 characters; one made of
                the construct's path unless given. Nodes may write only to this cluster's log.
            encryption_key: KMS key for the bucket of lifecycle scripts; the account's own for S3 unless given.

        Raises:
            ConfigurationError: Literal values cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        self._network, self._orchestrator = network, orchestrator
        self._groups = {group.name: group for group in instance_groups}
        self._file_system, self._mount_path = file_system, mount_path
        findings = [
            *self._names(cluster_name, instance_groups),
            *orchestrator.kind.findings(instance_groups, network),
            *(
                finding
                for group in instance_groups
                for finding in group.findings(
                    slurm_node=orchestrator.kind.slurm_node(group), zone_id=network.availability_zone_id
                )
            ),
            *self._places(instance_groups),
        ]
        if tiered_storage_percentage is not None and not cdk.Token.is_unresolved(tiered_storage_percentage):
            findings += engine_rules.in_range("tiered_storage_percentage", tiered_storage_percentage, 0, 100, _CLUSTER)
        raise_errors(findings, where=self.node.path)

        self._cluster_name = cluster_name or cdk.Names.unique_resource_name(self, max_length=63, separator="-")
        self._key = encryption_key
        self._scripts: ScriptBucket | None = None
        self._roles: dict[str, NodeRole] = {}
        waits_for: list[Construct] = []
        rendered = [self._group(number, group, waits_for) for number, group in enumerate(instance_groups)]
        self._resource = sagemaker.CfnCluster(
            self,
            "Resource",
            cluster_name=self._cluster_name,
            instance_groups=rendered,
            orchestrator=orchestrator.kind.render(),
            vpc_config=vpc_config(network, orchestrator.kind.security_group_ids()),
            node_recovery=node_recovery,
            node_provisioning_mode="Continuous" if continuous_provisioning else None,
            tiered_storage_config=None
            if tiered_storage_percentage is None
            else {"mode": "Enable", "instanceMemoryAllocationPercentage": tiered_storage_percentage},
        )
        for needed in waits_for:  # a node that starts before its scripts are there fails, and the cluster with it
            self._resource.node.add_dependency(needed)
        if file_system is not None and isinstance(file_system, Construct):
            self._resource.node.add_dependency(file_system)  # with the ports that it opens

    @staticmethod
    def from_cluster_name(scope: Construct, id: str, cluster_name: str) -> HyperPodClusterBase:
        """A cluster that exists already, to be heard of here.

        Args:
            scope: The parent construct.
            id: The construct id.
            cluster_name: Its name.
        """
        return ImportedHyperPodCluster(scope, id, cluster_name)

    @property
    def cluster_arn(self) -> str:
        """The cluster's ARN."""
        return self._resource.attr_cluster_arn

    @property
    def network(self) -> ITrainingNetwork:
        """Where the nodes are."""
        return self._network

    @property
    def orchestrator(self) -> HyperPodOrchestrator:
        """Slurm or EKS."""
        return self._orchestrator

    @property
    def instance_groups(self) -> Mapping[str, HyperPodInstanceGroup]:
        """The groups by their names."""
        return MappingProxyType(self._groups)

    @property
    def file_system(self) -> ILustreFileSystem | None:
        """The file system that every node mounts."""
        return self._file_system

    @property
    def mount_path(self) -> str:
        """Where nodes and pods see the file system."""
        return self._mount_path

    @property
    def roles(self) -> Mapping[str, iam.IRole]:
        """The role of each group's nodes, by the group's name."""
        return MappingProxyType({name: made.role for name, made in self._roles.items()})

    def allow_group(self, group: str, statement: iam.PolicyStatement) -> None:
        """Allow the nodes of a group something more.

        Args:
            group: The group's name.
            statement: What they may do.
        """
        self._roles[group].allow(statement)

    @property
    def scripts(self) -> ScriptBucket:
        """The bucket from which nodes read scripts; made when it is first asked for."""
        if self._scripts is None:
            self._scripts = ScriptBucket(self, "Scripts", encryption_key=self._key)
        return self._scripts

    def _group(self, number: int, group: HyperPodInstanceGroup, waits_for: list[Construct]) -> dict[str, Any]:
        more = list(self._orchestrator.kind.node_statements())
        lifecycle = group.lifecycle or self._orchestrator.kind.default_lifecycle()
        life_cycle_config = {}
        if lifecycle is not None:
            life_cycle_config = {"lifeCycleConfig": self._lifecycle(lifecycle, more, waits_for)}
        name = f"Group{number}" if cdk.Token.is_unresolved(group.name) else group.name
        made = NodeRole(
            self,
            f"{name}Role",
            cluster_name=self._cluster_name,
            network=group.network or self._network,
            security_group_ids=self._orchestrator.kind.security_group_ids(),
            more=more,
            role=group.role,
        )
        self._roles[group.name] = made
        own, further = (
            group.properties(),
            self._orchestrator.kind.group_properties(group, self._file_system, self._mount_path),
        )
        volumes = [*own.pop("instanceStorageConfigs", []), *further.pop("instanceStorageConfigs", [])]
        return {
            **own,
            **further,
            **life_cycle_config,
            **({"instanceStorageConfigs": volumes} if volumes else {}),
            "executionRole": made.role.role_arn,
        }

    def _lifecycle(
        self, lifecycle: HyperPodLifecycle, more: list[iam.PolicyStatement], waits_for: list[Construct]
    ) -> dict[str, Any]:
        named = {"onCreate": lifecycle.on_create, "onInitComplete": lifecycle.on_init_complete}
        script = {name: given for name, given in named.items() if given is not None}
        if lifecycle.bucket is not None:
            more += read_statements(lifecycle.bucket, lifecycle.prefix, lifecycle.bucket.encryption_key)
            return {**script, "sourceS3Uri": lifecycle.bucket.s3_url_for_object(lifecycle.prefix.strip("/") or None)}
        assert lifecycle.directory is not None  # noqa: S101  a lifecycle has one of the two
        # what the files are stands in the folder's name: a changed script is another folder, which updates the group
        prefix = f"lifecycle/{cdk.FileSystem.fingerprint(str(lifecycle.directory))[:16]}"
        if self.scripts.node.try_find_child(prefix.replace("/", "-")) is None:
            waits_for.append(self.scripts.add_directory(prefix.replace("/", "-"), lifecycle.directory, prefix))
        more += self.scripts.read_statements(prefix)
        return {**script, "sourceS3Uri": self.scripts.bucket.s3_url_for_object(prefix)}

    @staticmethod
    def _names(cluster_name: str | None, groups: Sequence[HyperPodInstanceGroup]) -> Iterator[Finding]:
        names = [group.name for group in groups]
        if not any(map(cdk.Token.is_unresolved, names)):
            own = None if cluster_name is None or cdk.Token.is_unresolved(cluster_name) else cluster_name
            yield from rules.names(own, names)

    def _places(self, groups: Sequence[HyperPodInstanceGroup]) -> Iterator[Finding]:
        own = self._network.vpc.vpc_id
        parts = [
            ("instance_groups.network", f"group {group.name!r}", group.network.vpc.vpc_id)
            for group in groups
            if group.network is not None
        ]
        if self._file_system is not None:
            parts.append(("file_system", "a file system", self._file_system.network.vpc.vpc_id))
        for prop, what, vpc in parts:
            if not cdk.Token.is_unresolved(own) and not cdk.Token.is_unresolved(vpc):
                yield from rules.same_network(prop, what, vpc, own)
