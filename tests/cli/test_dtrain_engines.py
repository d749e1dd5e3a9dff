"""Queues, schedules, tuning jobs and their like, named on the command line: their job runs here in their place."""

from pathlib import Path

import pytest
from tests.cli.conftest import Dtrain
from tests.cli.engines_app import IMAGE, MODEL, synthesize
from tests.cli.test_dtrain_elsewhere import words

KINDS = {
    "Nightly": ("TrainingSchedule", "Job"),
    "OnEc2": ("MultiNodeParallelJob", "Job"),
    "OnNewData": ("TrainingOnNewData", "Job"),
    "Pipeline": ("TrainingPipeline", "Job"),
    "Queued": ("QueuedTrainingJob", "Job"),
    "Tuning": ("TunedTrainingJob", "Inside"),
}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(synthesize(tmp_path_factory.mktemp("engines")))


def test_the_job_of_a_queue_runs_here_without_it(dtrain: Dtrain, engines: str) -> None:
    result = dtrain("local", "Training/Queued", "--app", engines)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Training/Queued is a QueuedTrainingJob: a queue of AWS Batch starts it" in result.stdout
    assert "here Training/Job runs without that" in result.stdout
    assert "['--epochs', '3', '--lr', '0.5'] rank 0 of 1" in result.stdout


def test_a_schedule_overrides_and_the_person_overrides_the_schedule(dtrain: Dtrain, engines: str) -> None:
    result = dtrain("local", "Training/Nightly", "--app", engines, "--hyperparameter", "epochs=1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Training/Nightly is a TrainingSchedule" in result.stdout
    assert "Training/Queued is a QueuedTrainingJob" in result.stdout
    assert "['--epochs', '1', '--lr', '0.25'] rank 1 of 2" in result.stdout
    alone = dtrain(
        "describe", "Training/Nightly", "--app", engines, "--instance-count", "1", "--hyperparameter", "lr=7"
    )
    assert "python3 -u train.py --epochs 3 --lr 7 (rank 0 of 1)" in words(alone.stdout.replace("│", " "))


def test_one_trial_of_a_tuning_job_runs(dtrain: Dtrain, engines: str) -> None:
    result = dtrain("local", "Training/Tuning", "--app", engines, "--hyperparameter", "optimizer=sgd")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "['--layers', '4', '--lr', '1e-05', '--optimizer', 'sgd'] rank 0 of 1" in result.stdout
    assert "tuning chooses lr from 1e-05 to 0.01; here it is 1e-05: --hyperparameter lr=VALUE" in result.stdout
    assert "tuning chooses layers from 2 to 8; here it is the job's own 4" in result.stdout
    assert "tuning chooses optimizer" not in result.stdout
    assert "stands in for the launcher in the job's image" in result.stdout


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_is_described_with_its_job(dtrain: Dtrain, engines: str, name: str) -> None:
    result = dtrain("describe", f"Training/{name}", "--app", engines)
    assert result.returncode == 0, result.stderr
    kind, job = KINDS[name]
    said = words(result.stdout)
    assert f"Training/{name} is a {kind}: " in said
    assert f"`dtrain local Training/{name}` runs its job Training/{job} on this machine" in said
    assert f"Training job Training/{job}" in said
    assert "(rank 0 of" in said


def test_the_plan_of_an_image_with_the_launcher_inside(dtrain: Dtrain, engines: str) -> None:
    result = dtrain("describe", "Training/Inside", "--app", engines, "--instance-count", "2")
    said = words(result.stdout.replace("│", " "))
    assert IMAGE in said
    assert "<the image's own entry point> processes --nproc-per-node 1 -- train.py" in said
    assert "algo-2 python3 -u train.py --layers 4 (rank 1 of 2)" in said


def test_what_a_serverless_job_asks_for(dtrain: Dtrain, engines: str) -> None:
    result = dtrain("describe", "Training/Tune", "--app", engines)
    assert result.returncode == 0, result.stderr
    for text in ("Training/Tune is a ServerlessTrainingJob", MODEL, "s3://corpus/talks/", "0.0001", "FineTuning"):
        assert text in words(result.stdout)
    refused = dtrain("local", "Training/Tune", "--app", engines)
    assert refused.returncode == 2
    assert "which this machine cannot do; `dtrain describe Training/Tune` shows" in words(refused.stderr)


def test_a_job_of_another_app(dtrain: Dtrain, engines: str) -> None:
    result = dtrain("local", "Training/Weekly", "--app", engines)
    assert result.returncode == 2
    assert "its job Training/Old is defined in another app" in words(result.stderr)
    shown = dtrain("describe", "Training/Weekly", "--app", engines)
    assert shown.returncode == 0, shown.stderr
    assert "its job Training/Old is defined in another app" in words(shown.stdout)


def test_engines_are_among_the_names_that_are_offered(dtrain: Dtrain, engines: str, tmp_path: Path) -> None:
    result = dtrain("local", "Training/Quued", "--app", engines)
    assert result.returncode == 2
    assert "did you mean Training/Queued?" in result.stderr
    assert not list(tmp_path.glob("local-runs/*"))
