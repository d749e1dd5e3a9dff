"""The launcher's own options as words, what is refused, and that the launcher takes every word."""

import aws_cdk as cdk
import pytest

from cdk_distributed_training.distribution.launcher_options import LauncherOptions
from cdk_distributed_training.distribution.torchrun import Torchrun
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known
from training_launcher.command_line import parse_command_line

EVERYTHING = LauncherOptions(
    hang_timeout=cdk.Duration.minutes(30),
    require_efa=True,
    collectives="nccl",
    preflight="collectives",
    grace=cdk.Duration.seconds(90),
    join_timeout=cdk.Duration.minutes(5),
    boolean_hyperparameters="flag",
)


def test_nothing_unless_given() -> None:
    assert LauncherOptions().launcher_arguments() == []
    assert list(LauncherOptions().findings(known=known)) == []


def test_everything() -> None:
    assert list(EVERYTHING.findings(known=known)) == []
    words = [str(word) for word in EVERYTHING.launcher_arguments()]
    assert words == [
        *("--hang-timeout", "1800", "--grace", "90", "--join-timeout", "300", "--require-efa"),
        *("--collectives", "nccl", "--preflight", "collectives", "--boolean-hyperparameters", "flag"),
    ]
    options = parse_command_line(["torchrun", *words, "--", "train.py"], {}).options
    assert (options.hang_timeout, options.grace, options.join_timeout) == (1800, 90, 300)
    assert (options.require_efa, options.collectives, options.preflight) == (True, "nccl", "collectives")
    assert options.boolean_hyperparameters == "flag"


@pytest.mark.parametrize(
    ("options", "rule", "prop"),
    [
        (LauncherOptions(collectives="mpi"), "DT460", "collectives"),
        (LauncherOptions(preflight="full"), "DT460", "preflight"),
        (LauncherOptions(boolean_hyperparameters="yes"), "DT460", "boolean_hyperparameters"),
        (LauncherOptions(hang_timeout=cdk.Duration.seconds(59)), "DT461", "hang_timeout"),
        (LauncherOptions(grace=cdk.Duration.seconds(0)), "DT461", "grace"),
        (LauncherOptions(join_timeout=cdk.Duration.millis(10)), "DT461", "join_timeout"),
    ],
)
def test_what_is_refused(options: LauncherOptions, rule: str, prop: str) -> None:
    (finding,) = options.findings(known=known)
    assert (finding.rule, finding.prop) == (rule, f"launcher_options.{prop}")


def test_tokens_are_not_judged() -> None:
    token = cdk.Token.as_number({"Ref": "Seconds"})
    options = LauncherOptions(hang_timeout=cdk.Duration.seconds(token), preflight=cdk.Token.as_string({"Ref": "Level"}))
    assert list(options.findings(known=known)) == []
    assert options.launcher_arguments()[1] == token


def test_further_arguments_of_torchrun() -> None:
    torchrun = Torchrun(additional_arguments=["--numa-binding=node"], rdzv_conf={"join_timeout": 900, "timeout": 60})
    assert list(torchrun.findings(Instances("ml.p5.48xlarge", count=2), known=known)) == []
    words = [str(word) for word in torchrun.launcher_arguments()]
    assert words[3:] == ["--rdzv-conf", "join_timeout=900,timeout=60", "--torchrun-argument=--numa-binding=node"]
    options = parse_command_line([*words, "--", "train.py"], {}).options
    assert options.torchrun_argument == ["--numa-binding=node"]


def test_further_arguments_are_words() -> None:
    (finding,) = Torchrun(additional_arguments=["--numa-binding", ""]).findings(
        Instances("ml.p5.48xlarge"), known=known
    )
    assert (finding.rule, finding.prop) == ("DT462", "distribution.additional_arguments")
