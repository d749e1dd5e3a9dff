"""`dtrain describe`."""

from pathlib import Path

from tests.cli.conftest import Dtrain
from tests.local.handmade_app import request, write_app


def test_the_synthesized_example(dtrain: Dtrain, synthesized: Path) -> None:
    result = dtrain("describe", "--app", str(synthesized))
    assert result.returncode == 0, result.stderr
    for text in (
        "AWS::EC2::VPC ",
        "AWS::StepFunctions::StateMachine",
        "2: algo-1, algo-2",
        "ml.c7i.2xlarge",
        "channel train",
        "hyperparameter lr",
        "launcher torchrun --nproc-per-node 2 -- train.py",
        "--node-rank 1",
        "(ranks 2 to 3 of 4)",
    ):
        assert text in result.stdout


def test_overrides_and_several_jobs(dtrain: Dtrain, tmp_path: Path) -> None:
    jobs = {"Training/Small": request(["true"]), "Training/Large": request(["true"])}
    write_app(tmp_path / "cdk.out", jobs)
    both = dtrain("describe").stdout
    assert both.index("Training job Training/Large") < both.index("Training job Training/Small")
    one = dtrain("describe", "Training/Small", "--instance-count", "3", "--hyperparameter", "lr=1").stdout
    assert "Training/Large" not in one
    assert "3: algo-1, algo-2, algo-3" in one
    assert "hyperparameter lr │ 1" in one


def test_an_app_without_jobs(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {})
    result = dtrain("describe")
    assert result.returncode == 0
    assert "No training job in this app." in result.stdout


def test_a_missing_app(dtrain: Dtrain) -> None:
    result = dtrain("describe")
    assert result.returncode == 2
    assert "synthesize the app first" in result.stderr


def test_neither_the_cdk_nor_node_is_loaded(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    result = dtrain("describe", before=("env", "PYTHONPROFILEIMPORTTIME=1"))
    assert result.returncode == 0
    assert "cdk_distributed_training.local" in result.stderr
    assert not [line for line in result.stderr.splitlines() if line.endswith((" aws_cdk", " jsii", " constructs"))]
