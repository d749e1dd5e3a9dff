"""Write docs/environment-variables.md: what the launcher really sets, kind by kind, with the words for it.

`python -m tools.environment_variables` writes the page; a test compares.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.variable_meanings import OWN, READ, SCRIPT

from training_launcher.launchers import launcher_kinds

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/environment-variables.md"
SOURCE = ROOT / "container/src"
_RESOURCES = {
    "current_host": "algo-1",
    "hosts": ["algo-1", "algo-2"],
    "network_interface_name": "eth0",
    "topology": [{"hostName": "algo-1", "capacityUnitId": "1"}],
}
_HEAD = """# Environment variables

<!-- written by `python -m tools.environment_variables`; do not edit -->
What is set in the environment of the job (`Environment` of the training job, or the image) always wins: the launcher
adds only what is missing. `PYTHONPATH` and `LD_LIBRARY_PATH` are extended, behind your own folders. The `SM_*`
variables are those of both existing toolkits, sagemaker-training (SageMaker Python SDK 2) and the drivers of SDK 3, so
that scripts written for either run unchanged. What accelerators and fabrics need is in [collectives](collectives.md).
"""


def variables_of_kinds() -> dict[str, set[str]]:
    """Launch kind to the variables that it sets on two hosts without accelerators, by its own dry run."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "input/config"
        config.mkdir(parents=True)
        (Path(folder) / "input/data/train").mkdir(parents=True)
        (config / "resourceconfig.json").write_text(json.dumps(_RESOURCES))
        (config / "hyperparameters.json").write_text(json.dumps({"lr": "0.1"}))
        return {kind: _variables(kind, folder) for kind in sorted(launcher_kinds())}


def _variables(kind: str, folder: str) -> set[str]:
    command = [sys.executable, str(SOURCE), kind, "--base-dir", folder, "--dry-run", "--", "train.py"]
    environment = {"PATH": os.environ["PATH"]}
    plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)
    names = {*plan["environment"], *(name for command in plan["commands"] for name in command["environment"])}
    return {re.sub(r"^(SM_CHANNEL|SM_HP)_.*", r"\1_<NAME>", name) for name in names}


def named_in_the_code() -> set[str]:
    """Every name of ours that stands in the launcher's code as a text of its own."""
    texts = (path.read_text() for path in SOURCE.rglob("*.py"))
    return {name for text in texts for name in re.findall(r"[\"']((?:SM|TRAINING|SAGEMAKER)_[A-Z_]*[A-Z])[\"'=]", text)}


def render() -> str:
    """The page."""
    kinds = variables_of_kinds()
    everywhere = set.intersection(*kinds.values())
    lines = [_HEAD, "## Set with every launch kind\n", *_table(sorted(everywhere))]
    lines += ["", "## Set with some launch kinds\n", "| variable | kinds | meaning |", "|---|---|---|"]
    for name in sorted(set.union(*kinds.values()) - everywhere):
        users = ", ".join(kind for kind, names in kinds.items() if name in names)
        lines.append(f"| `{name}` | {users} | {SCRIPT[name]} |")
    lines += [
        "",
        "torchrun and mpirun set `RANK`, `LOCAL_RANK`, `WORLD_SIZE` and `LOCAL_WORLD_SIZE` themselves, in each "
        "process; Open MPI's own names for them are translated.",
        "",
        "## Read by the launcher\n",
        "| variable | meaning |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in READ.items()),
        "",
        "## Between the launcher and its own programs\n",
        "| variable | meaning |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in OWN.items()),
    ]
    return "\n".join(lines) + "\n"


def _table(names: list[str]) -> list[str]:
    return ["| variable | meaning |", "|---|---|", *(f"| `{name}` | {SCRIPT[name]} |" for name in names)]


if __name__ == "__main__":
    PAGE.write_text(render())
