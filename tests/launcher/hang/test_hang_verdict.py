"""Who keeps the others waiting, from stacks alone."""

import faulthandler
from pathlib import Path

from training_launcher.hang.stack import ENDED, Frame, Stack, read_frames
from training_launcher.hang.verdict import judge

SEND = Frame("/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", 3000, "all_reduce")
TRAIN = Frame("/opt/ml/code/train.py", 20, "step")
LOAD = Frame("/opt/ml/code/train.py", 10, "load")


def stack(rank: int, *frames: Frame, state: str = "S") -> Stack:
    return Stack(rank, rank % 2, f"algo-{1 + rank // 2}", state, frames)


def first_line(*stacks: Stack) -> str:
    return judge(stacks, leader="algo-1", seconds=30).first_line


class TestCulprit:
    def test_a_stopped_process_before_all_else(self) -> None:
        said = first_line(stack(0, LOAD), stack(1, SEND, TRAIN), stack(3, SEND, TRAIN, state="T"), stack(2, SEND))
        assert said == (
            "hang | host algo-2 rank 3 (local rank 1) | silent for 30 s | its process is stopped (SIGSTOP or a "
            "debugger) at /opt/ml/code/train.py:20 in step; the others wait"
        )

    def test_one_that_has_ended_while_others_wait(self) -> None:
        said = first_line(stack(0, SEND, TRAIN), stack(1, state=ENDED), stack(2, SEND, TRAIN))
        assert said.endswith("it has ended with exit code 0; ranks 0, 2 wait in a collective")

    def test_the_one_outside_of_the_collective(self) -> None:
        """Also when it is one of two, where there is no majority."""
        said = first_line(stack(1, LOAD), stack(0, SEND, TRAIN))
        assert "host algo-1 rank 1 (local rank 1)" in said
        assert said.endswith("at /opt/ml/code/train.py:10 in load; rank 0 waits in a collective")

    def test_a_script_that_was_started_by_a_library_of_collectives(self) -> None:
        """`-m mpi4py` is below every script that mpirun starts."""
        run = Frame("/usr/lib/python3/dist-packages/mpi4py/run.py", 160, "main")
        said = first_line(stack(0, TRAIN, run), stack(1, LOAD, run), stack(2, TRAIN, run))
        assert said.endswith("rank 1 (local rank 1) | silent for 30 s | at /opt/ml/code/train.py:10 in load; "
                             "the others stand elsewhere")  # fmt: skip

    def test_one_that_says_where_it_is_before_one_that_does_not(self) -> None:
        """A machine under load may not let every process answer in time."""
        said = first_line(stack(0), stack(1, SEND, TRAIN), stack(2, LOAD), stack(3, SEND, TRAIN))
        assert "rank 2 (local rank 0)" in said
        said = first_line(stack(0, SEND, TRAIN), stack(1, SEND, TRAIN), stack(2))
        assert said.endswith("it shows no Python stack (process state S); ranks 0, 1 wait in a collective")

    def test_the_one_that_stands_elsewhere(self) -> None:
        said = first_line(stack(0, SEND, TRAIN), stack(1, SEND, LOAD), stack(2, SEND, TRAIN))
        assert "rank 1 (local rank 1)" in said
        assert "in load, waiting in all_reduce; the others stand elsewhere" in said

    def test_a_process_that_the_kernel_holds(self) -> None:
        assert "rank 0 (local rank 0)" in first_line(stack(0, state="D"), stack(1, SEND, TRAIN), stack(2, LOAD))

    def test_nobody_where_all_stand_alike(self) -> None:
        said = first_line(stack(0, SEND, TRAIN), stack(1, SEND, TRAIN))
        assert said.startswith("hang | host algo-1 | silent for 30 s | every rank is silent, all of them at /opt/ml/")

    def test_nobody_where_none_answers(self) -> None:
        assert "none could be asked" in first_line()

    def test_every_rank_has_its_line(self) -> None:
        text = judge([stack(1, LOAD), stack(0, SEND, TRAIN)], leader="algo-1", seconds=30).text
        assert text.splitlines()[1:] == [
            "rank 0 (algo-1): at /opt/ml/code/train.py:20 in step, waiting in all_reduce",
            "rank 1 (algo-1): at /opt/ml/code/train.py:10 in load",
        ]


class TestReadingStacks:
    def test_the_main_thread_among_others(self) -> None:
        output = b"""step 1
Fatal Python error: Aborted

Thread 0x00007f1 (most recent call first):
  File "/opt/ml/code/other.py", line 3 in run

Current thread 0x00007f2 (most recent call first):
  File "/opt/ml/code/my code.py", line 10 in load
  File "/opt/ml/code/train.py", line 20 in <module>

Extension modules: numpy (total: 1)
"""
        assert read_frames(output) == (
            Frame("/opt/ml/code/my code.py", 10, "load"),
            Frame("/opt/ml/code/train.py", 20, "<module>"),
        )

    def test_the_main_thread_where_another_took_the_signal(self) -> None:
        output = b"""Fatal Python error: Aborted

Current thread 0x00007f1 (most recent call first):
  <no Python frame>

Thread 0x00007f2 (most recent call first):
  File "/opt/ml/code/train.py", line 20 in <module>

Extension modules: numpy (total: 1)
"""
        assert read_frames(output) == (Frame("/opt/ml/code/train.py", 20, "<module>"),)

    def test_what_faulthandler_really_writes(self, tmp_path: Path) -> None:
        path = tmp_path / "stack"
        with path.open("w") as file:
            file.write("Fatal Python error: Aborted\n\n")
            file.flush()
            faulthandler.dump_traceback(file)
        frames = read_frames(path.read_bytes())
        assert frames[0].function == "test_what_faulthandler_really_writes"
        assert frames[0].file == __file__

    def test_a_rank_that_raised_when_another_had_been_asked(self) -> None:
        """It was in the collective that its neighbour has left by being asked."""
        output = b"""[rank2]: Traceback (most recent call last):
[rank2]:   File "/opt/ml/code/train.py", line 20, in step
[rank2]:     dist.all_reduce(total)
[rank2]:   File "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py", line 3000, in all_reduce
[rank2]:     work.wait()
[rank2]: RuntimeError: Connection closed by peer
"""
        assert read_frames(output) == (SEND, TRAIN)

    def test_no_report(self) -> None:
        assert read_frames(b"nothing\n\xff") == ()
