"""What can be done with a HyperPod cluster, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from aws_cdk import aws_events as events
from constructs import Construct

NodeHealth = Literal["Healthy", "Unhealthy"]


class HyperPodClusterBase(Construct):
    """Base of clusters, made here or elsewhere: to hear of them."""

    _cluster_name: str

    @property
    def cluster_name(self) -> str:
        """The cluster's name."""
        return self._cluster_name

    def on_state_change(
        self, id: str, *, target: events.IRuleTarget | None = None, statuses: Sequence[str] = ()
    ) -> events.Rule:
        """A rule for changes of the cluster's status.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            statuses: Only these: `Creating`, `InService`, `Updating`, `SystemUpdating`, `RollingBack`, `Deleting`,
                `Failed`; all unless given.
        """
        detail = {"ClusterStatus": list(statuses)} if statuses else {}
        return self._rule(id, "SageMaker HyperPod Cluster State Change", detail, target)

    def on_node_health(
        self, id: str, *, target: events.IRuleTarget | None = None, health: NodeHealth | None = "Unhealthy"
    ) -> events.Rule:
        """A rule for nodes that HyperPod's agent found ill, with its reason and what it will do.

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            health: Only `Unhealthy` unless given; `Healthy` for nodes that are well again, None for both.
        """
        detail = {} if health is None else {"HealthSummary": {"HealthStatus": [health]}}
        return self._rule(id, "SageMaker HyperPod Cluster Node Health Event", detail, target)

    def _rule(self, id: str, kind: str, detail: dict[str, Any], target: events.IRuleTarget | None) -> events.Rule:
        return events.Rule(
            self,
            id,
            description=f"{kind} of {self._cluster_name}",
            event_pattern=events.EventPattern(
                source=["aws.sagemaker"],
                detail_type=[kind],
                detail={"ClusterName": [self._cluster_name], **detail},
            ),
            targets=[] if target is None else [target],
        )


class ImportedHyperPodCluster(HyperPodClusterBase):
    """A cluster of which only the name is known."""

    def __init__(self, scope: Construct, id: str, cluster_name: str) -> None:
        super().__init__(scope, id)
        self._cluster_name = cluster_name
