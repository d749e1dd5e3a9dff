"""What the checks cost: the plug-in in an app's synthesis, and `dtrain check` on a large template."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.row import Row, paired
from cdk_distributed_training.checks import examples

HERE = Path(__file__).parent
_DTRAIN = [sys.executable, "-c", "from cdk_distributed_training.cli import main; main()", "check", "--fail-on", "never"]
_LINT = [str(Path(sys.executable).with_name("cfn-lint")), "--non-zero-exit-code", "none"]
_MEGABYTE = 1_000_000


def rows() -> list[Row]:
    """The plug-in's rows, and the command's."""
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "large.template.json"
        template.write_text(json.dumps(_large_template(), indent=1))
        return [
            *(_plugin(jobs, rounds) for jobs, rounds in ((1, 7), (100, 3))),
            paired(
                f"dtrain check, {template.stat().st_size / _MEGABYTE:.2f} MB template",
                _cpu([*_DTRAIN, str(template)]),
                lambda: 1.0,
                against="one second",
                unit="CPU s",
                bar=1.0,
            ),
            paired(
                f"dtrain check, {template.stat().st_size / _MEGABYTE:.2f} MB template",
                _cpu([*_DTRAIN, str(template)]),
                _cpu([*_LINT, str(template)]),
                against="cfn-lint",
                unit="CPU s",
                bar=0.1,
                rounds=3,
            ),
        ]


def _plugin(jobs: int, rounds: int) -> Row:
    app = [sys.executable, "-m", "benchmarks.checked_app", str(jobs)]
    return paired(
        f"synthesis of {jobs} job{'s' if jobs > 1 else ''} with the validation plug-in",
        _cpu([*app, "checked"]),
        _cpu(app),
        against="without it",
        unit="CPU s",
        bar=1.10,
        rounds=rounds,
    )


def _run(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    subprocess.run(command, cwd=HERE.parent, env=environment, check=True, capture_output=True)


def _cpu(command: list[str]) -> Callable[[], float]:
    """CPU seconds of a command and all that it starts."""

    def measure() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return measure


def _large_template() -> dict[str, object]:
    """A template of one megabyte, full of what the rules look at: no real one comes near."""
    resources: dict[str, object] = {}
    while len(json.dumps(resources, indent=1)) < _MEGABYTE:
        n = len(resources)
        group = f"Nodes{n}"
        resources |= examples.open_to_itself(group)
        resources[f"FileSystem{n}"] = examples.file_system(
            SecurityGroupIds=[{"Fn::GetAtt": [group, "GroupId"]}],
        )
        resources[f"Job{n}"] = examples.job(
            ResourceConfig=examples.machines("ml.p5.48xlarge", 4), VpcConfig=examples.in_vpc([group])
        )
    return {"Resources": resources}
