"""What the existing launchers do wrong on real input, done right; docs/peer-defects.md says where each is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from launcher_job import LauncherJob

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs/peer-defects.md"
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_the_page_names_tests_for_each_defect() -> None:
    """Twenty rows, and every test that they name is there."""
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| D\d+ ", line)]
    assert [row.split(" ")[1] for row in rows] == [f"D{number}" for number in range(1, 21)]
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for file, name in named:
            text = (TESTS / file).read_text()
            assert re.search(rf"^\s*(def|class) {name}\b", text, re.MULTILINE), f"{file} has no {name}"


HOSTILE = {
    "note": "a'$(touch /opt/ml/checkpoints/pwned)'b",
    "back": "`touch /opt/ml/checkpoints/pwned`; exit 9",
    "optim.lr": "1e-4",
    "two-lines": "first\nsecond",
    "0day": "x",
}


@pytest.mark.parametrize("kind", ["processes", "mpirun"])
@pytest.mark.parametrize("host", ["algo-1", "algo-2"])
def test_no_value_and_no_name_harms_a_job(job: LauncherJob, kind: str, host: str) -> None:
    """Values are no code, names need not be a shell's, and no file of the system is written to (D2, D3, D19)."""
    job.source(train__py="import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))")
    job.write_config("hyperparameters.json", HOSTILE)
    for channel in ("my-data", "v2.1"):
        for name in job.names:
            (job.opt_ml(name) / "input/data" / channel).mkdir()
            (job.opt_ml(name) / "input/data" / channel / "file").touch()
    before = (job.hosts.root / host / "environment").read_text()
    environment = {"TWO_LINES": "first\nexport SECOND=$(touch /opt/ml/checkpoints/pwned)"}
    outcome = job.run(kind, "--", "train.py", environment=environment)[host]
    assert outcome.code == 0, outcome.text
    arguments, variables = json.loads(outcome.lines_of(r"rank \d")[0])
    assert arguments == [word for name, value in sorted(HOSTILE.items()) for word in (f"--{name}", value)]
    assert variables["SM_HP_NOTE"] == HOSTILE["note"]
    assert variables["SM_HP_OPTIM.LR"] == "1e-4"
    assert variables["SM_HP_TWO-LINES"] == variables["SM_HP_TWO_LINES"] == "first\nsecond"
    assert variables["SM_CHANNEL_MY-DATA"] == variables["SM_CHANNEL_MY_DATA"] == "/opt/ml/input/data/my-data"
    assert variables["SM_CHANNEL_V2.1"] == variables["SM_CHANNEL_V2_1"] == "/opt/ml/input/data/v2.1"
    assert not [name for name in variables if name.startswith("TRAINING_LAUNCHER_NAME")]
    assert variables["TWO_LINES"] == environment["TWO_LINES"]
    assert not (job.opt_ml(host) / "checkpoints/pwned").exists()
    assert (job.hosts.root / host / "environment").read_text() == before, "/etc/environment"


def test_the_reason_is_the_last_exception_and_not_the_first_word_of_one(make_job: Callable[..., LauncherJob]) -> None:
    """With 100,000 lines between them, which all arrive (D6, D7)."""
    job = make_job(1)
    job.source(
        train__py="""
print("retrying after ConnectionError: this is harmless")
try:
    int("x")
except ValueError:
    import traceback
    traceback.print_exc()
for number in range(100_000):
    print(f"step {number} loss 0.1")
raise RuntimeError("CUDA error: an illegal memory access")
"""
    )
    outcome = job.run("processes", "--", "train.py")["algo-1"]
    lines = outcome.lines_of("rank 0")
    assert sum(line.startswith("step ") for line in lines) == 100_000
    first_line = str(outcome.failure).split("\n", 1)[0]
    assert first_line.endswith("| exit code 1 | RuntimeError: CUDA error: an illegal memory access")
    assert "harmless" not in str(outcome.failure)


@pytest.mark.timeout(200)
def test_labels_of_twelve_hosts_with_eight_ranks(make_job: Callable[..., LauncherJob]) -> None:
    """The service sorts algo-10 before algo-2 (D9)."""
    job = make_job(12)
    job.source(
        train__py="import os; print(os.environ['RANK'], os.environ['SM_CURRENT_HOST'], os.environ['LOCAL_RANK'])"
    )
    outcomes = job.run("processes", "--nproc-per-node", "8", "--", "train.py")
    for position, host in enumerate(f"algo-{number}" for number in range(1, 13)):
        assert outcomes[host].code == 0, outcomes[host].text
        for local in range(8):
            rank = position * 8 + local
            assert outcomes[host].lines_of(f"rank {rank}") == [f"{rank} {host} {local}"]
