"""torchrun as the launcher starts it."""

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from training_launcher import torchrun_agent

STAND_IN = """
import gc, sys
def main(words):
    print(gc.isenabled(), gc.get_freeze_count() > 0, sys.argv, words, sys.path[0])
"""


def test_it_is_torchrun_in_the_working_directory(tmp_path: Path) -> None:
    """Neither this program's own folder nor its name reaches torchrun."""
    for package in ("torch", "torch/distributed"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "torch/distributed/run.py").write_text(STAND_IN)
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ["--after", f"127.0.0.1:{server.getsockname()[1]}", "--nnodes", "2", "--after"]
        result = subprocess.run(
            [sys.executable, torchrun_agent.__file__, *words], check=True, capture_output=True, text=True, cwd=tmp_path
        )
    left = ["--nnodes", "2", "--after"]
    assert result.stdout == f"True True {['torchrun', *left]} {left} {tmp_path}\n"


def test_it_waits_for_the_first_hosts_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{server.getsockname()[1]}"
        threading.Timer(0.3, server.listen).start()
        begin = time.monotonic()
        torchrun_agent.wait_for(endpoint)
        assert time.monotonic() - begin > 0.25
    monkeypatch.setattr(torchrun_agent, "_PATIENCE", 0.1)
    torchrun_agent.wait_for(endpoint)  # nobody any more: torchrun may say so itself
