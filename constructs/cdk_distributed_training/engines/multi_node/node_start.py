"""Runs first in a container of AWS Batch, where nobody does what SageMaker does before and after a job.

It writes the configuration, copies channels of S3 into their folders, makes sure that file systems are mounted, runs
the job's own command, and copies what this has made to S3, as files. Its text travels in the job definition and is
given to the image's own Python (3.9 or newer), which needs boto3; it imports nothing of this library.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

BASE = Path(os.environ.get("SAGEMAKER_BASE_DIR") or "/opt/ml")
MOUNTS = Path("/proc/mounts")
NOT_STARTED, STOPPED = 3, 143
FOLDERS = ("input/config", "input/data", "code", "model", "output/data", "checkpoints")


class Problem(Exception):  # noqa: N818  told to people
    """Something that the reader of the log can do something about."""


def main() -> int:
    """Bring, run, keep; the exit code is the command's."""
    running: list[subprocess.Popen[bytes]] = []

    def stop(number: int, _frame: Any) -> None:
        if not running:
            os._exit(STOPPED)
        running[0].send_signal(number)

    signal.signal(signal.SIGTERM, stop)
    # a job that was submitted by hand has no name of a run
    os.environ["TRAINING_JOB_NAME"] = (
        os.environ.get("TRAINING_JOB_NAME") or os.environ["AWS_BATCH_JOB_ID"].split("#")[0]
    )
    try:
        channels = json.loads(os.environ["TRAINING_INPUT_DATA_CONFIG"])
        write_configuration(channels)
        for channel in channels:
            bring(channel)
        running.append(subprocess.Popen(json.loads(os.environ["TRAINING_COMMAND"])))
        code = running[0].wait()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is done must still be kept, in the time that is left
        code = code if code >= 0 else 128 - code
        keep(code)
    except Problem as problem:
        say(str(problem))
        return NOT_STARTED
    return code


def write_configuration(channels: Sequence[Any]) -> None:
    """The files of input/config but for resourceconfig.json, which nobody can write: see the launcher's places."""
    for folder in FOLDERS:
        (BASE / folder).mkdir(parents=True, exist_ok=True)
    described = {
        channel["ChannelName"]: {
            "TrainingInputMode": "File",
            "S3DistributionType": "FullyReplicated",
            "RecordWrapperType": "None",
            **({"ContentType": channel["ContentType"]} if "ContentType" in channel else {}),
        }
        for channel in channels
    }
    names = ("TRAINING_HYPERPARAMETERS", "TRAINING_RUN_HYPERPARAMETERS")
    hyperparameters: dict[str, str] = {}
    for name in names:
        hyperparameters.update(json.loads(os.environ.get(name) or "{}"))
    for name, content in (("inputdataconfig", described), ("hyperparameters", hyperparameters)):
        (BASE / "input/config" / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def bring(channel: Any) -> None:
    """Copy a channel of S3; of a file system, make sure that it is there, for a folder would be there anyway."""
    name = channel["ChannelName"]
    folder = BASE / "input/data" / name
    system = channel["DataSource"].get("FileSystemDataSource")
    if system is None:
        download(channel["DataSource"]["S3DataSource"]["S3Uri"], folder, name)
        return
    mounted = [line.split()[1:3] for line in MOUNTS.read_text(encoding="utf-8").splitlines()]
    if [str(folder.resolve()), "lustre"] not in mounted:
        raise Problem(
            f"channel {name}: the file system {system['FileSystemId']} is not mounted at {folder}. The machine tried "
            "when it started, see its console output: does its security group reach the file system's ports, and has "
            "the subnet a way to the packages of Amazon Linux?"
        )


def download(uri: str, folder: Path, name: str) -> None:
    """Copy all objects under a prefix."""
    bucket, prefix = split(uri)
    client = s3()
    try:
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [found["Key"] for page in pages for found in page.get("Contents", [])]
        targets = [(key, folder / relative(key, prefix)) for key in keys if not key.endswith("/")]
        for _, target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda pair: client.download_file(bucket, pair[0], str(pair[1])), targets))
    except Exception as error:
        raise Problem(f"channel {name}: {uri} cannot be copied: {error}") from error
    if not targets:
        raise Problem(f"channel {name}: there is no object under {uri}")


def relative(key: str, prefix: str) -> str:
    """Where an object lands in the folder of its prefix; a prefix that is the whole key gives the key's last part."""
    rest = key[len(prefix) :].lstrip("/")
    return rest if rest and (prefix.endswith("/") or key[len(prefix)] == "/") else key[prefix.rfind("/") + 1 :]


def keep(code: int) -> None:
    """Copy what the job has made to where SageMaker would put it; as there, a job that failed leaves no model."""
    uri = f"{os.environ['TRAINING_OUTPUT_PATH'].rstrip('/')}/{os.environ['TRAINING_JOB_NAME']}/output"
    key_id = os.environ.get("TRAINING_OUTPUT_KEY")
    arguments = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key_id} if key_id else {}
    bucket, prefix = split(uri)
    tops = {"data": BASE / "output/data", **({"model": BASE / "model"} if code in (0, STOPPED) else {})}
    files = [
        (path, f"{prefix}/{name}/{path.relative_to(top).as_posix()}")
        for name, top in tops.items()
        for path in sorted(top.rglob("*"))
        if path.is_file()
    ]
    failure = BASE / "output/failure"
    files += [(failure, f"{prefix}/failure")] if failure.is_file() else []
    if not files:
        return
    client = s3()
    try:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda pair: client.upload_file(str(pair[0]), bucket, pair[1], ExtraArgs=arguments), files))
    except Exception as error:
        raise Problem(f"what the job has made cannot be copied to {uri}: {error}") from error
    say(f"copied {len(files)} files to {uri}")


def split(uri: str) -> tuple[str, str]:
    """Bucket and key of `s3://bucket/key`."""
    bucket, _, key = uri[len("s3://") :].partition("/")
    return bucket, key


def s3() -> Any:
    """A client that is patient: many hosts begin at the same time."""
    try:
        import boto3  # noqa: PLC0415  the message is for people
        from botocore.config import Config  # noqa: PLC0415
    except ImportError as error:
        raise Problem(f"the image has no boto3, by which channels of S3 come: {error}") from error
    return boto3.client("s3", config=Config(retries={"mode": "standard", "max_attempts": 10}, max_pool_connections=32))


def say(text: str) -> None:
    """One line of the log."""
    sys.stderr.write(f"[node start] {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
