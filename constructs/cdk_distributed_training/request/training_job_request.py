"""A training job is one `CreateTrainingJob` request; this is the one place that puts it together.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cdk_distributed_training.request.request_part import RequestPart, spelled

if TYPE_CHECKING:
    from cdk_distributed_training.request.algorithm_specification import AlgorithmSpecification
    from cdk_distributed_training.request.evaluation_rule import EvaluationRule
    from cdk_distributed_training.request.experiment_config import ExperimentConfig
    from cdk_distributed_training.request.instances import Instances
    from cdk_distributed_training.request.mlflow_config import MlflowConfig
    from cdk_distributed_training.request.model_package_config import ModelPackageConfig
    from cdk_distributed_training.request.output_data_config import OutputDataConfig
    from cdk_distributed_training.request.retry_strategy import RetryStrategy
    from cdk_distributed_training.request.serverless_job import ServerlessJobConfig
    from cdk_distributed_training.request.stopping_condition import StoppingCondition
    from cdk_distributed_training.request.stored import Stored
    from cdk_distributed_training.request.vpc_config import VpcConfig


@dataclass(frozen=True, kw_only=True)
class TrainingJobRequest(RequestPart):
    """All that a job asks of SageMaker, without a name; any text or number may be a CDK token.

    Attributes:
        role_arn: Role that the job runs as.
        algorithm: The container; `None` for a serverless job.
        channels: `InputDataConfig` entries.
        output: Where the model goes.
        instances: The machines; `None` for a serverless job.
        stopping: Time limits.
        network_isolation: Whether the containers can call nobody but each other.
        encrypt_inter_container_traffic: Whether SageMaker encrypts what the machines say to each other.
        vpc: Where the machines are; SageMaker's own network unless given.
        spot: Whether the job trains on spare capacity.
        checkpoint: Checkpoints, with their address.
        hyperparameters: Names and texts.
        environment: Variables of the container.
        tags: `Key` and `Value` of each, or a token for all of them.
        retry: Attempts after errors of SageMaker's own.
        debugger_hook: Tensors to store, with their address.
        debugger_rules: Rules that judge these, at most 20.
        tensor_board: TensorBoard's events, with their address.
        profiler: Measurements to store, with their address.
        profiler_rules: Rules that judge these, at most 20.
        experiment: Where runs appear in SageMaker Experiments.
        mlflow: Where runs appear in MLflow.
        remote_debug: Whether the containers can be entered while they run.
        infra_check: Whether SageMaker tests the machines before the start.
        session_tag_chaining: Whether the tags of the role's session are passed on to other roles.
        serverless: A serverless job.
        model_package: Where the customized model is registered.
    """

    role_arn: str = field(metadata=spelled("RoleArn"))
    algorithm: AlgorithmSpecification | None = field(default=None, metadata=spelled("AlgorithmSpecification"))
    channels: Sequence[Mapping[str, Any]] = field(default=(), metadata=spelled("InputDataConfig"))
    output: OutputDataConfig = field(metadata=spelled("OutputDataConfig"))
    instances: Instances | None = field(default=None, metadata=spelled("ResourceConfig"))
    stopping: StoppingCondition | None = field(default=None, metadata=spelled("StoppingCondition"))
    network_isolation: bool | None = field(default=False, metadata=spelled("EnableNetworkIsolation"))
    encrypt_inter_container_traffic: bool | None = field(
        default=False, metadata=spelled("EnableInterContainerTrafficEncryption")
    )
    vpc: VpcConfig | None = field(default=None, metadata=spelled("VpcConfig"))
    spot: bool | None = field(default=None, metadata=spelled("EnableManagedSpotTraining"))
    checkpoint: Stored | None = field(default=None, metadata=spelled("CheckpointConfig"))
    hyperparameters: Mapping[str, str] = field(default_factory=dict, metadata=spelled("HyperParameters"))
    environment: Mapping[str, str] = field(default_factory=dict, metadata=spelled("Environment"))
    tags: Sequence[Any] = field(default=(), metadata=spelled("Tags"))
    retry: RetryStrategy | None = field(default=None, metadata=spelled("RetryStrategy"))
    debugger_hook: Stored | None = field(default=None, metadata=spelled("DebugHookConfig"))
    debugger_rules: Sequence[EvaluationRule] = field(default=(), metadata=spelled("DebugRuleConfigurations"))
    tensor_board: Stored | None = field(default=None, metadata=spelled("TensorBoardOutputConfig"))
    profiler: Stored | None = field(default=None, metadata=spelled("ProfilerConfig"))
    profiler_rules: Sequence[EvaluationRule] = field(default=(), metadata=spelled("ProfilerRuleConfigurations"))
    experiment: ExperimentConfig | None = field(default=None, metadata=spelled("ExperimentConfig"))
    mlflow: MlflowConfig | None = field(default=None, metadata=spelled("MlflowConfig"))
    remote_debug: bool | None = field(default=None, metadata=spelled("RemoteDebugConfig", inside="EnableRemoteDebug"))
    infra_check: bool | None = field(default=None, metadata=spelled("InfraCheckConfig", inside="EnableInfraCheck"))
    session_tag_chaining: bool | None = field(
        default=None, metadata=spelled("SessionChainingConfig", inside="EnableSessionTagChaining")
    )
    serverless: ServerlessJobConfig | None = field(default=None, metadata=spelled("ServerlessJobConfig"))
    model_package: ModelPackageConfig | None = field(default=None, metadata=spelled("ModelPackageConfig"))
