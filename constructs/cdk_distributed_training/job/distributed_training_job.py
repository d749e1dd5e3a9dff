"""The job: puts source, machines, data, network and permissions together, and hands the request to an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.distribution.torchrun import Torchrun
from cdk_distributed_training.engines.state_machine import TrainingStateMachine
from cdk_distributed_training.job import job_findings
from cdk_distributed_training.job.default_job_name import default_job_name
from cdk_distributed_training.job.entry_point import ENTRY_POINT
from cdk_distributed_training.job.job_grants import JobGrants
from cdk_distributed_training.job.launcher_asset import launcher_asset
from cdk_distributed_training.job.output_bucket import create_output_bucket
from cdk_distributed_training.job.s3_access import grant_synchronize, grant_write
from cdk_distributed_training.job.source_code import SourceCode
from cdk_distributed_training.job.texts import texts
from cdk_distributed_training.job.tokens import known, text
from cdk_distributed_training.job.training_image import TrainingImage
from cdk_distributed_training.job.training_role import TrainingRole
from cdk_distributed_training.monitoring.job_events import on_training_job_state_change
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.training_network import TrainingNetwork
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.channels import TrainingChannel
from cdk_distributed_training.request.checkpoint_config import CheckpointConfig
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.request.managed_spot import ManagedSpot
from cdk_distributed_training.request.training_job_request import TrainingJobRequest

METADATA_TYPE = "cdk-distributed-training:training-job"
METADATA_SCHEMA = 1


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class DistributedTrainingJob(Construct):
    """A training job on several machines, defined and ready to be started.

    Deploying defines the job and starts nothing. Each execution of `state_machine` is one run, which may override
    hyperparameters and the number of machines in its input:
    `{"hyperparameters": {"lr": 0.1}, "instance_count": 4}`. Stopping the execution stops the training job.

    Construct ids, which are part of the interface: `Code`, `Launcher`, `Network`, `Output`, `Role`, `StateMachine`.

    Example:
        >>> job = DistributedTrainingJob(  # doctest: +SKIP
        ...     stack,
        ...     "Job",
        ...     source=SourceCode.from_directory("./llm", entry_script="pretrain.py"),
        ...     instances=Instances("ml.p5.48xlarge", count=16),
        ... )

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        source: SourceCode,
        instances: Instances,
        distribution: Distribution | None = None,
        network: ITrainingNetwork | None = None,
        channels: Sequence[TrainingChannel] = (),
        hyperparameters: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        image: TrainingImage | None = None,
        role: iam.IRole | None = None,
        output_bucket: s3.IBucket | None = None,
        output_prefix: str = "output",
        spot: ManagedSpot | None = None,
        checkpoint: CheckpointConfig | None = None,
        max_runtime: cdk.Duration | None = None,
        job_name: str | None = None,
        encrypt_inter_container_traffic: bool = False,
        network_isolation: bool = False,
        poll_interval: cdk.Duration | None = None,
    ) -> None:
        """Define the job.

        Args:
            scope: The parent construct.
            id: The construct id.
            source: The training script and what belongs to it.
            instances: The machines.
            distribution: How the processes are started; `Torchrun()` unless given, which starts one process for each
                accelerator.
            network: Where the machines are; the network of the channels' file system unless given, else a new
                `TrainingNetwork`, which costs by the hour for its interface endpoints.
            channels: Input data; each appears as a folder under `/opt/ml/input/data`.
            hyperparameters: Arguments of the script, which gets them as `--name value`: text as it is, anything else
                as JSON, so `True` becomes `true`. At most 100, each at most 2,500 characters.
            environment: Variables of the container; text as it is, anything else as JSON. At most 99, each at most
                512 characters.
            image: The container's image; the newest of AWS's deep learning containers with PyTorch that fits the
                instance type unless given.
            role: Role that the job runs as; a new one unless given. The statements that the job needs are added to it.
            output_bucket: Bucket for models and checkpoints; a new one that outlives the stack unless given.
            output_prefix: Folder for models in the bucket; SageMaker adds one for each run.
            spot: Train on spare capacity; on demand unless given.
            checkpoint: Keep a folder of the container equal to one in S3; with `spot` it is kept in any case, else
                only if given.
            max_runtime: Time after which SageMaker stops the job, from 1 second to 28 days; 1 day unless given.
            job_name: With what the names of the runs begin: lower-case letters, digits and single hyphens, at most 30
                characters; the construct's path unless given.
            encrypt_inter_container_traffic: Whether SageMaker encrypts what the machines say to each other, which
                slows collectives down; not unless given.
            network_isolation: Whether the containers can call nobody but each other; they can unless given.
            poll_interval: Shortest time between two looks at a running job; 30 seconds unless given. Long jobs are
                looked at more seldom.

        Raises:
            ConfigurationError: Literal values cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        distribution = distribution or Torchrun()
        self._job_name = job_name if job_name is not None else default_job_name(self)
        runtime = _seconds(max_runtime, limits.DEFAULT_RUNTIME_SECONDS)
        wait = None if spot is None else spot.max_wait.to_seconds(integral=False)
        poll = _seconds(poll_interval, 30)
        words = [*(text(self, word) for word in distribution.launcher_arguments()), "--", *source.command()]
        hyperparameter_texts, hyperparameter_findings = texts(self, "hyperparameters", hyperparameters or {})
        environment_texts, environment_findings = texts(self, "environment", environment or {})
        findings = [
            *job_findings.of_machines(instances, distribution),
            *job_findings.of_names(self._job_name, channels),
            *job_findings.of_times(runtime, wait, poll),
            *job_findings.of_network(channels, network),
            *hyperparameter_findings,
            *environment_findings,
            *job_findings.of_texts(hyperparameter_texts, environment_texts, words),
        ]
        raise_errors(findings, where=self.node.path)
        annotate_warnings(self, findings)

        self._network = network or _network_of(channels) or TrainingNetwork(self, "Network")
        training_role = TrainingRole(self, "Role", role=role)
        self._role = training_role.role
        self._output_bucket = output_bucket or create_output_bucket(self, "Output")
        groups = list(self._network.security_groups)
        training_role.allow_network(self._network.subnet, groups)
        grantee = training_role.grantee
        grant_write(grantee, self._output_bucket, f"{output_prefix}/")
        image = image or TrainingImage.from_deep_learning_container()
        request = TrainingJobRequest(
            role_arn=self._role.role_arn,
            image_uri=image.bind(self, instances=instances, grantee=grantee),
            entrypoint=ENTRY_POINT,
            arguments=words,
            channels=[
                launcher_asset(self, "Launcher").bind(grantee),
                source.bind(self, "Code").bind(grantee),
                *(channel.bind(grantee) for channel in channels),
            ],
            output_path=f"s3://{self._output_bucket.bucket_name}/{output_prefix}",
            instances=instances,
            max_runtime=runtime,
            max_wait=wait,
            hyperparameters=hyperparameter_texts,
            environment=environment_texts,
            subnet_ids=[self._network.subnet.subnet_id],
            security_group_ids=[group.security_group_id for group in groups],
            checkpoint=self._checkpoint(checkpoint, spot, grantee),
            encrypt_inter_container_traffic=encrypt_inter_container_traffic,
            network_isolation=network_isolation,
        ).render()
        self.node.add_metadata(
            METADATA_TYPE, {"schema": METADATA_SCHEMA, "job_name": self._job_name, "request": request}
        )
        longest_run = runtime if wait is None else wait
        self._engine = TrainingStateMachine(
            self,
            "StateMachine",
            request=request,
            job_name=self._job_name,
            training_role=self._role,
            longest_run=longest_run if known(longest_run) else limits.LONGEST_RUNTIME_SECONDS,
            poll_interval=int(poll),
        )

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine of which each execution is one run."""
        return self._engine.state_machine

    @property
    def job_name(self) -> str:
        """With what the names of the runs' training jobs begin, before a hyphen."""
        return self._job_name

    @property
    def role(self) -> iam.IRole:
        """The role that the job runs as."""
        return self._role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal of the role, so that other constructs can grant the job their use."""
        return self._role.grant_principal

    @property
    def network(self) -> ITrainingNetwork:
        """Where the machines are."""
        return self._network

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the machines' security group."""
        return self._network.connections

    @property
    def output_bucket(self) -> s3.IBucket:
        """The bucket for models and checkpoints."""
        return self._output_bucket

    @property
    def grants(self) -> JobGrants:
        """Permissions to start, see and stop runs."""
        return JobGrants(self.state_machine)

    def on_state_change(
        self, id: str, *, target: events.IRuleTarget | None = None, statuses: Sequence[str] = ()
    ) -> events.Rule:
        """A rule for SageMaker's events about this job's runs.

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            statuses: Only these, such as `Completed`, `Failed` or `Stopped`; all unless given.
        """
        return on_training_job_state_change(self, id, job_name=self._job_name, target=target, statuses=statuses)

    def _checkpoint(
        self, checkpoint: CheckpointConfig | None, spot: ManagedSpot | None, grantee: iam.IGrantable
    ) -> tuple[str, str] | None:
        """S3 address and local folder of the checkpoints; spare capacity without checkpoints would start over."""
        if checkpoint is None:
            if spot is None:
                return None
            checkpoint = CheckpointConfig()
        bucket = checkpoint.bucket or self._output_bucket
        prefix = f"checkpoints/{self._job_name}" if checkpoint.prefix is None else checkpoint.prefix.rstrip("/")
        grant_synchronize(grantee, bucket, f"{prefix}/" if prefix else "")
        return f"s3://{bucket.bucket_name}/{prefix}", checkpoint.local_path


def _seconds(duration: cdk.Duration | None, default: int) -> float:
    return default if duration is None else duration.to_seconds(integral=False)


def _network_of(channels: Sequence[TrainingChannel]) -> ITrainingNetwork | None:
    """The network of the first channel that has one; a rule has seen to it that there is no other."""
    networks: list[ITrainingNetwork] = [channel.network for channel in channels if channel.network is not None]
    return networks[0] if networks else None
