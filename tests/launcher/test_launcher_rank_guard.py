"""The guard between torchrun and a rank, alone."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launcher_job import SOURCE


class Guarded:
    """A run directory as the launcher makes it, and guards that are started in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "rank.py").write_bytes((SOURCE / "training_launcher/rank.py").read_bytes())
        self._events = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._events.bind(str(directory / "events"))
        self._events.settimeout(30)
        os.mkfifo(directory / "rank-1.out")
        self._output = os.open(directory / "rank-1.out", os.O_RDWR | os.O_NONBLOCK)
        self.printed = bytearray()
        self._stop = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while not self._stop.wait(0.01):
            try:
                while data := os.read(self._output, 1 << 16):
                    self.printed += data
            except BlockingIOError:
                pass

    def start(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        variables = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "TRAINING_WORLD_SIZE": "4"}
        return subprocess.Popen(
            [sys.executable, "-S", "-E", str(self.directory / "rank.py"), *command],
            env={"PATH": os.environ["PATH"], **variables, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self._events.recv(1 << 16))
        return event

    def until_printed(self, text: bytes) -> None:
        end = time.monotonic() + 30
        while text not in self.printed:
            assert time.monotonic() < end, bytes(self.printed)
            time.sleep(0.01)

    def close(self) -> None:
        self._stop.set()
        self._reader.join()
        os.close(self._output)
        self._events.close()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    made = Guarded(tmp_path)
    yield made
    made.close()


def test_the_command_runs_unchanged_and_its_end_is_told(guarded: Guarded) -> None:
    code = "import os, sys; print(sys.argv, os.getpid() == os.getpgrp(), repr(sys.stdin.read())); sys.exit(7)"
    guard = guarded.start(sys.executable, "-c", code, "--", "a b", "", "-x")
    started, ended = guarded.event(), guarded.event()
    assert (started["event"], started["rank"], started["local"], started["restart"]) == ("started", 3, 1, 0)
    assert (ended["event"], ended["status"], ended["pid"]) == ("ended", 7 << 8, started["pid"])
    assert guard.wait(30) == 7
    guarded.until_printed(b"['-c', '--', 'a b', '', '-x'] True ''\n")
    assert guard.communicate()[0] == b""


def test_a_death_by_signal_stays_one(guarded: Guarded) -> None:
    guard = guarded.start(sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert guard.wait(30) == -signal.SIGKILL
    guarded.event()
    assert guarded.event()["status"] == signal.SIGKILL


@pytest.mark.parametrize(("world", "planned"), [("1", "4"), ("8", "4")])
def test_another_world_than_the_planned_one_is_refused(guarded: Guarded, world: str, planned: str) -> None:
    """A silent world of one trains nothing."""
    guard = guarded.start(sys.executable, "-c", "print('must not run')", WORLD_SIZE=world, TRAINING_WORLD_SIZE=planned)
    assert guard.wait(30) == 3
    event = guarded.event()
    assert (event["event"], event["world"], event["planned"]) == ("refused", int(world), int(planned))
    assert guarded.printed == b""


def test_a_missing_program_is_named(guarded: Guarded) -> None:
    assert guarded.start("no-such-program").wait(30) == 127
    guarded.until_printed(b"no-such-program cannot be started: No such file or directory\n")


def test_torchruns_signal_reaches_the_whole_group(guarded: Guarded) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; print(1); time.sleep(100)'])"
    guard = guarded.start(sys.executable, "-u", "-c", code, PYTHONUNBUFFERED="1")
    guarded.until_printed(b"1\n")
    guard.terminate()
    assert guard.wait(30) == -signal.SIGTERM


def test_in_a_stop_torchruns_signal_is_kept_away_and_the_end_is_held_back(guarded: Guarded) -> None:
    """The launcher has told the ranks itself; they may take longer than torchrun would wait."""
    wait = "import time, os; print('up', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nexit(5)"
    guard = guarded.start("sh", "-c", f'cd "{guarded.directory}" && exec "$0" -c "$1"', sys.executable, wait)
    guarded.until_printed(b"up")
    (guarded.directory / "stopping").touch()
    guard.terminate()
    guarded.event()
    (guarded.directory / "go").touch()
    assert guarded.event()["status"] == 5 << 8
    with pytest.raises(subprocess.TimeoutExpired):
        guard.wait(0.3)
    (guarded.directory / "release").touch()
    assert guard.wait(30) == 5


def test_a_killed_guard_takes_its_rank_along(guarded: Guarded) -> None:
    guard = guarded.start(sys.executable, "-c", "import time; time.sleep(100)")
    rank = guarded.event()["pid"]
    guard.kill()
    guard.wait(30)
    end = time.monotonic() + 30
    while Path(f"/proc/{rank}").exists() and "Z (zombie)" not in Path(f"/proc/{rank}/status").read_text():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_open_mpis_variables_become_torchs(guarded: Guarded) -> None:
    names = {"RANK": "9", "SIZE": "4", "LOCAL_RANK": "1", "LOCAL_SIZE": "2"}
    guard = guarded.start(
        sys.executable,
        "-c",
        "import os; print(os.environ['RANK'], os.environ['WORLD_SIZE'], os.environ['LOCAL_WORLD_SIZE'])",
        **{f"OMPI_COMM_WORLD_{name}": value for name, value in names.items()},
    )
    assert guarded.event()["rank"] == 9
    assert guard.wait(30) == 0
    guarded.until_printed(b"9 4 2\n")
