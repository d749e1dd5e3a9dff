"""The engine that runs a job on EC2 machines of one's own, by AWS Batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import aws_cdk as cdk
from aws_cdk import aws_batch as batch
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import multi_node as rules
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.checks.rules.queues import fits_queue
from cdk_distributed_training.checks.rules.state_machine import poll_interval as poll_interval_rule
from cdk_distributed_training.engines.batch_job_termination import terminate_definition
from cdk_distributed_training.engines.engine_runs import EngineGrants, MachineRuns
from cdk_distributed_training.engines.multi_node.lustre_mounts import lustre_mounts
from cdk_distributed_training.engines.multi_node.machines import Machines
from cdk_distributed_training.engines.multi_node.members import attempts, machine, request_findings
from cdk_distributed_training.engines.multi_node.multi_node_states import ALL_NODES, MultiNodeStates
from cdk_distributed_training.engines.multi_node.node_container import NodeContainer
from cdk_distributed_training.engines.multi_node.node_roles import NodeRoles
from cdk_distributed_training.engines.run_and_stop import States, run_and_stop
from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.engines.statement import Statement
from cdk_distributed_training.engines.training_definition import ITrainingDefinition
from cdk_distributed_training.monitoring.log_group import create_log_group
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.training_call import TrainingCall
from cdk_distributed_training.network.training_network_base import endpoint_id
from cdk_distributed_training.tokens import known

_ENVIRONMENT = "https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html"
_ROOT_GIB = 100
_LARGEST_GIB = 16384
_CALLS = (TrainingCall.ECS, TrainingCall.IMAGES, TrainingCall.LOGS)


class IMultiNodeDefinition(ITrainingDefinition, Protocol):
    """A job that is defined, with what it takes to run it without SageMaker."""

    @property
    def network(self) -> ITrainingNetwork:
        """Where the machines are."""

    @property
    def statements(self) -> list[iam.PolicyStatement]:
        """What the job's role must be allowed."""


class MultiNodeGrants(EngineGrants):
    """Permissions for people and services that use the engine."""

    def __init__(self, state_machine: sfn.StateMachine, *, log_group: logs.ILogGroup) -> None:
        """Use the engine's property `grants`.

        Args:
            state_machine: The state machine of which each execution is one run.
            log_group: The nodes' log.
        """
        super().__init__(state_machine, training_jobs=())
        self._log_group = log_group

    def read_logs(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to read what the nodes print."""
        return self._log_group.grant_read(grantee)


class MultiNodeParallelJob(MachineRuns):
    """A job that runs on EC2 machines of this account, as a multi-node parallel job of AWS Batch.

    The same script, launcher, channels and names: hosts are `algo-1` and so on, `/opt/ml` is filled as SageMaker fills
    it, and what the script leaves in `/opt/ml/model` goes to `<output>/<run>/output/model/` in the job's bucket, as
    files. Input and outcome of an execution are those of the job's own state machine. Machines start when a run is
    submitted, in one cluster placement group with all EFA interfaces of their type, and end some minutes after it.

    What SageMaker alone can do is refused by name: spot (Batch takes none for these jobs), S3 checkpoints, metric
    definitions, profiler and debugger, streamed or sharded channels, EFS, warm pools, volume keys, Trainium. A failed
    training is not tried again; a machine that EC2 takes away is, as often as the job's `retry` says. SageMaker's
    metrics of machines (`metric_cpu_utilization` and so on) know nothing of these. It has never run on AWS.

    In a closed subnet, call `network.add_calls(TrainingCall.ECS, TrainingCall.IMAGES, TrainingCall.LOGS)` before. The
    image's entry point must run what it is given, as that of AWS's images does, and its Python must have boto3.

    Construct ids, which are part of the interface: `Definition`, `Ended`, `EndedRole`, `Job`, `LogGroup`, `Machines`,
    `NodeLog`, `Roles`, `Stop`.

    Example:
        >>> on_ec2 = MultiNodeParallelJob(stack, "OnEc2", job=job, max_instances=16)  # doctest: +SKIP
        >>> on_ec2.grants.start(researchers)  # doctest: +SKIP

    Source: https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: IMultiNodeDefinition,
        max_instances: float | None = None,
        machine_image_id: str | None = None,
        capacity_reservation_id: str | None = None,
        root_volume: cdk.Size | None = None,
        memory: cdk.Size | None = None,
        shared_memory: cdk.Size | None = None,
        poll_interval: cdk.Duration | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the machines, the job definition and the state machines.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: The job.
            max_instances: Most machines that run at a time, of all runs together; those of one run unless given.
            machine_image_id: Machine image for ECS with Amazon Linux 2023, for one with another EFA or GPU driver;
                the newest that AWS Batch has for the type unless given.
            capacity_reservation_id: Reserved capacity in which the machines start; none unless given.
            root_volume: Size of each machine's volume, on which images, channels and checkpoints lie; the job's
                `volume_size` and at least 100 GiB unless given. It is encrypted by the account's key for EBS.
            memory: Memory of each container; nine tenths of the machine's unless given.
            shared_memory: Size of /dev/shm; half of the container's memory unless given.
            poll_interval: Shortest time between two looks at the job; 30 seconds unless given.
            encryption_key: Key for the logs; CloudWatch Logs' own unless given.

        Raises:
            ConfigurationError: The job asks for what only SageMaker has, or literal values cannot work; all of them
                are listed.
        """
        super().__init__(scope, id)
        stack, request = cdk.Stack.of(self), job.request
        poll = 30 if poll_interval is None else poll_interval.to_seconds(integral=False)
        count = request.get("ResourceConfig", {}).get("InstanceCount")
        most = count if max_instances is None else max_instances
        volume = None if root_volume is None else root_volume.to_gibibytes()
        sizes = {"memory": memory, "shared_memory": shared_memory}
        mib = {
            name: None if size is None else size.to_mebibytes(rounding=cdk.SizeRoundingBehavior.FLOOR)
            for name, size in sizes.items()
        }
        findings = [*poll_interval_rule(poll), *request_findings(request)]
        if not known(most):
            findings += rules.machines(
                "a number that only deployment knows", "a number, or max_instances of the engine"
            )
        elif most is not None:
            findings += in_range("max_instances", most, 1, 10000, _ENVIRONMENT)
            if known(count):
                findings += fits_queue(count, most)
        if volume is not None and known(volume):
            findings += in_range("root_volume", volume, 1, _LARGEST_GIB, _ENVIRONMENT)
        for name, size in mib.items():
            if size is not None and known(size):
                findings += in_range(name, size, 1024, _LARGEST_GIB * 1024, _ENVIRONMENT)
        raise_errors(findings, where=self.node.path)
        annotate_warnings(self, [*findings, *rules.ecs_within_reach(_out_of_reach(job.network))])

        facts, mounts = machine(request), lustre_mounts(request, stack)
        self._machines = Machines(
            self,
            "Machines",
            facts=facts,
            subnet_ids=request["VpcConfig"]["Subnets"],
            security_group_ids=request["VpcConfig"]["SecurityGroupIds"],
            max_instances=most,
            volume_gib=_volume(request) if volume is None else volume,
            mounts=mounts,
            machine_image_id=machine_image_id,
            capacity_reservation_id=capacity_reservation_id,
        )
        self._log_group = create_log_group(self, "NodeLog", encryption_key=encryption_key)
        self._roles = NodeRoles(self, "Roles", statements=job.statements, log_group=self._log_group)
        container = NodeContainer(
            facts=facts,
            image=request["AlgorithmSpecification"]["TrainingImage"],
            job_role_arn=self._roles.job.role_arn,
            execution_role_arn=self._roles.execution.role_arn,
            environment=_environment(request, stack),
            mounts=mounts,
            log_group_name=self._log_group.log_group_name,
            region=stack.region,
            memory_mib=mib["memory"],
            shared_memory_mib=mib["shared_memory"],
        )
        self._definition = batch.CfnJobDefinition(
            self,
            "Definition",
            type="multinode",
            node_properties=batch.CfnJobDefinition.NodePropertiesProperty(
                main_node=0,
                num_nodes=count,
                node_range_properties=[
                    batch.CfnJobDefinition.NodeRangePropertyProperty(
                        target_nodes=ALL_NODES, container=container.properties()
                    )
                ],
            ),
            timeout=_timeout(request),
            retry_strategy=_retries(attempts(request)),
            propagate_tags=True,
            tags={tag["Key"]: tag["Value"] for tag in stack.resolve(request.get("Tags", []))},
        )
        self._make_state_machines(job, most, int(poll), encryption_key)
        run_elsewhere(self, runner="AWS Batch runs it on EC2 machines of the account", job=job)

    @property
    def grants(self) -> MultiNodeGrants:
        """Permissions to start, see and stop runs, and to read their logs."""
        return MultiNodeGrants(self.state_machine, log_group=self._log_group)

    @property
    def job_definition_arn(self) -> str:
        """The job definition's ARN, with its revision, for `aws batch submit-job`."""
        return self._definition.ref

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue that leads to the machines."""
        return self._machines.job_queue_arn

    @property
    def log_group(self) -> logs.ILogGroup:
        """The log of all nodes: a stream for each node of each attempt."""
        return self._log_group

    @property
    def role(self) -> iam.IRole:
        """The role of the training script here, with what the job's own role is allowed of its own data."""
        return self._roles.job

    def on_batch_job_state_change(
        self, id: str, *, target: events.IRuleTarget | None = None, statuses: Sequence[str] = ()
    ) -> events.Rule:
        """A rule for Batch's own events about the jobs in this engine's queue, which tell more than those of runs.

        Args:
            id: The rule's construct id.
            target: Where the events go; add more with the rule's `add_target`.
            statuses: Only these, such as `RUNNING`, `SUCCEEDED` or `FAILED`; all unless given.

        Source: https://docs.aws.amazon.com/batch/latest/userguide/batch_cwe_events.html
        """
        detail: dict[str, Any] = {"jobQueue": [self.job_queue_arn]}
        if statuses:
            detail["status"] = list(statuses)
        pattern = events.EventPattern(source=["aws.batch"], detail_type=["Batch Job State Change"], detail=detail)
        return events.Rule(self, id, event_pattern=pattern, targets=[] if target is None else [target])

    def _make_state_machines(
        self, job: ITrainingDefinition, max_instances: float, poll_interval: int, encryption_key: kms.IKey | None
    ) -> None:
        stack = cdk.Stack.of(self)
        run = States(
            definition=MultiNodeStates(
                partition=stack.partition,
                job_name=job.job_name,
                request=job.request,
                job_definition_arn=self.job_definition_arn,
                job_queue_arn=self.job_queue_arn,
                poll_interval=poll_interval,
                max_instances=max_instances,
            ).definition(),
            statements=[
                Statement(actions=["batch:SubmitJob"], resources=[self.job_definition_arn, self.job_queue_arn]),
                Statement(actions=["batch:DescribeJobs"], resources=["*"]),
            ],
            wildcards="describing jobs of Batch knows no resources",
        )
        jobs = stack.format_arn(service="batch", resource="job", resource_name="*")
        stop = States(
            definition=terminate_definition(
                kind="job", partition=stack.partition, job_name=job.job_name, job_queue_arn=self.job_queue_arn
            ),
            statements=[
                Statement(actions=["batch:ListJobs"], resources=["*"]),
                Statement(actions=["batch:TerminateJob"], resources=[jobs]),
            ],
            wildcards="Batch makes up the ids of jobs, and listing knows no resources",
        )
        self._state_machine = run_and_stop(self, run=run, stop=stop, encryption_key=encryption_key)


def _environment(request: Mapping[str, Any], stack: cdk.Stack) -> dict[str, str]:
    """The script's own variables, and what the node's start and the launcher ask for."""
    algorithm, output = request["AlgorithmSpecification"], request["OutputDataConfig"]
    command = [*algorithm["ContainerEntrypoint"], *algorithm.get("ContainerArguments", [])]
    key = {"TRAINING_OUTPUT_KEY": output["KmsKeyId"]} if "KmsKeyId" in output else {}
    return {
        **request.get("Environment", {}),
        "AWS_REGION": stack.region,
        "AWS_DEFAULT_REGION": stack.region,
        "TRAINING_INSTANCE_TYPE": request["ResourceConfig"]["InstanceType"],
        "TRAINING_COMMAND": stack.to_json_string(command),
        "TRAINING_HYPERPARAMETERS": stack.to_json_string(request.get("HyperParameters", {})),
        "TRAINING_INPUT_DATA_CONFIG": stack.to_json_string(request.get("InputDataConfig", [])),
        "TRAINING_OUTPUT_PATH": output["S3OutputPath"],
        **key,
    }


def _timeout(request: Any) -> batch.CfnJobDefinition.TimeoutProperty | None:
    seconds = request.get("StoppingCondition", {}).get("MaxRuntimeInSeconds")
    return None if seconds is None else batch.CfnJobDefinition.TimeoutProperty(attempt_duration_seconds=seconds)


def _retries(number: float) -> batch.CfnJobDefinition.RetryStrategyProperty:
    """Only a machine that went away is worth another attempt: a training that failed would fail again."""
    rule = batch.CfnJobDefinition.EvaluateOnExitProperty
    return batch.CfnJobDefinition.RetryStrategyProperty(
        attempts=number,
        evaluate_on_exit=[
            rule(action="RETRY", on_status_reason="Host EC2*"),
            rule(action="EXIT", on_reason="*"),
        ],
    )


def _volume(request: Any) -> float:
    given = request["ResourceConfig"].get("VolumeSizeInGB", _ROOT_GIB)
    return max(float(given), _ROOT_GIB) if known(given) else float(given)


def _out_of_reach(network: ITrainingNetwork) -> list[str]:
    """Services that a closed subnet's machines need and this app gives no way to."""
    closed = {subnet.subnet_id for subnet in network.vpc.isolated_subnets}
    if network.subnet.subnet_id not in closed or not isinstance(network, Construct):
        return []
    services = [service for call in _CALLS for service in call.services]
    return [
        service.short_name
        for service in services
        if network.node.try_find_child(f"{endpoint_id(service)}Endpoint") is None
    ]
