"""What an image must hold for a launch kind; looked for before anything starts, so that the message names the fix."""

from __future__ import annotations

import abc
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import PathFinder
from typing import Optional

from training_launcher.problems import NOT_STARTED, Problem


class Need(abc.ABC):
    """Something that must be there.

    Args:
        name: What it is called.
        fix: What to do if it is missing.
    """

    def __init__(self, name: str, fix: str) -> None:
        self.name, self.fix = name, fix

    @abc.abstractmethod
    def missing(self, environment: Mapping[str, str], directory: str) -> str:
        """Where it was looked for in vain; empty if it is there."""

    def require(self, host: str, environment: Mapping[str, str], directory: str) -> None:
        """Make sure of it.

        Args:
            host: This host's name, for the message.
            environment: The environment of the processes.
            directory: Their working directory.

        Raises:
            Problem: It is missing.
        """
        where = self.missing(environment, directory)
        if where:
            raise Problem(
                f"{self.name} is missing on {host} ({where}): {self.fix}", kind="not started", exit_code=NOT_STARTED
            )


class Program(Need):
    """A program on PATH, or in one of some further folders."""

    def __init__(self, name: str, fix: str, folders: Sequence[str] = ()) -> None:
        super().__init__(name, fix)
        self._folders = tuple(folders)

    def word(self, environment: Mapping[str, str]) -> str:
        """What to call it by: its name where PATH leads to it, else its whole path; its name if it is nowhere."""
        path = environment.get("PATH", os.defpath)
        if shutil.which(self.name, path=path):
            return self.name
        return shutil.which(self.name, path=os.pathsep.join(self._folders)) or self.name

    def found(self, environment: Mapping[str, str]) -> bool:
        """Whether it is there."""
        path = os.pathsep.join([environment.get("PATH", os.defpath), *self._folders])
        return shutil.which(self.name, path=path) is not None

    def missing(self, environment: Mapping[str, str], directory: str) -> str:
        """Searches PATH, then the further folders."""
        del directory
        if self.found(environment):
            return ""
        return " and ".join([f"PATH is {environment.get('PATH', os.defpath)}", *self._folders])


class PythonModule(Need):
    """A module that the Python of the launcher, which also runs the scripts, can import."""

    def found(self, directory: str) -> bool:
        """Whether it could be imported from there; nothing is imported."""
        path: Optional[list[str]] = [*sys.path, directory]
        for part in self.name.split("."):
            # by its last name only: a package without __init__.py would look for its parent among what is imported
            found = PathFinder.find_spec(part, path) if path is not None else None
            if not found:
                return False
            path = None if found.submodule_search_locations is None else list(found.submodule_search_locations)
        return True

    def missing(self, environment: Mapping[str, str], directory: str) -> str:
        """Searches the folders that Python imports from."""
        del environment
        return "" if self.found(directory) else f"{sys.executable} cannot import it"
