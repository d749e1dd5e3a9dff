"""Plans of the MPI family's launch kinds, as every host would make them after all have met."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from training_launcher.command_line import parse_command_line
from training_launcher.place import find_place
from training_launcher.plan import LaunchPlan
from training_launcher.prepare import prepare

GUARD = ["/bin/sh", "-c", 'exec "$0" -S -E "$TRAINING_LAUNCHER_RUN/rank.py" "$@"', "PYTHON"]


def plan_of(
    base: Path,
    *words: str,
    host: str = "algo-1",
    hosts: int = 2,
    environment: Mapping[str, str] | None = None,
    processes: Sequence[int] = (2, 2),
    hyperparameters: Mapping[str, str] | None = None,
) -> LaunchPlan:
    """The plan of one host."""
    environment = {"TRAINING_JOB_NAME": "job-1", "PATH": "/usr/bin:/bin", **(environment or {})}
    config = base / "input/config"
    config.mkdir(parents=True, exist_ok=True)
    content = {
        "current_host": host,
        "hosts": sorted(f"algo-{number + 1}" for number in range(hosts)),
        "network_interface_name": "eth0",
        "current_instance_type": "ml.p4d.24xlarge",
    }
    (config / "resourceconfig.json").write_text(json.dumps(content))
    (config / "hyperparameters.json").write_text(json.dumps(hyperparameters or {}))
    request = parse_command_line(words, environment)
    preparation = prepare(request, find_place(str(base), [], environment), environment)
    return preparation.plan(processes)


def argv_of(plan: LaunchPlan) -> list[str]:
    """The only command, with the names of this test run taken out."""
    (command,) = plan.commands
    return [_plain(word, plan) for word in command.argv]


def _plain(word: str, plan: LaunchPlan) -> str:
    run = plan.environment.get("TRAINING_LAUNCHER_RUN", "no such folder")
    return "PYTHON" if word == sys.executable else word.replace(sys.executable, "PYTHON").replace(run, "RUN")


def program(folder: Path, name: str, text: str = '#!/bin/sh\nexec "$@"\n') -> None:
    """Put a program into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
