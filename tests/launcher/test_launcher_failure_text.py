"""From a process's last output to the failure file."""

import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training_launcher.failure import Failure, write_failure
from training_launcher.process_end import failure_of
from training_launcher.root_cause import Candidates
from training_launcher.traceback_text import explain

PLAIN = b"""step 1 loss 0.3
Traceback (most recent call last):
  File "/opt/ml/code/train.py", line 7, in <module>
    raise RuntimeError("loss is NaN")
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: loss is NaN
"""
RANKED = b"".join(b"[rank3]: " + line + b"\n" for line in PLAIN.splitlines()[1:])
CHAINED = b"""Traceback (most recent call last):
  File "a.py", line 1, in f
KeyError: 'lr'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
ValueError: no learning rate
"""
HANDLED_THEN_OTHER = CHAINED.replace(
    b"\nDuring handling of the above exception, another exception occurred:\n", b"went on\n"
)
IGNORED = (
    PLAIN
    + b"""Exception ignored in: <function Loader.__del__ at 0x7f>
Traceback (most recent call last):
  File "loader.py", line 9, in __del__
AttributeError: 'NoneType' object has no attribute 'close'
"""
)
CUDA = b"""Traceback (most recent call last):
  File "a.py", line 3, in <module>
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
GPU 0 has a total capacity of 79 GiB
"""
GLOO = b"""[rank0]: Traceback (most recent call last):
[rank0]:   File "/opt/ml/code/train.py", line 8, in <module>
[rank0]:     work.wait()
[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.12]:13462
"""


@pytest.mark.parametrize(
    ("output", "summary", "victim"),
    [
        (PLAIN, "RuntimeError: loss is NaN", False),
        (RANKED, "RuntimeError: loss is NaN", False),
        (PLAIN + b"wandb: synced\n" * 20, "RuntimeError: loss is NaN", False),
        (CHAINED, "ValueError: no learning rate (caused by KeyError: 'lr')", False),
        (HANDLED_THEN_OTHER, "ValueError: no learning rate", False),
        (IGNORED, "RuntimeError: loss is NaN", False),
        (CUDA, "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", False),
        (GLOO, "RuntimeError: [gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.12]:13462", True),
        (b"\r 10%\r 20%\rTraceback (most recent call last):\n  File\nE: x\n", "E: x", False),
        (b"\xff\xfe broken\nsys.exit said so\n\n", "sys.exit said so", False),
        (b"", "", False),
    ],
)
def test_the_last_exception(output: bytes, summary: str, victim: bool) -> None:
    explanation = explain(output, exit_code=1)
    assert (explanation.summary, explanation.is_victim) == (summary, victim)


def test_a_handled_exception_explains_no_other_exit_code() -> None:
    """An uncaught exception always ends Python with 1."""
    explanation = explain(PLAIN + b"giving up\n", exit_code=3)
    assert (explanation.summary, explanation.is_exception) == ("giving up", False)


def test_more_lines_of_a_message_are_kept() -> None:
    assert "GPU 0 has a total capacity" in explain(CUDA, exit_code=1).detail


LATE = b"terminate called without an active exception\n"
LATE_REPORT = LATE + (
    b"Fatal Python error: Aborted\n\nCurrent thread 0x00007f0b8be00700 [pt_gloo_runloop] (most recent call first):\n"
    b"  <no Python frame>\n"
)


@pytest.mark.parametrize(
    ("before", "words", "kind", "said"),
    [
        (b"loss fell\n", LATE, "signal", "probably a gloo thread that still held a tensor while Python ended"),
        (b"loss fell\n", LATE_REPORT, "signal", "training_launcher.torch.destroy_process_group()"),
        (PLAIN + b"\nwent on\n", LATE, "signal", "probably a gloo thread"),
        (PLAIN, LATE_REPORT, "exception", "aborted while Python was ending: RuntimeError: loss is NaN"),
        (RANKED, LATE, "exception", "aborted while Python was ending: RuntimeError: loss is NaN"),
    ],
)
def test_an_abort_at_the_very_end(before: bytes, words: bytes, kind: str, said: str) -> None:
    """The remedy, unless an exception had ended the script before."""
    failure = failure_of(6, host="algo-2", output=before * 100 + words, rank=9, local_rank=1)
    assert (failure.kind, failure.exit_code, failure.ended) == (kind, 134, "signal SIGABRT")
    assert said in failure.first_line
    assert len(failure.text) <= 990


@pytest.mark.parametrize(
    "output",
    [
        LATE + b"more\n",
        LATE + b'Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n  File "t.py", line 3\n',
        b"std::bad_alloc\n",
    ],
)
def test_other_aborts_are_told_as_they_are(output: bytes) -> None:
    assert "probably" not in failure_of(6, host="algo-2", output=output, rank=9, local_rank=1).first_line


@pytest.mark.parametrize(
    ("status", "output", "memory", "first_line", "code"),
    [
        (1 << 8, PLAIN, False,
         "exception | host algo-2 rank 9 (local rank 1) | exit code 1 | RuntimeError: loss is NaN", 1),
        (3 << 8, b"bye\n", False, "exit | host algo-2 rank 9 (local rank 1) | exit code 3 | last line: bye", 3),
        (2 << 8, b"", False, "exit | host algo-2 rank 9 (local rank 1) | exit code 2 | it wrote nothing", 2),
        (9, b"x", False, "signal | host algo-2 rank 9 (local rank 1) | signal SIGKILL | killed from outside", 137),
        (9, b"x", True,
         "out of memory | host algo-2 rank 9 (local rank 1) | signal SIGKILL | the host ran out of memory", 137),
        (11 | 0x80, b"Fatal Python error: Segmentation fault\n\nCurrent thread 0x1:\n  File \"t.py\", line 3 in f\n",
         False,
         "signal | host algo-2 rank 9 (local rank 1) | signal SIGSEGV | segmentation fault: Fatal Python error: "
         'Segmentation fault (File "t.py", line 3 in f)', 139),
        (40, b"", False, "signal | host algo-2 rank 9 (local rank 1) | signal number 40", 168),
    ],
)  # fmt: skip
def test_the_first_line(status: int, output: bytes, memory: bool, first_line: str, code: int) -> None:
    failure = failure_of(status, host="algo-2", output=output, rank=9, local_rank=1, out_of_memory=memory)
    assert failure.first_line == first_line
    assert failure.exit_code == code


def test_a_victim_or_one_that_was_told_to_end_is_no_cause() -> None:
    """Whichever came first."""
    candidates = Candidates()
    candidates.add(failure_of(signal.SIGTERM, host="a", output=b"", rank=0, local_rank=0), now=10.0)
    assert candidates.best.rank == 0
    candidates.add(failure_of(1 << 8, host="a", output=GLOO, rank=1, local_rank=1), now=11.0)
    assert candidates.best.rank == 1
    candidates.add(failure_of(1 << 8, host="b", output=PLAIN, rank=2, local_rank=0), now=12.0)
    earlier = failure_of(9, host="b", output=b"", rank=3, local_rank=1)._replace(age=1.0)
    candidates.add(earlier, now=12.5)
    assert candidates.best.rank == 3


@given(st.text(), st.text(), st.integers(0, 10**6))
def test_any_failure_file_is_short_and_can_be_encoded(summary: str, detail: str, repeat: int) -> None:
    text = Failure("exception", "algo-1", 1, summary * 50, detail=detail * (repeat % 300)).text
    assert len(text) <= 990
    text.encode("utf-8", "replace")


def test_the_end_of_a_long_detail_is_kept() -> None:
    lines = "\n".join(f"line {number}" for number in range(1000))
    text = Failure("exception", "algo-1", 1, "E: x", detail=lines).text
    assert text.startswith("exception | host algo-1 | exit code 1 | E: x\n…\nline ")
    assert text.endswith("line 999")


def test_messages_survive_the_channel() -> None:
    failure = failure_of(1 << 8, host="algo-1", output=PLAIN, rank=0, local_rank=0)
    assert Failure.from_message({**failure.to_message(), "from_the_future": 1}) == failure


def test_writing(tmp_path: Path) -> None:
    assert write_failure(str(tmp_path / "output"), "why \udcff")
    assert (tmp_path / "output/failure").read_text() == "why ?"
    assert not write_failure(str(tmp_path / "output"), "another")
    (tmp_path / "output/failure").write_text("")
    assert write_failure(str(tmp_path / "output"), "an empty one says nothing")
