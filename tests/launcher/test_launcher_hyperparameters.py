"""Hyperparameters to arguments: the table in the module's own documentation."""

import argparse
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training_launcher.hyperparameters import read_hyperparameters, to_arguments
from training_launcher.problems import Problem


def arguments_of(tmp_path: Path, content: object, encoding: str = "auto", booleans: str = "value") -> list[str]:
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "hyperparameters.json").write_text(text)
    return to_arguments(read_hyperparameters(str(tmp_path), encoding), booleans=booleans)


@pytest.mark.parametrize(
    ("content", "arguments"),
    [
        ({}, []),
        ({"lr": "3e-4"}, ["--lr", "3e-4"]),
        ({"lr": "1e5", "n": "007"}, ["--lr", "1e5", "--n", "007"]),
        ({"b": "2", "a": "1"}, ["--a", "1", "--b", "2"]),
        ({"x": ""}, ["--x", ""]),
        ({"k": "it's \"q\"\n\t\\ ünï ☃ $(x)"}, ["--k", "it's \"q\"\n\t\\ ünï ☃ $(x)"]),
        ({"batch-size": "1", "optim.lr": "2", "snake_case": "3"},
         ["--batch-size", "1", "--optim.lr", "2", "--snake_case", "3"]),
        ({"l": '[1, "a", {"b": null}]'}, ["--l", '[1, "a", {"b": null}]']),
        ({"o": '{"a":  1}', "p": "plain"}, ["--o", '{"a":  1}', "--p", "plain"]),
        ({"t": "true", "f": "False"}, ["--f", "False", "--t", "true"]),
        ({"neg": "-1.5e-3", "dash": "-quiet", "dashes": "--x y"},
         ["--dash=-quiet", "--dashes=--x y", "--neg", "-1.5e-3"]),
        ({"sagemaker_program": "x.py", "sagemaker_region": "r", "_tuning_objective_metric": "m", "keep": "1"},
         ["--keep", "1"]),
        # every value is JSON: the SageMaker Python SDK 2 wrote them
        ({"optimizer": '"adam"', "lr": "0.1", "amp": "true"}, ["--amp", "true", "--lr", "0.1", "--optimizer", "adam"]),
        ({"path": '"a\\"b\\n\\u00e9"'}, ["--path", 'a"b\né']),
        ({"number_as_text": '"1"', "list": '[1, "x"]'}, ["--list", '[1, "x"]', "--number_as_text", "1"]),
        # one is not: they are plain, and quotes are the user's
        ({"optimizer": '"adam"', "name": "run 1"}, ["--name", "run 1", "--optimizer", '"adam"']),
    ],
)  # fmt: skip
def test_arguments(tmp_path: Path, content: object, arguments: list[str]) -> None:
    assert arguments_of(tmp_path, content) == arguments


def test_booleans_as_flags(tmp_path: Path) -> None:
    content = {"amp": "true", "compile": "false", "debug": "True", "x": "truely"}
    assert arguments_of(tmp_path, content, booleans="flag") == ["--amp", "--debug", "--x", "truely"]


def test_the_encoding_can_be_said(tmp_path: Path) -> None:
    assert arguments_of(tmp_path, {"q": '"a"'}, "plain") == ["--q", '"a"']
    assert arguments_of(tmp_path, {"q": '"a"', "r": "b c"}, "json") == ["--q", "a", "--r", "b c"]


def test_a_file_written_by_hand(tmp_path: Path) -> None:
    """Numbers keep their spelling."""
    text = '{"lr": 1e-7, "big": 12345678901234567890, "amp": true, "none": null, "l": [1, 0.5, "é"]}'
    assert arguments_of(tmp_path, text) == [
        "--amp", "true", "--big", "12345678901234567890", "--l", '[1, 0.5, "é"]', "--lr", "1e-7", "--none", "null",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[1]", "must hold a JSON object, got list"),
        ('{"": "x"}', "has an empty name"),
        ('{"a": "x\\u0000y"}', "'a' holds a NUL character"),
        (b"\xff", "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    (tmp_path / "hyperparameters.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Problem) as raised:
        read_hyperparameters(str(tmp_path))
    assert message in raised.value.message
    assert "hyperparameters.json" in raised.value.message


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(TEXT.filter(lambda text: text != "--"))  # which argparse itself loses
def test_any_text_reaches_a_parser(value: str) -> None:
    """As people parse them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--value")
    assert parser.parse_args(to_arguments({"value": value})).value == value


@given(st.dictionaries(st.text("abcdef", min_size=1), TEXT))
def test_what_the_sagemaker_sdk_encodes_comes_out_as_it_went_in(values: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hyperparameters.json").write_text(
            json.dumps({name: json.dumps(value) for name, value in values.items()})
        )
        assert read_hyperparameters(folder) == values


def test_a_file_brings_what_the_api_has_no_room_for(tmp_path: Path) -> None:
    config, channel = tmp_path / "config", tmp_path / "data" / "launcher-hyperparameters"
    config.mkdir()
    channel.mkdir(parents=True)
    (config / "hyperparameters.json").write_text(json.dumps({"lr": "0.1", "labels": "overridden"}))
    long = json.dumps(["é" * 50] * 100)
    (channel / "0123abcd.json").write_text(json.dumps({"labels": "in the file", "classes": long}))
    (channel / "notes.txt").write_text("not read")
    assert to_arguments(read_hyperparameters(str(config))) == [
        "--classes", long, "--labels", "overridden", "--lr", "0.1",
    ]  # fmt: skip


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    config, channel = tmp_path / "config", tmp_path / "data" / "launcher-hyperparameters"
    config.mkdir()
    channel.mkdir(parents=True)
    (channel / "0123abcd.json").write_text("[1]")
    with pytest.raises(Problem, match=r"0123abcd\.json"):
        read_hyperparameters(str(config))
