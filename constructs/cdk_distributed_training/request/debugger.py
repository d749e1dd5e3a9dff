"""SageMaker Debugger's hook, which stores tensors while the script trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from cdk_distributed_training.request.output_folder import OutputFolder
from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class DebuggerCollection(RequestPart):
    """A named set of tensors.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CollectionConfiguration.html

    Attributes:
        name: Such as `gradients` or `losses`.
        parameters: Which tensors, and how often: texts, such as `{"save_interval": "100"}`; at most 20.
    """

    name: str = field(metadata=spelled("CollectionName"))
    parameters: Mapping[str, str] = field(default_factory=dict, metadata=spelled("CollectionParameters"))


@dataclass(frozen=True, kw_only=True)
class DebuggerHook(OutputFolder):
    """What the hook stores, and where.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DebugHookConfig.html

    Attributes:
        bucket: The bucket; the job's output bucket unless given.
        prefix: The folder in the bucket; `debugger/` and the job's name unless given.
        local_path: The folder in the container; the service's default unless given.
        parameters: The hook's parameters, texts, at most 20.
        collections: Tensors to store, at most 20.
    """

    folder: ClassVar[str] = "debugger"

    local_path: str | None = field(default=None, metadata=spelled("LocalPath"))
    parameters: Mapping[str, str] = field(default_factory=dict, metadata=spelled("HookParameters"))
    collections: Sequence[DebuggerCollection] = field(default=(), metadata=spelled("CollectionConfigurations"))
