"""A request in which every member is set, as values; members that exclude each other stand side by side."""

import aws_cdk as cdk

from cdk_distributed_training.request.algorithm_specification import AlgorithmSpecification
from cdk_distributed_training.request.channels import ChannelEntry
from cdk_distributed_training.request.checkpoint_config import CheckpointConfig
from cdk_distributed_training.request.debugger import DebuggerCollection, DebuggerHook
from cdk_distributed_training.request.evaluation_rule import EvaluationRule
from cdk_distributed_training.request.experiment_config import ExperimentConfig
from cdk_distributed_training.request.file_system_data_source import FileSystemDataSource
from cdk_distributed_training.request.instance_group import InstanceGroup
from cdk_distributed_training.request.instance_placement import InstancePlacement, PlacementSpecification
from cdk_distributed_training.request.instance_preference import InstancePreference
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.request.metric_definition import MetricDefinition
from cdk_distributed_training.request.mlflow_config import MlflowConfig
from cdk_distributed_training.request.model_package_config import ModelPackageConfig
from cdk_distributed_training.request.output_data_config import OutputDataConfig
from cdk_distributed_training.request.profiler import Profiler
from cdk_distributed_training.request.registry_access import RegistryAccess
from cdk_distributed_training.request.retry_strategy import RetryStrategy
from cdk_distributed_training.request.s3_data_source import S3DataSource
from cdk_distributed_training.request.serverless_job import ServerlessJobConfig
from cdk_distributed_training.request.stopping_condition import StoppingCondition
from cdk_distributed_training.request.stored import Stored
from cdk_distributed_training.request.tensor_board_config import TensorBoardConfig
from cdk_distributed_training.request.vpc_config import VpcConfig

ARN = "arn:aws:sagemaker:us-east-1:111122223333"
PLAN = f"{ARN}:training-plan/pretraining"
KEY = "arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555"
RULE = {
    "image_uri": "503895931360.dkr.ecr.us-east-1.amazonaws.com/sagemaker-debugger-rules:latest",
    "parameters": {"rule_to_invoke": "VanishingGradient"},
    "instance_type": "m5.xlarge",
    "volume_size": cdk.Size.gibibytes(10),
    "local_path": "/opt/ml/processing/output",
    "output_uri": "s3://bucket/rules",
}

MEMBERS = {
    "algorithm": AlgorithmSpecification(
        image_uri="111122223333.dkr.ecr.us-east-1.amazonaws.com/train:1",
        algorithm_name="mine",
        input_mode="FastFile",
        entrypoint=["python3"],
        arguments=["train.py", "--quiet"],
        registry_access=RegistryAccess(credentials_provider_arn="arn:aws:lambda:us-east-1:111122223333:function:login"),
        metric_definitions=[MetricDefinition(name="loss", regex="loss=([0-9.]+)")],
    ),
    "channels": [
        ChannelEntry(
            channel_name="train",
            s3=S3DataSource(
                uri="s3://bucket/corpus/",
                data_type="AugmentedManifestFile",
                distribution="ShardedByS3Key",
                attribute_names=["source-ref", "label"],
                instance_groups=["train"],
                accept_eula=True,
                hub_content_arn="arn:aws:sagemaker:us-east-1:aws:hub-content/hub/Model/m/1.0.0",
            ),
            content_type="text/plain",
            compression="Gzip",
            record_wrapper="RecordIO",
            input_mode="Pipe",
            shuffle_seed=7,
        ).render(),
        ChannelEntry(
            channel_name="corpus",
            file_system=FileSystemDataSource(
                file_system_id="fs-0123456789abcdef0", file_system_type="EFS", directory_path="/", access_mode="rw"
            ),
        ).render(),
        ChannelEntry(
            channel_name="hub", dataset_arn="arn:aws:sagemaker:us-east-1:aws:hub-content/hub/DataSet/d/1.0.0"
        ).render(),
    ],
    "output": OutputDataConfig(output_path="s3://bucket/output", key_id=KEY, compression="NONE"),
    "stopping": StoppingCondition(max_runtime=3600, max_wait=7200, max_pending=1800),
    "network_isolation": True,
    "encrypt_inter_container_traffic": True,
    "vpc": VpcConfig(subnet_ids=["subnet-1"], security_group_ids=["sg-1"]),
    "spot": True,
    "checkpoint": Stored(CheckpointConfig(), "s3://bucket/checkpoints", "S3Uri"),
    "hyperparameters": {"lr": "0.1"},
    "environment": {"NAME": "value"},
    "tags": [{"Key": "team", "Value": "speech"}],
    "retry": RetryStrategy(maximum_retry_attempts=30),
    "debugger_hook": Stored(
        DebuggerHook(
            local_path="/opt/ml/output/tensors",
            parameters={"save_interval": "100"},
            collections=[DebuggerCollection(name="losses", parameters={"save_interval": "10"})],
        ),
        "s3://bucket/debugger",
    ),
    "debugger_rules": [EvaluationRule(name="VanishingGradient", **RULE)],
    "tensor_board": Stored(TensorBoardConfig(), "s3://bucket/tensorboard"),
    "profiler": Stored(
        Profiler(interval=cdk.Duration.millis(500), parameters={"DataloaderProfilingConfig": "{}"}),
        "s3://bucket/profiler",
    ),
    "profiler_rules": [EvaluationRule(name="ProfilerReport", **RULE)],
    "experiment": ExperimentConfig(
        experiment_name="experiment", trial_name="trial", trial_component_display_name="display", run_name="run"
    ),
    "mlflow": MlflowConfig(
        resource_arn=f"{ARN}:mlflow-tracking-server/mine", experiment_name="experiment", run_name="run"
    ),
    "remote_debug": True,
    "infra_check": True,
    "session_tag_chaining": True,
    "serverless": ServerlessJobConfig(
        base_model_arn="arn:aws:sagemaker:us-east-1:aws:hub-content/hub/Model/m/1.0.0",
        job_type="FineTuning",
        accept_eula=True,
        customization_technique="SFT",
        peft="LORA",
        evaluation_type="BenchmarkEvaluation",
        evaluator_arn="arn:aws:lambda:us-east-1:111122223333:function:judge",
        sequence_length="8K",
    ),
    "model_package": ModelPackageConfig(
        group_arn=f"{ARN}:model-package-group/mine", source_arn=f"{ARN}:model-package/mine/1"
    ),
}
MACHINES = [
    Instances(
        "p3.16xlarge",
        count=2,
        volume_size=cdk.Size.gibibytes(100),
        volume_key=KEY,
        keep_alive=cdk.Duration.hours(1),
        training_plan=PLAN,
        placement=InstancePlacement(
            enable_multiple_jobs=True,
            specifications=[PlacementSpecification(count=2, ultra_server_id="us-1")],
        ),
    ),
    Instances.from_groups(
        [
            InstanceGroup(name="data", instance_type="ml.c7i.xlarge"),
            InstanceGroup(name="train", instance_type="p4d.24xlarge"),
        ]
    ),
    Instances.from_preferences(
        [
            InstancePreference(instance_type="p5.48xlarge", count=2, training_plan=PLAN),
            InstancePreference(instance_type="p4d.24xlarge", count=4),
        ]
    ),
]
