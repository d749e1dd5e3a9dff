"""A policy that denies whoever has it every training job but those within given bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge_wildcards
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules.keywords import unsettled_list
from cdk_distributed_training.request.instance_type_name import instance_type_name

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms

    from cdk_distributed_training.network.interfaces import ITrainingNetwork

_ACTIONS = ("sagemaker:CreateHyperParameterTuningJob", "sagemaker:CreateTrainingJob")


class TrainingGuardrails(Construct):
    """Denies training and tuning jobs outside of given networks, instance types, keys and file systems.

    It allows nothing: attach `managed_policy` beside what allows to start jobs, or use it as a permissions boundary's
    part. Each bound is a statement of its own, since the conditions of one statement must all hold before it denies. A
    bound that is not given is not made.

    Construct ids, which are part of the interface: `Policy`.

    Example:
        >>> guardrails = TrainingGuardrails(  # doctest: +SKIP
        ...     stack, "Guardrails", networks=[network], instance_types=["ml.p5.48xlarge"]
        ... )
        >>> researchers.add_managed_policy(guardrails.managed_policy)  # doctest: +SKIP

    Source: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        networks: Sequence[ITrainingNetwork] = (),
        instance_types: Sequence[str] = (),
        volume_keys: Sequence[kms.IKey | str] = (),
        output_keys: Sequence[kms.IKey | str] = (),
        file_system_ids: Sequence[str] | None = None,
        network_isolation: bool = False,
        encrypt_inter_container_traffic: bool = False,
    ) -> None:
        """Make the policy.

        Args:
            scope: The parent construct.
            id: The construct id.
            networks: A job must be in these networks' subnets with their security groups and no others; anywhere
                unless given.
            instance_types: Types that a job may run on, such as `ml.p5.48xlarge` or `p5.48xlarge`; any unless given.
            volume_keys: A job's volumes must be encrypted with one of these keys, or keys of these ARNs; anyhow unless
                given. Types with local NVMe storage take no key: they are denied then.
            output_keys: A job's model must be encrypted with one of these keys; anyhow unless given.
            file_system_ids: File systems that a job may mount; an empty sequence lets it mount none, and any unless
                given.
            network_isolation: Whether a job's containers must be isolated.
            encrypt_inter_container_traffic: Whether a job's machines must encrypt what they say to each other.

        Raises:
            ConfigurationError: The instance types are a list that is only known when deployed.
        """
        super().__init__(scope, id)
        raise_errors(unsettled_list("instance_types", instance_types), where=lambda: self.node.path)
        groups = [group.security_group_id for network in networks for group in network.security_groups]
        statements: list[iam.PolicyStatement] = []
        if networks:
            statements += [
                *_only("VpcSubnets", "Subnets", [network.subnet.subnet_id for network in networks]),
                *_only("VpcSecurityGroupIds", "SecurityGroups", list(dict.fromkeys(groups))),
            ]
        if instance_types:
            names = [name if cdk.Token.is_unresolved(name) else instance_type_name(name) for name in instance_types]
            statements += _only("InstanceTypes", "InstanceTypes", names)
        for condition_key, keys in (("VolumeKmsKey", volume_keys), ("OutputKmsKey", output_keys)):
            if keys:
                # a negated condition also holds for a request that has no key
                arns = [key if isinstance(key, str) else key.key_arn for key in keys]
                statements.append(_deny(f"Other{condition_key}", {"ArnNotEquals": {_key(condition_key): arns}}))
        if file_system_ids is not None:
            statements.append(_file_systems(file_system_ids))
        for condition_key, wanted in (
            ("NetworkIsolation", network_isolation),
            ("InterContainerTrafficEncryption", encrypt_inter_container_traffic),
        ):
            if wanted:
                # with IfExists it also holds for a request that says nothing of it
                condition = {"BoolIfExists": {_key(condition_key): "false"}}
                statements.append(_deny(f"Without{condition_key}", condition))
        self._policy = iam.ManagedPolicy(
            self, "Policy", description="Denies training jobs outside of their bounds", statements=statements
        )
        acknowledge_wildcards(self._policy, "what is denied, is denied for training jobs of every name")

    @classmethod
    def of_request(
        cls, scope: Construct, id: str, *, request: Mapping[str, Any], network: ITrainingNetwork
    ) -> TrainingGuardrails:
        """Bounds in which exactly such jobs fit as the one of a request.

        Args:
            scope: The parent construct.
            id: The construct id.
            request: A `CreateTrainingJob` request.
            network: Its network.
        """
        resources = request["ResourceConfig"]
        rows = [resources, *resources.get("InstanceGroups", ()), *resources.get("InstancePreferences", ())]
        sources = [channel.get("DataSource", {}) for channel in request.get("InputDataConfig", ())]
        volume_key, output_key = resources.get("VolumeKmsKeyId"), request["OutputDataConfig"].get("KmsKeyId")
        return cls(
            scope,
            id,
            networks=[network],
            instance_types=list(dict.fromkeys(row["InstanceType"] for row in rows if "InstanceType" in row)),
            volume_keys=[] if volume_key is None else [volume_key],
            output_keys=[] if output_key is None else [output_key],
            file_system_ids=[
                source["FileSystemDataSource"]["FileSystemId"] for source in sources if "FileSystemDataSource" in source
            ],
            network_isolation=bool(request.get("EnableNetworkIsolation")),
            encrypt_inter_container_traffic=bool(request.get("EnableInterContainerTrafficEncryption")),
        )

    @property
    def managed_policy(self) -> iam.ManagedPolicy:
        """The policy, for users, groups and roles that may start training jobs."""
        return self._policy


def _only(condition_key: str, words: str, allowed: Sequence[str]) -> list[iam.PolicyStatement]:
    """Deny any value but the allowed ones, and none: without values there is none that differs."""
    return [
        _deny(f"Other{words}", {"ForAnyValue:StringNotEquals": {_key(condition_key): list(allowed)}}),
        _deny(f"No{words}", {"Null": {_key(condition_key): "true"}}),
    ]


def _file_systems(allowed: Sequence[str]) -> iam.PolicyStatement:
    key = _key("FileSystemId")
    if not allowed:
        return _deny("AnyFileSystem", {"Null": {key: "false"}})
    return _deny("OtherFileSystems", {"ForAnyValue:StringNotEquals": {key: list(allowed)}})


def _key(name: str) -> str:
    return f"sagemaker:{name}"


def _deny(sid: str, conditions: Mapping[str, Any]) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, effect=iam.Effect.DENY, actions=list(_ACTIONS), resources=["*"], conditions=conditions
    )
