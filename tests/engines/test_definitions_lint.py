"""cfn-lint's own schema of the Amazon States Language has nothing against the definitions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cdk_distributed_training.engines.job_states import JobStates
from cdk_distributed_training.engines.stop_states import stop_definition

REQUEST = {"ResourceConfig": {"InstanceType": "ml.c7i.xlarge", "InstanceCount": 2}}
DEFINITIONS = {
    "job": JobStates(
        partition="aws", job_name="digits", request=REQUEST, poll_interval=30, longest_run=86400
    ).definition(),
    "stop": stop_definition(partition="aws", job_name="digits"),
}


def lint(definition, folder):
    template = {
        "Resources": {
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "RoleArn": "arn:aws:iam::111111111111:role/machine",
                    "DefinitionString": json.dumps(definition),
                },
            }
        }
    }
    file = folder / "template.json"
    file.write_text(json.dumps(template), encoding="utf-8")
    executable = Path(sys.executable).parent / "cfn-lint"
    return subprocess.run([executable, file], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definition(name, tmp_path):
    done = lint(DEFINITIONS[name], tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_linter_looks(tmp_path):
    broken = {**DEFINITIONS["job"], "StartAt": "Nowhere"}
    assert "E3601" in lint(broken, tmp_path).stdout
