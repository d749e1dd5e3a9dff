"""Bring what the hosts made to one place, as SageMaker's upload does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

MODEL = "model"
CHECKPOINTS = "checkpoints"
OUTPUT_DATA = "output/data"
FAILURE = "output/failure"


def merge(sources: Iterable[Path], target: Path, *, move: bool = False) -> list[Path]:
    """Merge the files of folders; of two files with one name the later modified one stays.

    Returns:
        The merged files, relative to the target, sorted.
    """
    transfer: Callable[[Path, Path], object] = shutil.move if move else shutil.copy2
    for source in sources:
        for path in sorted(source.rglob("*")) if source.is_dir() else ():
            copy = target / path.relative_to(source)
            if path.is_dir() and not path.is_symlink():
                continue
            if not copy.exists() or copy.lstat().st_mtime_ns < path.lstat().st_mtime_ns:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                transfer(path, copy)
    return sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())


def failure_text(opt_ml: Path) -> str:
    """What the container wrote to its failure file; empty if nothing. SageMaker reads 1,024 characters of it."""
    file = opt_ml / FAILURE
    return file.read_text(encoding="utf-8", errors="replace")[:1024].strip() if file.is_file() else ""


def failure_reason(text: str, exit_code: int) -> str:
    """`FailureReason` in SageMaker's form, at most 1,024 characters."""
    end = f", exit code: {exit_code}"
    return f"AlgorithmError: {text}"[: 1024 - len(end)] + end
