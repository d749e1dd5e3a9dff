"""AWS CDK constructs for multi-node training on Amazon SageMaker.

Public names are imported when they are first used (PEP 562), so that `import cdk_distributed_training` costs nothing
and the command line can read a synthesized assembly without starting Node.js.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cdk_distributed_training.version import __version__ as __version__

if TYPE_CHECKING:
    from cdk_distributed_training.checks.findings import ConfigurationError as ConfigurationError
    from cdk_distributed_training.checks.findings import Finding as Finding
    from cdk_distributed_training.checks.plugin import DistributedTrainingChecks as DistributedTrainingChecks
    from cdk_distributed_training.distribution.command import Command as Command
    from cdk_distributed_training.distribution.distribution import Distribution as Distribution
    from cdk_distributed_training.distribution.from_sagemaker import (
        distribution_from_sagemaker as distribution_from_sagemaker,
    )
    from cdk_distributed_training.distribution.launcher_options import LauncherOptions as LauncherOptions
    from cdk_distributed_training.distribution.mpi import MPI as MPI
    from cdk_distributed_training.distribution.multi_worker_mirrored import MultiWorkerMirrored as MultiWorkerMirrored
    from cdk_distributed_training.distribution.on_instance_groups import OnInstanceGroups as OnInstanceGroups
    from cdk_distributed_training.distribution.parameter_server import ParameterServer as ParameterServer
    from cdk_distributed_training.distribution.processes import Processes as Processes
    from cdk_distributed_training.distribution.pytorch_ddp import PyTorchDDP as PyTorchDDP
    from cdk_distributed_training.distribution.smdistributed_data_parallel import (
        SMDistributedDataParallel as SMDistributedDataParallel,
    )
    from cdk_distributed_training.distribution.smdistributed_model_parallel import (
        SMDistributedModelParallel as SMDistributedModelParallel,
    )
    from cdk_distributed_training.distribution.smp import SMP as SMP
    from cdk_distributed_training.distribution.torchrun import Torchrun as Torchrun
    from cdk_distributed_training.distribution.xla import Xla as Xla
    from cdk_distributed_training.engines.batch.attempt_rule import AttemptRule as AttemptRule
    from cdk_distributed_training.engines.batch.queued_training_job import QueuedTrainingJob as QueuedTrainingJob
    from cdk_distributed_training.engines.batch.shares import FairShare as FairShare
    from cdk_distributed_training.engines.batch.shares import QuotaShare as QuotaShare
    from cdk_distributed_training.engines.batch.training_queue import TrainingQueue as TrainingQueue
    from cdk_distributed_training.engines.hyperpod.hyperpod_cluster import HyperPodCluster as HyperPodCluster
    from cdk_distributed_training.engines.hyperpod.hyperpod_job import HyperPodJob as HyperPodJob
    from cdk_distributed_training.engines.hyperpod.instance_group import HyperPodInstanceGroup as HyperPodInstanceGroup
    from cdk_distributed_training.engines.hyperpod.lifecycle import HyperPodLifecycle as HyperPodLifecycle
    from cdk_distributed_training.engines.hyperpod.orchestrator import HyperPodOrchestrator as HyperPodOrchestrator
    from cdk_distributed_training.engines.multi_node.multi_node_parallel_job import (
        MultiNodeParallelJob as MultiNodeParallelJob,
    )
    from cdk_distributed_training.engines.pipeline.step_retry import StepRetry as StepRetry
    from cdk_distributed_training.engines.pipeline.training_pipeline import TrainingPipeline as TrainingPipeline
    from cdk_distributed_training.engines.schedule.training_on_new_data import TrainingOnNewData as TrainingOnNewData
    from cdk_distributed_training.engines.schedule.training_schedule import TrainingSchedule as TrainingSchedule
    from cdk_distributed_training.engines.tuning.ranges import CategoricalRange as CategoricalRange
    from cdk_distributed_training.engines.tuning.ranges import ContinuousRange as ContinuousRange
    from cdk_distributed_training.engines.tuning.ranges import IntegerRange as IntegerRange
    from cdk_distributed_training.engines.tuning.tuned_training_job import TunedTrainingJob as TunedTrainingJob
    from cdk_distributed_training.engines.tuning.tuning_objective import TuningObjective as TuningObjective
    from cdk_distributed_training.job.distributed_training_job import DistributedTrainingJob as DistributedTrainingJob
    from cdk_distributed_training.job.s3_channel import Channel as Channel
    from cdk_distributed_training.job.serverless_training_job import ServerlessTrainingJob as ServerlessTrainingJob
    from cdk_distributed_training.job.source_code import SourceCode as SourceCode
    from cdk_distributed_training.job.training_guardrails import TrainingGuardrails as TrainingGuardrails
    from cdk_distributed_training.job.training_image import TrainingImage as TrainingImage
    from cdk_distributed_training.network.interfaces import ITrainingNetwork as ITrainingNetwork
    from cdk_distributed_training.network.internet_access import InternetAccess as InternetAccess
    from cdk_distributed_training.network.training_call import TrainingCall as TrainingCall
    from cdk_distributed_training.network.training_network import TrainingNetwork as TrainingNetwork
    from cdk_distributed_training.request.channel_options import ChannelOptions as ChannelOptions
    from cdk_distributed_training.request.channels import TrainingChannel as TrainingChannel
    from cdk_distributed_training.request.checkpoint_config import CheckpointConfig as CheckpointConfig
    from cdk_distributed_training.request.debugger import DebuggerCollection as DebuggerCollection
    from cdk_distributed_training.request.debugger import DebuggerHook as DebuggerHook
    from cdk_distributed_training.request.evaluation_rule import EvaluationRule as EvaluationRule
    from cdk_distributed_training.request.experiment_config import ExperimentConfig as ExperimentConfig
    from cdk_distributed_training.request.instance_group import InstanceGroup as InstanceGroup
    from cdk_distributed_training.request.instance_placement import InstancePlacement as InstancePlacement
    from cdk_distributed_training.request.instance_placement import PlacementSpecification as PlacementSpecification
    from cdk_distributed_training.request.instance_preference import InstancePreference as InstancePreference
    from cdk_distributed_training.request.instances import Instances as Instances
    from cdk_distributed_training.request.managed_spot import ManagedSpot as ManagedSpot
    from cdk_distributed_training.request.metric_definition import MetricDefinition as MetricDefinition
    from cdk_distributed_training.request.mlflow_config import MlflowConfig as MlflowConfig
    from cdk_distributed_training.request.model_package_config import ModelPackageConfig as ModelPackageConfig
    from cdk_distributed_training.request.override import ExecutionInputError as ExecutionInputError
    from cdk_distributed_training.request.profiler import Profiler as Profiler
    from cdk_distributed_training.request.retry_strategy import RetryStrategy as RetryStrategy
    from cdk_distributed_training.request.serverless_job import ServerlessJobConfig as ServerlessJobConfig
    from cdk_distributed_training.request.tensor_board_config import TensorBoardConfig as TensorBoardConfig
    from cdk_distributed_training.storage.data_repository import DataRepository as DataRepository
    from cdk_distributed_training.storage.data_repository import DataRepositoryEvent as DataRepositoryEvent
    from cdk_distributed_training.storage.efs_file_system import EfsFileSystem as EfsFileSystem
    from cdk_distributed_training.storage.efs_interfaces import IEfsFileSystem as IEfsFileSystem
    from cdk_distributed_training.storage.interfaces import ILustreFileSystem as ILustreFileSystem
    from cdk_distributed_training.storage.lustre_deployment_type import LustreDeploymentType as LustreDeploymentType
    from cdk_distributed_training.storage.lustre_deployment_type import LustreLogLevel as LustreLogLevel
    from cdk_distributed_training.storage.lustre_deployment_type import LustreStorageType as LustreStorageType
    from cdk_distributed_training.storage.lustre_file_system import LustreFileSystem as LustreFileSystem
    from cdk_distributed_training.storage.lustre_metadata import LustreMetadata as LustreMetadata
    from cdk_distributed_training.storage.lustre_read_cache import LustreReadCache as LustreReadCache

# public name -> module that defines it; keep it sorted, and in step with the imports above, which type checkers read
_PUBLIC = {
    "AttemptRule": "engines.batch.attempt_rule",
    "CategoricalRange": "engines.tuning.ranges",
    "Channel": "job.s3_channel",
    "ChannelOptions": "request.channel_options",
    "CheckpointConfig": "request.checkpoint_config",
    "Command": "distribution.command",
    "ConfigurationError": "checks.findings",
    "ContinuousRange": "engines.tuning.ranges",
    "DataRepository": "storage.data_repository",
    "DataRepositoryEvent": "storage.data_repository",
    "DebuggerCollection": "request.debugger",
    "DebuggerHook": "request.debugger",
    "DistributedTrainingChecks": "checks.plugin",
    "DistributedTrainingJob": "job.distributed_training_job",
    "Distribution": "distribution.distribution",
    "EfsFileSystem": "storage.efs_file_system",
    "EvaluationRule": "request.evaluation_rule",
    "ExecutionInputError": "request.override",
    "ExperimentConfig": "request.experiment_config",
    "FairShare": "engines.batch.shares",
    "Finding": "checks.findings",
    "HyperPodCluster": "engines.hyperpod.hyperpod_cluster",
    "HyperPodInstanceGroup": "engines.hyperpod.instance_group",
    "HyperPodJob": "engines.hyperpod.hyperpod_job",
    "HyperPodLifecycle": "engines.hyperpod.lifecycle",
    "HyperPodOrchestrator": "engines.hyperpod.orchestrator",
    "IEfsFileSystem": "storage.efs_interfaces",
    "ILustreFileSystem": "storage.interfaces",
    "ITrainingNetwork": "network.interfaces",
    "InstanceGroup": "request.instance_group",
    "InstancePlacement": "request.instance_placement",
    "InstancePreference": "request.instance_preference",
    "Instances": "request.instances",
    "IntegerRange": "engines.tuning.ranges",
    "InternetAccess": "network.internet_access",
    "LauncherOptions": "distribution.launcher_options",
    "LustreDeploymentType": "storage.lustre_deployment_type",
    "LustreFileSystem": "storage.lustre_file_system",
    "LustreLogLevel": "storage.lustre_deployment_type",
    "LustreMetadata": "storage.lustre_metadata",
    "LustreReadCache": "storage.lustre_read_cache",
    "LustreStorageType": "storage.lustre_deployment_type",
    "MPI": "distribution.mpi",
    "ManagedSpot": "request.managed_spot",
    "MetricDefinition": "request.metric_definition",
    "MlflowConfig": "request.mlflow_config",
    "ModelPackageConfig": "request.model_package_config",
    "MultiNodeParallelJob": "engines.multi_node.multi_node_parallel_job",
    "MultiWorkerMirrored": "distribution.multi_worker_mirrored",
    "OnInstanceGroups": "distribution.on_instance_groups",
    "ParameterServer": "distribution.parameter_server",
    "PlacementSpecification": "request.instance_placement",
    "Processes": "distribution.processes",
    "Profiler": "request.profiler",
    "PyTorchDDP": "distribution.pytorch_ddp",
    "QueuedTrainingJob": "engines.batch.queued_training_job",
    "QuotaShare": "engines.batch.shares",
    "RetryStrategy": "request.retry_strategy",
    "SMDistributedDataParallel": "distribution.smdistributed_data_parallel",
    "SMDistributedModelParallel": "distribution.smdistributed_model_parallel",
    "SMP": "distribution.smp",
    "ServerlessJobConfig": "request.serverless_job",
    "ServerlessTrainingJob": "job.serverless_training_job",
    "SourceCode": "job.source_code",
    "StepRetry": "engines.pipeline.step_retry",
    "TensorBoardConfig": "request.tensor_board_config",
    "Torchrun": "distribution.torchrun",
    "TrainingCall": "network.training_call",
    "TrainingChannel": "request.channels",
    "TrainingGuardrails": "job.training_guardrails",
    "TrainingImage": "job.training_image",
    "TrainingNetwork": "network.training_network",
    "TrainingOnNewData": "engines.schedule.training_on_new_data",
    "TrainingPipeline": "engines.pipeline.training_pipeline",
    "TrainingQueue": "engines.batch.training_queue",
    "TrainingSchedule": "engines.schedule.training_schedule",
    "TunedTrainingJob": "engines.tuning.tuned_training_job",
    "TuningObjective": "engines.tuning.tuning_objective",
    "Xla": "distribution.xla",
    "distribution_from_sagemaker": "distribution.from_sagemaker",
}

__all__ = sorted(_PUBLIC)  # noqa: PLE0605  the map is the one list


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    value = importlib.import_module(f"{__name__}.checks.keywords").check_keywords(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
