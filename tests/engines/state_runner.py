"""Runs a definition in Node.js with scripted answers in place of AWS; see run_states.js."""

import functools
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


@functools.cache
def runner():
    """One Node.js process for all runs, which ends with this process: starting it takes longer than most runs."""
    node = shutil.which("node") or ROOT / ".venv" / "bin" / "node"
    script = Path(__file__).parent / "run_states.js"
    return subprocess.Popen([node, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def run_states(definition, *, answers, given=None, execution=EXECUTION):
    """The run's status, output, error, cause, calls, seconds waited and number of history events."""
    task = {"definition": definition, "input": given or {}, "execution": execution, "answers": answers}
    process = runner()
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    assert line, f"Node.js has ended with {process.wait()}"
    outcome = json.loads(line)
    assert "crash" not in outcome, outcome["crash"]
    return outcome
