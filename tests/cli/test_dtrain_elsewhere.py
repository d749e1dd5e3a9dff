"""What `dtrain` says of jobs that only AWS can run: a serverless job, and a job on a cluster of HyperPod."""

from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.cli.conftest import Dtrain
from tests.engines.hyperpod_stack import job, network, slurm_cluster, stack

import cdk_distributed_training as dt

MODEL = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/llama"


def tune(scope: cdk.Stack) -> None:
    config = dt.ServerlessJobConfig(
        base_model_arn=MODEL, job_type="FineTuning", customization_technique="SFT", peft="LORA", accept_eula=True
    )
    dt.ServerlessTrainingJob(
        scope, "Tune", serverless=config, channels=[dt.Channel.from_s3_uri("train", "s3://corpus/talks/")]
    )


@pytest.fixture(scope="module")
def serverless(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("serverless") / "cdk.out"
    scope = stack(folder)
    tune(scope)
    scope.node.root.synth()
    return str(folder)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("both") / "cdk.out"
    scope = stack(folder)
    of = network(scope)
    one = job(scope, tmp_path_factory.mktemp("source"), of)
    dt.HyperPodJob(scope, "OnCluster", job=one, cluster=slurm_cluster(scope, of), group="workers")
    tune(scope)
    scope.node.root.synth()
    return str(folder)


def words(text: str) -> str:
    """Without the places where lines end."""
    return " ".join(text.split())


@pytest.mark.parametrize("named", [(), ("HyperPod/Tune",)], ids=["unnamed", "named"])
def test_a_serverless_job_does_not_run_here(dtrain: Dtrain, serverless: str, named: tuple[str, ...]) -> None:
    result = dtrain("local", *named, "--app", serverless)
    assert result.returncode == 2
    assert "HyperPod/Tune is a ServerlessTrainingJob: SageMaker runs it by a script" in words(result.stderr)
    assert "add a DistributedTrainingJob" not in result.stderr
    assert "Traceback" not in result.stderr


def test_a_serverless_job_is_described_by_its_resources(dtrain: Dtrain, serverless: str) -> None:
    result = dtrain("describe", "--app", serverless)
    assert result.returncode == 0, result.stderr
    assert "AWS::StepFunctions::StateMachine" in result.stdout
    assert "HyperPod/Tune is a ServerlessTrainingJob" in words(result.stdout)
    assert "No training job in this app." not in result.stdout


def test_the_way_from_a_job_on_a_cluster_to_the_job(dtrain: Dtrain, both: str) -> None:
    result = dtrain("describe", "HyperPod/OnCluster", "--app", both)
    assert result.returncode == 0, result.stderr
    assert "HyperPod/OnCluster is a HyperPodJob: the nodes of a HyperPod cluster run it" in words(result.stdout)
    assert "runs its job HyperPod/Job on this machine" in words(result.stdout)
    assert "Training job HyperPod/Job" in result.stdout


def test_the_job_itself_is_described(dtrain: Dtrain, both: str) -> None:
    result = dtrain("describe", "--app", both)
    assert result.returncode == 0, result.stderr
    for text in ("HyperPod/OnCluster is a HyperPodJob", "HyperPod/Tune is a Serv", "Training job HyperPod/Job"):
        assert text in words(result.stdout)
    # it is the only one that can run here, so that it needs no name
    alone = dtrain("describe", "HyperPod/Job", "--app", both)
    assert alone.returncode == 0, alone.stderr
    assert "Tune" not in alone.stdout


def test_stages_are_read_too(dtrain: Dtrain, tmp_path: Path) -> None:
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    tune(cdk.Stack(cdk.Stage(app, "Prod"), "Training"))
    app.synth()
    result = dtrain("local", "Prod/Training/Tune")
    assert result.returncode == 2
    assert "Prod/Training/Tune is a ServerlessTrainingJob" in words(result.stderr)
