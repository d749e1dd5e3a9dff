"""Optional helpers for training scripts that use PyTorch; the launcher itself never imports this package.

    from training_launcher.torch import communication_hook, destroy_process_group, init_process_group

    device = init_process_group()
    model = DistributedDataParallel(Model().to(device))
    communication_hook(model, compression="fp16")
    ...
    destroy_process_group()

They run with the torch that the image has, 2.4 or newer. torch itself is imported at first use of one of the names, so
that the modules without torch in them (`backends`, `gloo_threads`, `hook_choice`, `hosts`) can be read and tested
without it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from training_launcher.torch.communication_hooks import communication_hook as communication_hook
    from training_launcher.torch.errors import CommunicationHookError as CommunicationHookError
    from training_launcher.torch.errors import ProcessGroupError as ProcessGroupError
    from training_launcher.torch.process_group import destroy_process_group as destroy_process_group
    from training_launcher.torch.process_group import init_process_group as init_process_group

_MODULES = {
    "CommunicationHookError": "errors",
    "ProcessGroupError": "errors",
    "communication_hook": "communication_hooks",
    "destroy_process_group": "process_group",
    "init_process_group": "process_group",
}

__all__ = [
    "CommunicationHookError",
    "ProcessGroupError",
    "communication_hook",
    "destroy_process_group",
    "init_process_group",
]


def __getattr__(name: str) -> object:
    """Import the module that holds a public name when the name is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
