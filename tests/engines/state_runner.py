"""Runs a definition in Node.js with scripted answers in place of AWS; see run_states.js."""

import json
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXECUTION = {
    "Id": "arn:aws:states:us-east-1:111111111111:execution:Job:My_run.1",
    "Name": "My_run.1",
    "StartTime": "2026-01-01T00:00:00Z",
}


def run_states(definition, *, answers, given=None):
    """The run's status, output, error, cause, calls, seconds waited and number of history events."""
    task = {"definition": definition, "input": given or {}, "execution": EXECUTION, "answers": answers}
    node = shutil.which("node") or ROOT / ".venv" / "bin" / "node"
    script = Path(__file__).parent / "run_states.js"
    done = subprocess.run(
        [node, script], input=json.dumps(task), capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
