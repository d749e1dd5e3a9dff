"""Jobs that stand still, on real hosts."""

import re
import signal

import pytest
from launcher_job import LauncherJob

TWO = ("processes", "--nproc-per-node", "2", "--hang-timeout", "2")

SILENT = """
import os, signal, sys, threading, time
rank, how = int(os.environ["RANK"]), sys.argv[1]
def waits_for_the_others():
    time.sleep(100)
def loads_data():
    if how == "stopped": os.kill(os.getpid(), signal.SIGSTOP)
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
    time.sleep(100)
print("step 1", flush=True)
loads_data() if rank == 2 else waits_for_the_others()
"""


@pytest.mark.parametrize("kind", ["processes", "mpirun"])
@pytest.mark.parametrize(
    ("how", "summary"),
    [
        (
            "stopped",
            r"its process is stopped \(SIGSTOP or a debugger\) at \S*train.py:7 in loads_data; .*",
        ),
        ("elsewhere", r"at \S*train.py:9 in loads_data; the others stand elsewhere"),
    ],
)
def test_names_the_rank_that_keeps_the_others_waiting(job: LauncherJob, kind: str, how: str, summary: str) -> None:
    """With the place of every rank, on every host, and the whole stacks in the log."""
    job.source(train__py=SILENT)
    outcomes = job.run(kind, *TWO[1:], "--", "train.py", how)
    assert [outcome.code for outcome in outcomes.values()] == [124, 124], "\n".join(o.text for o in outcomes.values())
    (text,) = {outcome.failure for outcome in outcomes.values()}
    first_line = str(text).split("\n", 1)[0]
    start = r"hang \| host algo-2 rank 2 \(local rank 0\) \| silent for \d s \| "
    assert re.fullmatch(start + summary, first_line), text
    for rank, host in ((0, "algo-1"), (1, "algo-1"), (3, "algo-2")):
        assert re.search(
            rf"^rank {rank} \({host}\): at \S*train.py:5 in waits_for_the_others$", str(text), re.MULTILINE
        )
        assert "Fatal Python error: Aborted" in outcomes[host].lines_of(f"rank {rank}")


def test_one_rank_that_prints_keeps_the_job_alive(job: LauncherJob) -> None:
    """It may be the only one that ever prints."""
    job.source(
        train__py="""
import os, time
for _ in range(7):
    time.sleep(0.5)
    if os.environ["RANK"] == "3":
        print("loss 0.1", flush=True)
"""
    )
    outcomes = job.run(*TWO[:-1], "1.5", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes


def test_a_rank_that_leaves_early(job: LauncherJob) -> None:
    """It ends well, and leaves the others waiting."""
    job.source(
        train__py="""
import os, time
print("up", flush=True)
if os.environ["RANK"] != "1":
    time.sleep(100)
"""
    )
    text = str(job.run(*TWO, "--", "train.py")["algo-2"].failure)
    assert text.startswith("hang | host algo-1 rank 1 (local rank 1) | silent for 2 s | it has ended with exit code 0")


def test_a_rank_under_a_shell_and_one_that_is_no_python(job: LauncherJob) -> None:
    """The shell is not asked but the program in it; another program has no stack to show."""
    job.source(
        train__py="import time; print('up', flush=True); time.sleep(100)",
        start__sh='echo up\nif [ "$RANK" = 1 ]; then sleep 100; else python3 -u train.py; fi\necho after\n',
    )
    outcomes = job.run("processes", "--hang-timeout", "1", "--", "start.sh")
    text = str(outcomes["algo-1"].failure)
    assert [outcome.code for outcome in outcomes.values()] == [124, 124]
    assert "rank 0 (algo-1): at /opt/ml/code/train.py:1 in <module>" in text, text
    assert "rank 1 (algo-2): it shows no Python stack (process state S)" in text, text


def test_a_stop_during_a_silence_is_a_stop(job: LauncherJob) -> None:
    """Saving may be silent too."""
    job.source(
        train__py="""
import signal, sys, time
def save(*_):
    time.sleep(3)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("up", flush=True)
time.sleep(100)
"""
    )
    job.start("processes", "--hang-timeout", "2", "--", "train.py")
    job.until_said("up")
    job.hosts.signal("algo-1", signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [0, 0]
    assert all(outcome.failure is None for outcome in outcomes.values())
