"""Each mistake gives one clear message, and leaves nothing running."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest
from aws_cdk import aws_s3 as s3
from tests.deploy.chain_app import job
from tests.local.handmade_app import request, write_app

import cdk_distributed_training as dt
from cdk_distributed_training.local.aws import cdk_cli, executions
from cdk_distributed_training.local.aws.cdk_cli import CdkCli
from cdk_distributed_training.local.aws.server import Server
from cdk_distributed_training.local.errors import LocalModeError

MAIN = "from cdk_distributed_training.cli import main; main()"


def dtrain(*arguments, cwd: Path, before: str = ""):
    return subprocess.run(
        [sys.executable, "-c", before + MAIN, "local", "--deploy", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_port_in_use_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        before = dict(os.environ)
        with pytest.raises(LocalModeError, match=f"port {port} on 127.0.0.1 cannot be used"), Server(port):
            pass
        assert dict(os.environ) == before


@pytest.fixture
def nobody(monkeypatch):
    """An endpoint at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, url)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    return url


def test_an_emulation_that_is_gone_is_named(app, server, nobody):
    for call in (
        lambda: executions.job_state_machine("Chain", "main"),
        lambda: executions.start("arn:aws:states:us-east-1:123456789012:stateMachine:x", name="x", given={}),
        lambda: executions.wait("arn:aws:states:us-east-1:123456789012:execution:x:x"),
        lambda: executions.stop("arn:aws:states:us-east-1:123456789012:execution:x:x"),
    ):
        with pytest.raises(LocalModeError, match=rf"does not answer on {nobody} \(Could not connect"):
            call()
    with pytest.raises(LocalModeError, match=r"cdk bootstrap failed on the emulation of AWS:(.|\n)*ECONNREFUSED"):
        CdkCli(app, dict(os.environ)).bootstrap()


def test_an_emulation_that_never_answers_is_named(tmp_path):
    # in a process of its own, since there is one emulation here already
    text = (
        "import os, threading, requests\n"
        "from cdk_distributed_training.local.aws import server\n"
        "def silent(*arguments, **more): raise requests.ConnectionError('silent')\n"
        "requests.post, usual, before = silent, requests.post, dict(os.environ)\n"
        "try:\n    server.Server().__enter__()\nexcept server.LocalModeError as error:\n    print(error)\n"
        "assert dict(os.environ) == before\n"
        "requests.post = usual\n"
        "with server.Server(): print('again')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("the emulation of AWS does not answer on http://127.0.0.1:")
    assert second == "again"


def test_there_is_one_emulation_at_a_time(server):
    with pytest.raises(LocalModeError, match="one at a time"), Server():
        pass
    assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"


def test_the_emulation_listens_on_the_loopback_interface_only(server):
    assert server.url.startswith("http://127.0.0.1:")
    port = int(server.url.rpartition(":")[2])
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(1)
            assert probe.connect_ex((address, port)) != 0


def test_nobodys_credentials_are_used(server):
    assert server.environment["AWS_ACCESS_KEY_ID"] == "testing"
    assert "AWS_PROFILE" not in server.environment
    assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"


def test_a_missing_cdk_or_node_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LocalModeError, match="npm install aws-cdk"):
        cdk_cli.find({"PATH": str(tmp_path)})
    command = tmp_path / "cdk"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    with pytest.raises(LocalModeError, match=r"Node\.js"):
        cdk_cli.find({"PATH": str(tmp_path)})


def test_a_cdk_that_goes_away_is_named(tmp_path):
    for name in ("cdk", "node"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    found = CdkCli(tmp_path, {"PATH": str(tmp_path)})
    (tmp_path / "cdk").unlink()
    with pytest.raises(LocalModeError, match=r"cdk cannot be run \(No such file or directory\)"):
        found.bootstrap()


def test_a_missing_emulation_is_named(tmp_path):
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    done = dtrain(cwd=tmp_path, before="import sys; sys.modules['moto'] = None; ")
    assert done.returncode == 2
    assert "pip install 'cdk-distributed-training[aws-local]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_checkpoints_do_not_go_with_a_deployment(tmp_path):
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    done = dtrain("--checkpoints", ".", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--checkpoints does not go with --deploy" in done.stderr


def test_an_app_of_a_newer_cdk_is_refused_by_its_version(app, server, tmp_path):
    newer = shutil.copytree(app, tmp_path / "cdk.out")
    manifest = json.loads((newer / "manifest.json").read_text())
    (newer / "manifest.json").write_text(json.dumps({**manifest, "version": "999.0.0"}))
    with pytest.raises(LocalModeError, match=r"cdk deploy failed on the emulation of AWS:(.|\n)*999\.0\.0"):
        CdkCli(newer, server.environment).deploy()


def half(folder: Path, *, mystery: bool) -> Path:
    app = cdk.App(outdir=str(folder))
    stack = cdk.Stack(app, "Half")
    bucket = s3.Bucket(stack, "Data", removal_policy=cdk.RemovalPolicy.DESTROY)
    network = dt.TrainingNetwork(stack, "Network")
    made = job(stack, "Job", bucket=bucket, channels=[], network=network, job_name="half")
    if mystery:
        unknown = cdk.CfnResource(stack, "Mystery", type="Custom::Mystery", properties={"ServiceToken": "arn"})
        unknown.node.add_dependency(made)
    app.synth()
    return folder


def test_a_stack_that_is_deployed_by_half_can_be_mended(deployed, tmp_path):
    environment = deployed.cdk.environment
    with pytest.raises(LocalModeError, match="has no Custom::Mystery"):
        CdkCli(half(tmp_path / "broken", mystery=True), environment).deploy()
    mended = CdkCli(half(tmp_path / "mended", mystery=False), environment)
    mended.deploy()
    assert executions.job_state_machine("Half", "half")
    with pytest.raises(LocalModeError, match="has no state machine that runs other"):
        executions.job_state_machine("Half", "other")
    mended.destroy()
