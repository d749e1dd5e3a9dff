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

__version__ = "0.1.0"

# public name -> module that defines it; keep it sorted, and in step with the imports above, which type checkers read
_PUBLIC = {
    "ConfigurationError": "checks.findings",
    "Finding": "checks.findings",
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
