"""The job: puts source, machines, data, network and permissions together, and hands the request to an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.distribution.launcher_options import LauncherOptions
from cdk_distributed_training.distribution.torchrun import Torchrun
from cdk_distributed_training.engines.integration import Integration, start_call
from cdk_distributed_training.job import feature_permissions, job_findings, model_permissions
from cdk_distributed_training.job.container_command import container_command, encoding_words
from cdk_distributed_training.job.encryption import with_volume_key
from cdk_distributed_training.job.hyperparameter_file import HyperparameterFile
from cdk_distributed_training.job.job_tags import rendered_tags, tag_findings
from cdk_distributed_training.job.launcher_asset import launcher_asset
from cdk_distributed_training.job.model_folder import model_folder
from cdk_distributed_training.job.output_bucket import create_output_bucket
from cdk_distributed_training.job.output_folders import OutputFolders
from cdk_distributed_training.job.source_code import SourceCode
from cdk_distributed_training.job.training_image import TrainingImage
from cdk_distributed_training.job.training_job_base import TrainingJobBase
from cdk_distributed_training.job.training_role import TrainingRole
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.training_call import TrainingCall
from cdk_distributed_training.network.training_network import TrainingNetwork
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.algorithm_specification import AlgorithmSpecification, InputMode
from cdk_distributed_training.request.checkpoint_config import CheckpointConfig
from cdk_distributed_training.request.hyperparameters import split_hyperparameters
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.request.stopping_condition import StoppingCondition
from cdk_distributed_training.request.training_job_request import TrainingJobRequest
from cdk_distributed_training.texts import text, texts
from cdk_distributed_training.tokens import known

if TYPE_CHECKING:
    from cdk_distributed_training.request.channels import TrainingChannel
    from cdk_distributed_training.request.debugger import DebuggerHook
    from cdk_distributed_training.request.evaluation_rule import EvaluationRule
    from cdk_distributed_training.request.experiment_config import ExperimentConfig
    from cdk_distributed_training.request.managed_spot import ManagedSpot
    from cdk_distributed_training.request.metric_definition import MetricDefinition
    from cdk_distributed_training.request.mlflow_config import MlflowConfig
    from cdk_distributed_training.request.model_package_config import ModelPackageConfig
    from cdk_distributed_training.request.profiler import Profiler
    from cdk_distributed_training.request.retry_strategy import RetryStrategy
    from cdk_distributed_training.request.tensor_board_config import TensorBoardConfig

METADATA_TYPE = "cdk-distributed-training:training-job"
METADATA_SCHEMA = 1


@jsii.implements(iam.IGrantable, ec2.IConnectable, cdk.ITaggable)
class DistributedTrainingJob(TrainingJobBase):
    """A training job on several machines, defined and ready to be started.

    Deploying defines the job and starts nothing. Each execution of `state_machine` is one run, which may override
    hyperparameters and the number of machines in its input:
    `{"hyperparameters": {"lr": 0.1}, "instance_count": 4}`. Stopping the execution stops the training job.

    Construct ids, which are part of the interface: `Code`, `Guardrails`, `Hyperparameters`, `Image`, `Launcher`,
    `Network`, `Output`, `Role`, `StateMachine`.

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
        launcher_options: LauncherOptions | None = None,
        network: ITrainingNetwork | None = None,
        channels: Sequence[TrainingChannel] = (),
        hyperparameters: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        image: TrainingImage | None = None,
        role: iam.IRole | None = None,
        permissions_boundary: iam.IManagedPolicy | None = None,
        output_bucket: s3.IBucket | None = None,
        output_prefix: str = "output",
        spot: ManagedSpot | None = None,
        checkpoint: CheckpointConfig | None = None,
        max_runtime: cdk.Duration | None = None,
        job_name: str | None = None,
        encrypt_inter_container_traffic: bool = False,
        network_isolation: bool = False,
        max_pending: cdk.Duration | None = None,
        retry: RetryStrategy | None = None,
        input_mode: InputMode = "File",
        encryption_key: kms.IKey | None = None,
        output_key: kms.IKey | None = None,
        execution_key: kms.IKey | None = None,
        output_compression: Literal["GZIP", "NONE"] | None = None,
        hyperparameter_file: bool = False,
        metric_definitions: Sequence[MetricDefinition] = (),
        tensor_board: TensorBoardConfig | None = None,
        debugger_hook: DebuggerHook | None = None,
        debugger_rules: Sequence[EvaluationRule] = (),
        profiler: Profiler | None = None,
        profiler_rules: Sequence[EvaluationRule] = (),
        experiment: ExperimentConfig | None = None,
        mlflow: MlflowConfig | None = None,
        model_package: ModelPackageConfig | None = None,
        remote_debug: bool | None = None,
        infra_check: bool | None = None,
        session_tag_chaining: bool | None = None,
        tags: Mapping[str, str] | None = None,
        poll_interval: cdk.Duration | None = None,
        integration: Integration = "sdk",
    ) -> None:
        """Define the job.

        Args:
            scope: The parent construct.
            id: The construct id.
            source: The training script and what belongs to it.
            instances: The machines.
            distribution: How the processes are started; `Torchrun()` unless given, which starts one process for each
                accelerator.
            launcher_options: What the launcher does besides, such as ending a job that hangs, or one without EFA; its
                own defaults unless given.
            network: Where the machines are; the network of the channels' file system unless given, else a new
                `TrainingNetwork`, which costs by the hour for its interface endpoints.
            channels: Input data; each appears as a folder under `/opt/ml/input/data`.
            hyperparameters: Arguments of the script, which gets them as `--name value`: text as it is, anything else
                as JSON, so `True` becomes `true`. At most 100, each at most 2,500 characters.
            environment: Variables of the container; text as it is, anything else as JSON. At most 99, each at most
                512 characters.
            image: The container's image; the newest of AWS's deep learning containers with PyTorch that fits the
                instance type unless given, for `SMP` the newest with its library.
            role: Role that the job runs as; a new one unless given. A policy with what the job needs is
                attached to it; where nothing can be, a warning (DT613) lists the statements.
            permissions_boundary: The most that any role made for this job may do, its own and its state machines';
                no bound unless given. `iam.PermissionsBoundary.of(...)` around the job does the same; of the stack, it
                also bounds the function that closes default security groups, which all networks of a stack share.
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
            max_pending: Time after which SageMaker gives up on a job that waits for machines of P, G or Trainium
                types, from 30 minutes to 28 days; the service's own limit unless given.
            retry: Attempts after errors of SageMaker's own; none unless given.
            input_mode: How channels of S3 without a mode of their own reach the container: `File` downloads before the
                start, `FastFile` streams on read, `Pipe` gives a pipe. The code is downloaded in any case.
            encryption_key: KMS key for everything that the job stores and that has no key of its own: the model, a new
                output bucket with the checkpoints in it, the machines' volumes where the type takes a key, and the
                state machines' log. Keys of AWS's unless given. The role gets the use of it.
            output_key: KMS key with which SageMaker encrypts the model, of which the role gets the use;
                `encryption_key`, else the bucket's own encryption unless given.
            execution_key: KMS key for what Step Functions keeps of the runs: definitions, inputs, outputs, histories,
                and their log. Step Functions' own key, and `encryption_key` for the log, unless given. Whoever is
                granted to read runs may decrypt with it; whoever deploys needs its use too.
            output_compression: `NONE` stores the model's files as they are, which is faster for large models; one
                `model.tar.gz` unless given.
            hyperparameter_file: Whether hyperparameters for which the API has no room (too long, or more than 100)
                travel in a file, which the launcher reads; they are refused unless given. An execution may override
                them like others.
            metric_definitions: Numbers in the log that become metrics in CloudWatch, at most 40.
            tensor_board: Copy TensorBoard's events to S3 while the job runs; not unless given.
            debugger_hook: Store tensors by SageMaker Debugger; not unless given.
            debugger_rules: Rules that judge these, at most 20.
            profiler: Store measurements by SageMaker's profiler; not unless given.
            profiler_rules: Rules that judge these, at most 20.
            experiment: Where the runs appear in SageMaker Experiments.
            mlflow: Where the runs appear in MLflow; the role may report to it.
            model_package: Group of the model registry in which each run's model becomes a version, for which the role
                is allowed; none unless given.
            remote_debug: Whether people may enter the containers by Systems Manager, for which the role is allowed;
                a network of your own needs `add_calls(TrainingCall.REMOTE_DEBUG)` where it is closed.
            infra_check: Whether SageMaker tests the machines before the start, which takes minutes.
            session_tag_chaining: Whether the tags of the role's session are passed on to roles that the job takes on.
            tags: Tags of each run's training job, besides the job's name in `distributed-training:job`, the stack's
                own tags and what `Tags.of(...)` puts on this construct or around it; at most 49 with these.
            poll_interval: Shortest time between two looks at a running job; 30 seconds unless given. Long jobs are
                looked at more seldom.
            integration: How the state machine talks to SageMaker. `sdk` calls the API itself and takes every member
                of the request. `optimized` is Step Functions' own `createTrainingJob.sync`, which takes fewer: an
                image with the launcher inside, no `ContainerArguments`, no file systems.

        Raises:
            ConfigurationError: Literal values cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        self._begin(
            job_name=job_name,
            tags=tags,
            permissions_boundary=permissions_boundary,
            execution_key=execution_key,
        )
        distribution, launcher_options = distribution or Torchrun(), launcher_options or LauncherOptions()
        image = image or _image_for(distribution)
        stopping = StoppingCondition(
            max_runtime=_seconds(max_runtime, limits.DEFAULT_RUNTIME_SECONDS),
            max_wait=None if spot is None else spot.max_wait.to_seconds(integral=False),
            max_pending=None if max_pending is None else max_pending.to_seconds(integral=False),
        )
        poll = _seconds(poll_interval, 30)
        hyperparameter_texts, hyperparameter_findings = texts(self, "hyperparameters", hyperparameters or {})
        words = [
            *(text(self, word) for word in distribution.launcher_arguments()),
            *(text(self, word) for word in launcher_options.launcher_arguments()),
            *encoding_words(hyperparameter_texts.values()),
            "--",
            *source.command(),
        ]
        command = container_command(
            words,
            launcher_inside=image.launcher_inside,
            in_environment=not start_call(integration).passes_arguments,
            as_json=lambda listed: text(self, listed),
        )
        environment_texts, environment_findings = texts(self, "environment", environment or {})
        file_texts: dict[str, str] = {}
        if hyperparameter_file:
            hyperparameter_texts, file_texts = split_hyperparameters(hyperparameter_texts, known=known)
        findings = [
            *job_findings.of_machines(instances, distribution),
            *launcher_options.findings(known=known),
            *job_findings.of_efa(instances, launcher_options),
            *job_findings.of_names(self._job_name, channels, has_file=bool(file_texts)),
            *job_findings.of_times(stopping.max_runtime, stopping.max_wait, poll),
            *job_findings.of_network(channels, network),
            *job_findings.of_places(channels, network, region=self._stack.region),
            *hyperparameter_findings,
            *environment_findings,
            *job_findings.of_texts(hyperparameter_texts, {**environment_texts, **command.environment}, words),
            *tag_findings(tags or {}),
        ]
        self._judge(findings)

        self._network = network or _network_of(channels) or self._create_network(remote_debug=bool(remote_debug))
        training_role = TrainingRole(self, "Role", role=role, session_tags=bool(session_tag_chaining))
        self._training_role = training_role
        output_key, instances = output_key or encryption_key, with_volume_key(instances, encryption_key)
        self._output_bucket = output_bucket or create_output_bucket(self, "Output", encryption_key=encryption_key)
        vpc = training_role.allow_network(self._network)
        grantee = training_role.grantee
        output = model_folder(
            grantee, self._output_bucket, prefix=output_prefix, key=output_key, compression=output_compression
        )
        self._allow_features(grantee, instances, output_key=output_key, mlflow=mlflow, remote_debug=remote_debug)
        if model_package is not None:
            model_permissions.allow_model_package(grantee, model_package)
        folders = OutputFolders(job_name=self._job_name, bucket=self._output_bucket, grantee=grantee)
        image_uri = image.bind(self, instances=instances, grantee=grantee)
        request = TrainingJobRequest(
            algorithm=AlgorithmSpecification(
                image_uri=None if image.is_algorithm else image_uri,
                algorithm_name=image_uri if image.is_algorithm else None,
                registry_access=image.registry_access,
                input_mode=input_mode,
                entrypoint=command.entrypoint,
                arguments=command.arguments,
                metric_definitions=tuple(metric_definitions),
            ),
            channels=[
                *([] if image.launcher_inside else [launcher_asset(self, "Launcher").bind(grantee)]),
                source.bind(self, "Code").bind(grantee),
                *([HyperparameterFile(self, "Hyperparameters", values=file_texts).bind(grantee)] if file_texts else []),
                *(channel.bind(grantee) for channel in channels),
            ],
            output=output,
            instances=instances,
            stopping=stopping,
            network_isolation=network_isolation,
            encrypt_inter_container_traffic=encrypt_inter_container_traffic,
            vpc=vpc,
            spot=None if spot is None else True,
            # spare capacity without checkpoints would start over
            checkpoint=folders.checkpoints(checkpoint or (None if spot is None else CheckpointConfig())),
            hyperparameters=hyperparameter_texts,
            environment={**environment_texts, **command.environment},
            tags=rendered_tags(self._tags, where=self._job_name, stack=self._stack),
            retry=retry,
            debugger_hook=folders.written(debugger_hook),
            debugger_rules=tuple(debugger_rules),
            tensor_board=folders.written(tensor_board),
            profiler=folders.written(profiler),
            profiler_rules=tuple(profiler_rules),
            experiment=experiment,
            mlflow=mlflow,
            model_package=model_package,
            remote_debug=remote_debug,
            infra_check=infra_check,
            session_tag_chaining=session_tag_chaining,
            # last: the parts above have said what the role may do
            role_arn=training_role.settle().role_arn,
        )
        self._render(request, told=findings, besides=job_findings.of_library(distribution, image_uri))
        self.node.add_metadata(
            METADATA_TYPE,
            {
                "schema": METADATA_SCHEMA,
                "job_name": self._job_name,
                "request": self._request,
                "source_folder": source.folder_from_here,
                "launcher_inside": image.launcher_inside,
            },
        )
        self._make_runs(
            longest_run=stopping.max_runtime if stopping.max_wait is None else stopping.max_wait,
            poll_interval=poll,
            encryption_key=encryption_key,
            integration=integration,
        )

    def _create_network(self, *, remote_debug: bool) -> TrainingNetwork:
        network = TrainingNetwork(self, "Network")
        if remote_debug:
            network.add_calls(TrainingCall.REMOTE_DEBUG)
        return network

    def _allow_features(
        self,
        grantee: iam.IGrantable,
        instances: Instances,
        *,
        output_key: kms.IKey | None,
        mlflow: MlflowConfig | None,
        remote_debug: bool | None,
    ) -> None:
        if output_key is not None:
            feature_permissions.allow_output_key(grantee, output_key)
        if instances.volume_key is not None and not isinstance(instances.volume_key, str):
            feature_permissions.allow_volume_key(grantee, instances.volume_key)
        if mlflow is not None:
            feature_permissions.allow_mlflow(grantee, mlflow)
        if remote_debug:
            feature_permissions.allow_remote_debug(grantee)


def _seconds(duration: cdk.Duration | None, default: int) -> float:
    return default if duration is None else duration.to_seconds(integral=False)


def _image_for(distribution: Distribution) -> TrainingImage:
    """AWS's image with the model parallel library where it is started, else AWS's newest with PyTorch."""
    if distribution.needs_model_parallel_image:
        return TrainingImage.from_model_parallel_container()
    return TrainingImage.from_deep_learning_container()


def _network_of(channels: Sequence[TrainingChannel]) -> ITrainingNetwork | None:
    """The network of the first channel that has one; a rule has seen to it that there is no other."""
    networks: list[ITrainingNetwork] = [channel.network for channel in channels if channel.network is not None]
    return networks[0] if networks else None
