"""No engine imports another, nor the job that they run."""

import re
from pathlib import Path

import pytest

import cdk_distributed_training

PACKAGE = cdk_distributed_training.__name__
FOLDER = Path(cdk_distributed_training.__file__).parent / "engines"
ENGINES = {"batch", "hyperpod", "multi_node", "pipeline", "schedule", "tuning"}
STATE_MACHINE = {"job_states", "state_machine", "stop_states"}
IMPORT = re.compile(rf"^from {PACKAGE}\.([\w.]+) import", re.MULTILINE)


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_an_engine_knows_no_other(engine):
    for file in (FOLDER / engine).glob("*.py"):
        for module in IMPORT.findall(file.read_text(encoding="utf-8")):
            parts = module.split(".")
            assert parts[0] != "job", file
            if parts[0] == "engines":
                assert parts[1] not in (ENGINES - {engine}) | STATE_MACHINE, file
