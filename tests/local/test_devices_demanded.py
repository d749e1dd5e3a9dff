"""Options of a job that ask for devices: refused by name where there are none, left out where that is asked for."""

from pathlib import Path
from typing import Any

import pytest
from tests.local.handmade_app import request, s3_channel

from cdk_distributed_training.local.accelerators import refuse_unmet, without_unmet
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.input_modes import refuse_pipes

ARGUMENTS = ["torchrun", "--require-efa", "--collectives", "nccl", "--nproc-per-node", "2", "--", "train.py"]


def job(*arguments: str, **members: Any) -> dict[str, Any]:
    return request(["python3"], list(arguments), **members)


def test_every_option_that_stops_the_job_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalModeError) as refused:
        refuse_unmet(job(*ARGUMENTS), root=tmp_path)
    assert str(refused.value).splitlines() == [
        "the job has --require-efa, and this machine lacks an EFA device",
        "the job has --collectives nccl, and this machine lacks an NVIDIA GPU",
        "--without-accelerators runs it with what this machine has; it does not go with --deploy",
    ]


def test_they_are_left_out_and_nothing_else(tmp_path: Path) -> None:
    before = job(*ARGUMENTS, Environment={"TRAINING_COLLECTIVES": "neuron", "A": "1"})
    changed, left_out = without_unmet(before, root=tmp_path)
    assert changed["AlgorithmSpecification"]["ContainerArguments"] == [
        "torchrun", "--nproc-per-node", "2", "--", "train.py"]  # fmt: skip
    assert changed["Environment"] == {"A": "1"}
    assert [demand.needs for demand in left_out] == ["an EFA device", "an NVIDIA GPU", "a Neuron device"]
    assert before == job(*ARGUMENTS, Environment={"TRAINING_COLLECTIVES": "neuron", "A": "1"})
    refuse_unmet(changed, root=tmp_path)


def test_what_the_machine_has_stays(tmp_path: Path) -> None:
    for device in ("sys/class/infiniband/rdmap0s6", "dev/nvidia0"):
        (tmp_path / device).mkdir(parents=True)
    refuse_unmet(job(*ARGUMENTS), root=tmp_path)
    assert without_unmet(job(*ARGUMENTS), root=tmp_path) == (job(*ARGUMENTS), [])


@pytest.mark.parametrize(
    "arguments",
    [
        ("torchrun", "--", "train.py", "--require-efa", "--collectives", "nccl"),
        ("torchrun", "--collectives", "gloo", "--", "train.py"),
        ("torchrun", "--collectives", "auto", "--", "train.py"),
        (),
    ],
)
def test_the_scripts_own_words_and_other_collectives_demand_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    refuse_unmet(job(*arguments), root=tmp_path)


def test_pipes_are_refused_by_channel() -> None:
    piped = [s3_channel("train", "s3://b/train", InputMode="Pipe"), s3_channel("code", "s3://b/c", InputMode="File")]
    with pytest.raises(LocalModeError, match=r"channel train: input mode Pipe .* FastFile or File"):
        refuse_pipes(job(InputDataConfig=piped))
    refuse_pipes(job(InputDataConfig=piped[1:]))


def test_the_jobs_own_input_mode_holds_for_channels_without_one() -> None:
    one = job(InputDataConfig=[s3_channel("a", "s3://b/a"), s3_channel("b", "s3://b/b", InputMode="FastFile")])
    refuse_pipes(one)
    one["AlgorithmSpecification"]["TrainingInputMode"] = "Pipe"
    with pytest.raises(LocalModeError, match=r"^channel a: "):
        refuse_pipes(one)
