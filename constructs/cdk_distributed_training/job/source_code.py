"""The user's training script and what belongs to it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import source_code as rules
from cdk_distributed_training.job.code_asset import CodeAsset

# what a project's folder holds besides its code: environments, caches, build outputs, version control
DEFAULT_EXCLUDES = (
    ".git",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "cdk.out",
    "local-runs",
    "node_modules",
    "__pycache__",
    "*.pyc",
    "*.egg-info",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".ipynb_checkpoints",
    ".DS_Store",
)


@dataclass(frozen=True, kw_only=True)
class SourceCode:
    """A folder that is unpacked on every host, and the script in it that trains.

    Make one with `from_directory`.

    Attributes:
        directory: The folder.
        entry_script: The script, relative to the folder.
        arguments: Arguments of the script before the hyperparameters.
        exclude: Patterns of what stays out, as in `.gitignore`.
    """

    directory: Path
    entry_script: str
    arguments: Sequence[str] = ()
    exclude: Sequence[str] = field(default=DEFAULT_EXCLUDES)

    @classmethod
    def from_directory(
        cls, path: str | Path, *, entry_script: str, arguments: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> SourceCode:
        """Code from a folder on this machine.

        A `requirements.txt` at the folder's top is installed before the start.

        Args:
            path: The folder, relative to the working directory or absolute.
            entry_script: The script that trains, relative to the folder.
            arguments: Arguments of the script; the hyperparameters follow them as `--name value`.
            exclude: Further patterns of what stays out, as in `.gitignore`; version control, virtual environments,
                caches, `node_modules` and `cdk.out` stay out in any case.

        Raises:
            ConfigurationError: The folder or the script is not there.
        """
        directory = Path(path).resolve()
        raise_errors(_findings(path, directory, entry_script))
        return cls(
            directory=directory,
            entry_script=entry_script,
            arguments=tuple(arguments),
            exclude=(*DEFAULT_EXCLUDES, *exclude),
        )

    def command(self) -> list[str]:
        """The script and its arguments, as they follow `--` on the launcher's command line."""
        return [self.entry_script, *self.arguments]

    @property
    def folder_from_here(self) -> str:
        """The folder relative to the working directory, which is where CDK runs the app."""
        return os.path.relpath(self.directory)

    def bind(self, scope: Construct, id: str) -> CodeAsset:
        """Make the folder an asset."""
        return CodeAsset(scope, id, directory=self.directory, exclude=self.exclude, channel_name="code")


def _findings(given: str | Path, directory: Path, entry_script: str) -> Iterator[Finding]:
    is_folder = directory.is_dir()
    yield from rules.source_folder(str(given), is_folder=is_folder, is_file=directory.is_file(), whole=str(directory))
    if not is_folder:
        return
    script = (directory / entry_script).resolve()
    is_inside = script.is_relative_to(directory)
    yield from rules.inside_folder(entry_script, is_inside=is_inside)
    if is_inside:
        scripts = sorted(child.name for child in directory.iterdir() if child.suffix in (".py", ".sh"))
        yield from rules.entry_script(entry_script, exists=script.is_file(), folder=str(directory), scripts=scripts)
