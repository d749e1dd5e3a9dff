"""The container of a multi-node parallel job as Batch would run it, from the synthesized template, with S3 emulated.

One node: the job definition's own command, environment and image's entry point; the launcher and the code come as zip
files from S3, the launcher finds its place by Batch's variables, and what the script makes is in S3 afterwards. moto
runs in a process of its own, so that nothing of it is left in this one.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest
from botocore.config import Config
from tests.engines.engine_stack import plausible, resource
from tests.engines.multi_node_stack import training_job
from tests.engines.test_multi_node_template import uncapitalized

import cdk_distributed_training as dt
from cdk_distributed_training.engines.multi_node import node_start
from cdk_distributed_training.engines.multi_node.node_container import start_command

ROOT = Path(__file__).parents[2]
BUCKETS = ("assets", "output", "corpus")
NOTE = 'it\'s "quoted" $HOME `x`\nünd ☃'
TRAIN = """
import json, os, pathlib, sys, time
base = pathlib.Path(os.environ["SAGEMAKER_BASE_DIR"])
(base / "model/parts").mkdir(parents=True)
(base / "model/parts/weights.bin").write_bytes(b"weights")
(base / "output/data").mkdir(parents=True, exist_ok=True)
(base / "output/data/log.txt").write_text("log")
files = sorted(path.name for path in (base / "input/data/vocabulary").rglob("*") if path.is_file())
facts = {"argv": sys.argv[1:], "files": files, "hosts": os.environ["SM_HOSTS"], "channels": os.environ["SM_CHANNELS"]}
print(json.dumps(facts), flush=True)
if os.environ.get("WAIT"):
    time.sleep(600)
sys.exit(int(os.environ.get("END_WITH", "0")))
"""
# as the entry points of AWS's training images do it, which run one command in a way of its own and all others so
EVALUATING = '#!/usr/bin/env bash\nif [[ "$1" = "train" ]]; then\n  exit 9\nelse\n  eval "$@"\nfi\n'
ENTRY_POINTS = {"none": [], "evaluating": ["bash", "-m", "{script}"]}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def answers(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/moto-api/data.json")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    """moto's address; it ends at once where another program has taken its port, and is started on another."""
    server = None
    with (tmp_path_factory.mktemp("moto") / "log").open("wb") as log:
        for _ in range(5):
            port = free_port()
            command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
            server = subprocess.Popen(command, stdout=log, stderr=log)
            end = time.monotonic() + 120
            while server.poll() is None and time.monotonic() < end and not answers(port):
                time.sleep(0.1)
            if server.poll() is None:
                break
        yield f"http://127.0.0.1:{port}"
        server.kill()
        server.wait()


@pytest.fixture(scope="module")
def clients(endpoint):
    def client(service):
        return boto3.client(
            service,
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(s3={"addressing_style": "path"}),
        )

    return client


@pytest.fixture(scope="module")
def definition(tmp_path_factory):
    """The job definition as the API has it."""
    folder = tmp_path_factory.mktemp("start")
    app = cdk.App(analytics_reporting=False, outdir=str(folder / "cdk.out"))
    stack = cdk.Stack(app, "Own", env=cdk.Environment(account="111111111111", region="us-east-1"))
    job = training_job(
        stack,
        folder / "source",
        distribution=dt.Command(),
        channels=[dt.Channel.from_s3_uri("vocabulary", "s3://corpus/vocabulary/")],
        hyperparameters={"note": NOTE, "lr": 0.1},
    )
    dt.MultiNodeParallelJob(stack, "OnEc2", job=job)
    template = app.synth().get_stack_by_name("Own").template
    return uncapitalized(plausible(resource(template, "AWS::Batch::JobDefinition", "OnEc2")[1]["Properties"], template))


def zipped(folder, path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            archive.write(file, file.relative_to(folder))
    return path.read_bytes()


@pytest.fixture(scope="module")
def stored(definition, clients, tmp_path_factory):
    """The job's container, its channels and its buckets in the emulation."""
    folder = tmp_path_factory.mktemp("zips")
    source = ROOT / "container" / "src"
    code = folder / "code"
    code.mkdir()
    (code / "train.py").write_text(TRAIN, encoding="utf-8")
    s3 = clients("s3")
    for bucket in BUCKETS:
        s3.create_bucket(Bucket=bucket)
    launcher = [file for file in sorted(source.rglob("*.py")) if "__pycache__" not in file.parts]
    s3.put_object(Bucket="assets", Key="launcher.zip", Body=zipped(source, folder / "launcher.zip", launcher))
    s3.put_object(Bucket="assets", Key="code.zip", Body=zipped(code, folder / "code.zip", [code / "train.py"]))
    for key in ("vocabulary/a/words.txt", "vocabulary/b.txt", "vocabulary/", "vocabulary-old.txt"):
        s3.put_object(Bucket="corpus", Key=key, Body=b"x")
    (nodes,) = definition["nodeProperties"]["nodeRangeProperties"]
    return nodes["container"]


class Node:
    """One container of the job on this machine."""

    def __init__(self, container, endpoint, folder, entry_point, **changes):
        self.base = folder / "ml"
        variables = {one["name"]: one["value"] for one in container["environment"]}
        channels = json.loads(variables["TRAINING_INPUT_DATA_CONFIG"])
        for channel in channels:
            objects = channel["DataSource"]["S3DataSource"]
            if channel["ChannelName"] in ("launcher", "code"):
                objects["S3Uri"] = f"s3://assets/{channel['ChannelName']}.zip"
        script = folder / "entry.sh"
        script.write_text(EVALUATING)
        words = [word.format(script=script) for word in ENTRY_POINTS[entry_point]]
        # the programs of this environment come first, as an image's own would
        path = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"
        self.process = subprocess.Popen(
            [*words, *container["command"]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={
                **variables,
                "PATH": path,
                "HOME": str(folder),
                "SAGEMAKER_BASE_DIR": str(self.base),
                "TRAINING_INPUT_DATA_CONFIG": json.dumps(channels),
                "TRAINING_OUTPUT_PATH": "s3://output/models",
                "TRAINING_JOB_NAME": "digits-run-1",
                "AWS_ENDPOINT_URL": endpoint,
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_BATCH_JOB_ID": "0123#0",
                "AWS_BATCH_JOB_NODE_INDEX": "0",
                "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
                "AWS_BATCH_JOB_NUM_NODES": "1",
                **changes,
            },
        )

    def end(self):
        text, _ = self.process.communicate(timeout=120)
        return self.process.returncode, text


@pytest.fixture
def start(stored, endpoint, tmp_path, clients):
    started = []

    def begin(entry_point="none", **changes):
        clean(clients("s3"))
        started.append(Node(stored, endpoint, tmp_path, entry_point, **changes))
        return started[-1]

    yield begin
    for node in started:
        if node.process.poll() is None:
            os.killpg(node.process.pid, signal.SIGKILL)
            node.process.wait()


def kept(s3):
    return sorted(found["Key"] for found in s3.list_objects_v2(Bucket="output").get("Contents", []))


def clean(s3):
    for key in kept(s3):
        s3.delete_object(Bucket="output", Key=key)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_a_whole_node(start, clients, entry_point):
    code, text = start(entry_point).end()
    assert code == 0, text
    facts = next(json.loads(line.split("] ", 1)[1]) for line in text.splitlines() if "] {" in line)
    assert facts["argv"] == ["--lr", "0.1", "--note", NOTE] or facts["argv"] == ["--note", NOTE, "--lr", "0.1"]
    assert facts["files"] == ["b.txt", "words.txt"]
    assert facts["hosts"] == '["algo-1"]'
    assert set(json.loads(facts["channels"])) >= {"vocabulary"}
    assert kept(clients("s3")) == [
        "models/digits-run-1/output/data/log.txt",
        "models/digits-run-1/output/model/parts/weights.bin",
    ]
    assert "copied 2 files to s3://output/models/digits-run-1/output" in text


@pytest.mark.timeout(300)
def test_a_run_has_its_own_hyperparameters(start):
    changes = {"TRAINING_HYPERPARAMETERS": '{"lr": "0.1", "seed": "7"}'}
    _, text = start(**changes, TRAINING_RUN_HYPERPARAMETERS='{"lr": "0.5"}').end()
    assert '"argv": ["--lr", "0.5", "--seed", "7"]' in text


@pytest.mark.timeout(300)
def test_a_run_by_hand_has_the_name_of_its_job(start, clients):
    code, text = start(TRAINING_JOB_NAME="").end()
    assert code == 0, text
    assert kept(clients("s3"))[0] == "models/0123/output/data/log.txt"


@pytest.mark.timeout(300)
def test_a_job_that_failed_leaves_its_reason_and_no_model(start, clients):
    code, text = start(END_WITH="7").end()
    assert code == 7, text
    assert kept(clients("s3")) == ["models/digits-run-1/output/data/log.txt", "models/digits-run-1/output/failure"]


@pytest.mark.timeout(300)
def test_a_stop_reaches_the_script_and_keeps_what_is_there(start, clients):
    node = start(WAIT="1")
    while '"argv"' not in (line := node.process.stdout.readline()):
        assert line, "it has ended before its time"
    node.process.send_signal(signal.SIGTERM)
    code, text = node.end()
    assert code == 143, text
    assert "models/digits-run-1/output/model/parts/weights.bin" in kept(clients("s3"))


@pytest.mark.timeout(300)
def test_a_prefix_without_objects(start):
    channel = {
        "ChannelName": "corpus",
        "DataSource": {"S3DataSource": {"S3Uri": "s3://corpus/nothing", "S3DataType": "S3Prefix"}},
    }
    code, text = start(TRAINING_INPUT_DATA_CONFIG=json.dumps([channel])).end()
    assert (code, text) == (3, "[node start] channel corpus: there is no object under s3://corpus/nothing\n")


@pytest.mark.timeout(300)
def test_a_bucket_that_is_not_there(start):
    channel = {"ChannelName": "corpus", "DataSource": {"S3DataSource": {"S3Uri": "s3://gone/x"}}}
    code, text = start(TRAINING_INPUT_DATA_CONFIG=json.dumps([channel])).end()
    assert code == 3
    assert text.startswith("[node start] channel corpus: s3://gone/x cannot be copied: ")


@pytest.mark.timeout(300)
def test_a_model_that_cannot_be_kept_is_no_success(start):
    code, text = start(TRAINING_OUTPUT_PATH="s3://gone/models").end()
    assert code == 3
    assert "what the job has made cannot be copied to s3://gone/models/digits-run-1/output" in text


@pytest.mark.timeout(300)
def test_a_file_system_that_is_not_mounted_is_no_empty_folder(start):
    system = {"FileSystemId": "fs-0123456789abcdef0", "FileSystemType": "FSxLustre", "DirectoryPath": "/abc"}
    channel = {"ChannelName": "train", "DataSource": {"FileSystemDataSource": system}}
    code, text = start(TRAINING_INPUT_DATA_CONFIG=json.dumps([channel])).end()
    assert code == 3
    assert "channel train: the file system fs-0123456789abcdef0 is not mounted at" in text


def test_a_file_system_that_is_mounted(monkeypatch, tmp_path):
    folder = tmp_path / "input/data/train"
    folder.mkdir(parents=True)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"overlay / overlay rw 0 0\n10.0.0.1@tcp:/abc {folder.resolve()} lustre ro,flock 0 0\n")
    monkeypatch.setattr(node_start, "BASE", tmp_path)
    monkeypatch.setattr(node_start, "MOUNTS", mounts)
    node_start.bring({"ChannelName": "train", "DataSource": {"FileSystemDataSource": {"FileSystemId": "fs-1"}}})


def test_it_runs_on_the_images_python_and_imports_nothing_of_ours():
    text = Path(node_start.__file__).read_text(encoding="utf-8")
    assert "cdk_distributed_training" not in text
    compile(text, "node_start.py", "exec", dont_inherit=True)
    # a task definition of ECS may have 64 KiB
    assert len(start_command()[2]) < 16 * 1024


def test_batch_takes_the_definition(definition, clients):
    """moto's Batch registers it; what it shows of one has no nodes."""
    batch = clients("batch")
    given = {**definition, "jobDefinitionName": "digits"}
    arn = batch.register_job_definition(**given)["jobDefinitionArn"]
    (shown,) = batch.describe_job_definitions(jobDefinitions=[arn])["jobDefinitions"]
    assert shown["type"] == "multinode"
    assert (shown["status"], shown["revision"]) == ("ACTIVE", 1)
    assert shown["retryStrategy"]["attempts"] == given["retryStrategy"]["attempts"]
