"""Faults that a person injects into a local run: the launcher and the network are the real ones."""

from pathlib import Path

import pytest
from tests.cli.conftest import Dtrain
from tests.local.handmade_app import request, write_app, write_launcher_app

RANKS = """
import os, time
print("rank", os.environ["RANK"], "is up", flush=True)
time.sleep(600)
"""
# Both hosts connect to each other until it fails after it has worked; a host that has ended refuses, a cable that is
# pulled says nothing.
MEET = """
import socket, sys, time
me, other = socket.gethostname(), {"algo-1": "algo-2", "algo-2": "algo-1"}
server = socket.create_server(("", 9999), backlog=1024)
met = False
while True:
    try:
        socket.create_connection((other[me], 9999), timeout=1).close()
        if not met:
            print("met", flush=True)
        met = True
    except ConnectionRefusedError:
        if met:
            sys.exit("refused")
    except OSError as error:
        if met:
            print("lost:", error, flush=True)
            sys.exit(0)
    time.sleep(0.1)
"""


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text(RANKS)
    return write_launcher_app(tmp_path / "cdk.out", source, "train.py")


def test_a_killed_rank_fails_the_job_with_its_name(dtrain: Dtrain, tmp_path: Path, ranks: Path) -> None:
    result = dtrain("local", "--kill", "algo-2:1@0.5", "--output", "run")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "fault: kill rank 1 on algo-2, " in result.stdout
    assert "rank 1" in (tmp_path / "run/failure").read_text()
    assert "SIGKILL" in (tmp_path / "run/failure").read_text()


def test_a_killed_host_fails_the_job(dtrain: Dtrain, tmp_path: Path, ranks: Path) -> None:
    result = dtrain("local", "--kill", "algo-2@0.5", "--output", "run")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "fault: kill algo-2, " in result.stdout
    assert (tmp_path / "run/failure").read_text().strip()


def test_a_dropped_link_is_silent(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["python3", "-c", MEET])})
    result = dtrain("local", "--drop-link", "algo-2@3", "--output", "run")
    assert "fault: drop the link of algo-2, " in result.stdout, result.stdout + result.stderr
    assert "lost: " in result.stdout


def test_a_fault_after_the_end_is_said(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    result = dtrain("local", "--kill", "algo-1@500")
    assert result.returncode == 0, result.stderr
    assert "fault: no kill algo-1: the job had ended" in result.stdout


def test_where_hosts_share_a_network_it_is_refused(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    refused = dtrain("local", "--hosts", "loopback", "--kill", "algo-1@1")
    assert refused.returncode == 2
    assert "--hosts loopback was asked for" in refused.stderr
    assert not (tmp_path / "local-runs").exists()
