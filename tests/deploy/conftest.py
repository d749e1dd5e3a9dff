"""One emulation of AWS with one deployed stack, for all tests of this folder.

They run last: the emulation takes this process's environment, and other tests must see nothing of it.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from tests.deploy.chain_app import LAUNCHER_IMAGE, synthesize

from cdk_distributed_training.local.aws import executions
from cdk_distributed_training.local.aws.additions import short_waits
from cdk_distributed_training.local.aws.cdk_cli import CdkCli
from cdk_distributed_training.local.aws.emulated_job import EmulatedJob
from cdk_distributed_training.local.aws.executions import Ended
from cdk_distributed_training.local.aws.job_service import JobService
from cdk_distributed_training.local.aws.server import Server

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of this folder last."""
    items.sort(key=lambda item: FOLDER in item.path.parents)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The emulation's endpoint; the machines' waits hardly last."""
    usual, short_waits.longest_seconds = short_waits.longest_seconds, 0.2
    with Server() as running:
        yield running
    short_waits.longest_seconds = usual


@pytest.fixture(scope="session")
def service(server: Server) -> Iterator[JobService]:
    """Who runs the training jobs."""
    launcher = [sys.executable, "-u", str(FOLDER.parents[1] / "container" / "src")]
    with JobService(mount_patience=1.0, entry_points={LAUNCHER_IMAGE: launcher}) as running:
        yield running


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The synthesized app."""
    return synthesize(tmp_path_factory.mktemp("chain") / "cdk.out")


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A deployed stack, and what one does with it."""

    cdk: CdkCli
    service: JobService
    outputs: dict[str, str]

    def start(self, job_name: str, name: str, given: Any = None) -> str:
        machine = executions.job_state_machine("Chain", job_name)
        return executions.start(machine, name=name, given={} if given is None else given)

    def run(self, job_name: str, name: str, **hyperparameters: Any) -> Ended:
        return executions.wait(self.start(job_name, name, {"hyperparameters": hyperparameters}))

    def jobs(self, prefix: str) -> list[EmulatedJob]:
        return [job for name, job in sorted(self.service.jobs.items()) if name.startswith(prefix)]

    def log(self, job: EmulatedJob) -> str:
        logs = boto3.client("logs")
        group = "/aws/sagemaker/TrainingJobs"
        streams = logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{job.name}/")["logStreams"]
        return "\n".join(
            event["message"]
            for stream in streams
            for event in logs.get_log_events(
                logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
            )["events"]
        )

    def read(self, key: str) -> bytes:
        body: bytes = boto3.client("s3").get_object(Bucket=self.outputs["Bucket"], Key=key)["Body"].read()
        return body

    def clear_checkpoints(self) -> None:
        bucket = boto3.resource("s3").Bucket(self.outputs["Bucket"])
        bucket.objects.filter(Prefix="checkpoints/").delete()


@pytest.fixture(scope="session")
def deployed(server: Server, service: JobService, app: Path) -> Chain:
    """The stack, deployed by the CDK's own command line into a bootstrapped account, with data in its bucket."""
    cdk = CdkCli(app, server.environment)
    cdk.bootstrap()
    outputs = cdk.deploy()["Chain"]
    client = boto3.client("s3")
    client.put_object(Bucket=outputs["Bucket"], Key="corpus/part-0.txt", Body=b"hello ")
    client.put_object(Bucket=outputs["Bucket"], Key="corpus/deeper/part-1.txt", Body=b"world")
    return Chain(cdk=cdk, service=service, outputs=outputs)


@pytest.fixture
def chain(deployed: Chain) -> Chain:
    """The deployed stack without checkpoints of earlier runs."""
    deployed.clear_checkpoints()
    return deployed


def eventually(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """What a condition gives once it is true, within a generous time."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)
    return found
