"""The command line."""

import pytest

from training_launcher.command_line import base_directory, parse_command_line
from training_launcher.launchers import launcher_kinds
from training_launcher.problems import Problem


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: KIND"),
        (["torchrun"], "there must be `--` and the entry script"),
        (["torchrun", "--"], "no entry script: say it after `--`"),
        (["torchrun", "--", ""], "no entry script"),
        (["torchrun", "--", "-m"], "`-m` must be followed by a module"),
        (["torchrun", "--", "--lr", "1"], "cannot begin with a dash, got '--lr'"),
        (["torchrn", "--", "train.py"], "invalid choice: 'torchrn'"),
        (["torchrun", "--nproc", "2", "--", "train.py"], "unrecognized arguments: --nproc 2"),
        (["torchrun", "--max-restarts", "-1", "--", "t.py"], "must be a whole number of at least 0, got '-1'"),
        (["torchrun", "--master-port", "70000", "--", "t.py"], "whole number of at least 1, got '70000'"),
        (["torchrun", "--grace", "soon", "--", "t.py"], "must be a number of seconds of at least 0, got 'soon'"),
        (["torchrun", "--grace", "nan", "--", "t.py"], "must be a number of seconds"),
    ],
)
def test_what_makes_no_sense_is_named(words: list[str], message: str) -> None:
    with pytest.raises(Problem) as raised:
        parse_command_line(words, {})
    assert message in raised.value.message


def test_everything_behind_the_dashes_is_the_users() -> None:
    request = parse_command_line(["torchrun", "--nproc_per_node", "2", "--", "train.py", "--", "--dry-run"], {})
    assert request.entry.words == ("train.py", "--", "--dry-run")
    assert request.options.nproc_per_node == "2"
    assert not request.options.dry_run


def test_the_base_directory() -> None:
    assert base_directory([], {}) == "/opt/ml"
    assert base_directory([], {"SAGEMAKER_BASE_DIR": "/x"}) == "/x"
    assert base_directory(["torchrun", "--base-dir", "/y", "--", "t.py"], {"SAGEMAKER_BASE_DIR": "/x"}) == "/y"
    assert base_directory(["torchrun", "--base-dir=/z", "--oops"], {}) == "/z"
    assert base_directory(["torchrun", "--", "t.py", "--base-dir", "/y"], {}) == "/opt/ml"


@pytest.mark.parametrize("kind", sorted(launcher_kinds()))
def test_every_kind_has_help(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        parse_command_line([kind, "--help"], {})
    assert raised.value.code == 0
    assert "--grace" in capsys.readouterr().out
