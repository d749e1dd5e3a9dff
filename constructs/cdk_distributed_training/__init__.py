"""AWS CDK constructs for multi-node training on Amazon SageMaker.

Public names are imported when they are first used (PEP 562), so that `import cdk_distributed_training` costs nothing
and the command line can read a synthesized assembly without starting Node.js.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cdk_distributed_training.checks.findings import ConfigurationError as ConfigurationError
    from cdk_distributed_training.checks.findings import Finding as Finding
    from cdk_distributed_training.network.interfaces import ITrainingNetwork as ITrainingNetwork
    from cdk_distributed_training.network.training_network import TrainingNetwork as TrainingNetwork
    from cdk_distributed_training.storage.data_repository import DataRepositoryEvent as DataRepositoryEvent
    from cdk_distributed_training.storage.interfaces import ILustreFileSystem as ILustreFileSystem
    from cdk_distributed_training.storage.lustre_deployment_type import LustreDeploymentType as LustreDeploymentType
    from cdk_distributed_training.storage.lustre_deployment_type import LustreStorageType as LustreStorageType
    from cdk_distributed_training.storage.lustre_file_system import LustreFileSystem as LustreFileSystem

__version__ = "0.1.0"

# public name -> module that defines it; keep it sorted, and in step with the imports above, which type checkers read
_PUBLIC = {
    "ConfigurationError": "checks.findings",
    "DataRepositoryEvent": "storage.data_repository",
    "Finding": "checks.findings",
    "ILustreFileSystem": "storage.interfaces",
    "ITrainingNetwork": "network.interfaces",
    "LustreDeploymentType": "storage.lustre_deployment_type",
    "LustreFileSystem": "storage.lustre_file_system",
    "LustreStorageType": "storage.lustre_deployment_type",
    "TrainingNetwork": "network.training_network",
}

__all__ = sorted(_PUBLIC)  # noqa: PLE0605  the map is the one list


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
