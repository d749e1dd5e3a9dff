"""The output pump: bytes through pipes, labelled and unharmed."""

import os
import threading
import time
from collections.abc import Callable

import pytest

from training_launcher import output
from training_launcher.console import Console
from training_launcher.output import Merger, Stream, Voice
from training_launcher.reactor import Reactor


class Pump:
    """Streams that are written to from here and read from what would be standard output."""

    def __init__(self) -> None:
        self.reactor = Reactor()
        self._read, write = os.pipe()
        self.console = Console(self.reactor, write)
        os.close(write)
        self.merger = Merger(self.console)
        self.got = bytearray()
        self._reader = threading.Thread(target=self._collect, daemon=True)

    def _collect(self) -> None:
        while data := os.read(self._read, 1 << 20):
            self.got += data

    def stream(self, label: str) -> tuple[Stream, int]:
        """A stream and the descriptor that a rank would write to."""
        reader, writer = os.pipe()
        return Stream(self.reactor, self.merger, reader, f"[{label}] ".encode()), writer

    def run(self, *writers: Callable[[], None], seconds: float = 0.0) -> bytes:
        """Write from threads, pump until all is written (and some seconds longer), and give back what came out."""
        self._reader.start()
        threads = [threading.Thread(target=writer) for writer in writers]

        def check() -> None:
            if any(thread.is_alive() for thread in threads):
                self.reactor.later(0.01, check)
            else:
                self.reactor.later(seconds + 0.05, self.reactor.stop)

        for thread in threads:
            thread.start()
        self.reactor.later(0.0, check)
        self.reactor.run()
        self.merger.finish()
        self.console.close(10)
        os.close(self.console._fd)
        self._reader.join(10)
        return bytes(self.got)


def write(fd: int, *parts: bytes) -> Callable[[], None]:
    def writer() -> None:
        for part in parts:
            view = memoryview(part)
            while view:
                view = view[os.write(fd, view) :]
            time.sleep(0.01)
        os.close(fd)

    return writer


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((b"one\ntwo\n",), b"[r] one\n[r] two\n"),
        ((b"spl", b"it\nnext\n"), b"[r] split\n[r] next\n"),
        ((b"\n\n",), b"[r] \n[r] \n"),
        ((b"\xff\xfe\x00bad\n",), b"[r] \xff\xfe\x00bad\n"),
        ((b"  \tindented  \n",), b"[r]   \tindented  \n"),
        ((b"\r 1%\r 2%\n",), b"[r] \r 1%\r 2%\n"),
        ((b"windows\r\n",), b"[r] windows\r\n"),
        ((b"no end",), b"[r] no end\n"),
        ((b"",), b""),
    ],
)
def test_lines_get_their_label_and_nothing_else_changes(parts: tuple[bytes, ...], expected: bytes) -> None:
    pump = Pump()
    _stream, fd = pump.stream("r")
    assert pump.run(write(fd, *parts)) == expected


def test_a_progress_bar_is_shown_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line without an end is passed on after a moment, and goes on without a second label."""
    monkeypatch.setattr(output, "IDLE", 0.02)
    pump = Pump()
    _stream, fd = pump.stream("r")

    def writer() -> None:
        os.write(fd, b"\r 10%")
        end = time.monotonic() + 10
        while b"10%" not in pump.got and time.monotonic() < end:
            time.sleep(0.01)
        os.write(fd, b"\r 20%\n")
        os.close(fd)

    assert pump.run(writer) == b"[r] \r 10%\r 20%\n"


def test_an_unfinished_line_of_another_stream_is_ended_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "IDLE", 0.02)
    pump = Pump()
    _one, first = pump.stream("1")
    _two, second = pump.stream("2")

    def writer() -> None:
        os.write(first, b"begun")
        end = time.monotonic() + 10
        while b"begun" not in pump.got and time.monotonic() < end:
            time.sleep(0.01)
        os.write(second, b"other\n")
        while b"other" not in pump.got and time.monotonic() < end:
            time.sleep(0.01)
        os.write(first, b" and ended\n")
        os.close(first)
        os.close(second)

    assert pump.run(writer) == b"[1] begun\n[2] other\n[1]  and ended\n"


def test_a_line_of_ten_megabytes() -> None:
    pump = Pump()
    stream, fd = pump.stream("r")
    line = b"x" * 10_000_000 + b"\n"
    assert pump.run(write(fd, line)) == b"[r] " + line
    assert len(stream.tail) == output.TAIL


def test_whole_lines_of_several_streams_are_never_mixed() -> None:
    pump = Pump()
    writers, expected = [], {}
    for number in range(8):
        _stream, fd = pump.stream(f"rank {number}")
        lines = [f"{number}-{line}".encode() * (line % 50) for line in range(2000)]
        expected[number] = lines
        writers.append(write(fd, *(b"".join(line + b"\n" for line in lines[i : i + 100]) for i in range(0, 2000, 100))))
    got = pump.run(*writers).split(b"\n")
    for number, lines in expected.items():
        label = f"[rank {number}] ".encode()
        assert [line[len(label) :] for line in got if line.startswith(label)] == lines


def test_the_tail_is_the_last_bytes() -> None:
    pump = Pump()
    stream, fd = pump.stream("r")
    data = b"".join(b"line %d\n" % number for number in range(100_000))
    pump.run(write(fd, data))
    assert stream.tail == data[-output.TAIL :]


def test_a_reader_that_is_gone_harms_nobody() -> None:
    reactor = Reactor()
    read, fd = os.pipe()
    console = Console(reactor, fd)
    os.close(read)
    os.close(fd)
    console.write(b"into the void\n")
    console.write(b"again\n")
    console.close(1.0)


def test_a_reader_that_is_slow_holds_the_ranks_back_and_not_the_launcher() -> None:
    """Heartbeats must go on while nobody takes the output."""
    reactor = Reactor()
    read, fd = os.pipe()
    console = Console(reactor, fd)
    merger = Merger(console)
    reader, writer = os.pipe()
    Stream(reactor, merger, reader, b"")
    threading.Thread(target=write(writer, b"y" * 40_000_000 + b"\n"), daemon=True).start()
    beats = []  # those since nobody could take more

    def beat() -> None:
        if console.full:
            beats.append(console._size)
        if len(beats) == 10:
            reactor.stop()

    reactor.every(0.01, beat)
    reactor.run()  # a launcher that waits for its reader never comes back
    assert console.full
    assert console._size < 2 * 8 << 20
    os.close(read)
    os.close(fd)


def test_the_launchers_own_lines() -> None:
    pump = Pump()
    say = Voice(pump.merger, "algo-1")
    say("two\nlines \udcff")
    say("")
    assert pump.run() == b"[launcher algo-1] two\n[launcher algo-1] lines \xff\n[launcher algo-1] \n"
