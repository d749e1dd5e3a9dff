"""What a user has changed since the synthesis is named, for it does not run."""

import os

import pytest

from cdk_distributed_training.local.changed_code import changed_code

SYNTHESIZED = 1_000_000


@pytest.fixture
def app(tmp_path):
    def write(name, written):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
        os.utime(file, (written, written))
        return file

    write("cdk.out/manifest.json", SYNTHESIZED)
    write("code/train.py", SYNTHESIZED - 10)
    return write


def test_unchanged_code_is_not_named(app, tmp_path):
    assert changed_code(tmp_path / "cdk.out", "code") is None


def test_the_file_that_was_changed_last_is_named(app, tmp_path):
    app("code/train.py", SYNTHESIZED + 10)
    model = app("code/parts/model.py", SYNTHESIZED + 20)
    assert changed_code(tmp_path / "cdk.out", "code") == model


def test_what_is_no_code_may_change(app, tmp_path):
    app("code/__pycache__/train.pyc", SYNTHESIZED + 10)
    app("code/local-runs/a/job.log", SYNTHESIZED + 10)
    app("code/cdk.out/tree.json", SYNTHESIZED + 10)
    assert changed_code(tmp_path / "cdk.out", "code") is None


@pytest.mark.parametrize("folder", [None, "not-on-this-machine"])
def test_an_unknown_folder_is_not_judged(app, tmp_path, folder):
    assert changed_code(tmp_path / "cdk.out", folder) is None


def test_a_link_to_nothing_is_passed_over(app, tmp_path):
    (tmp_path / "code/data").symlink_to(tmp_path / "nothing")
    assert changed_code(tmp_path / "cdk.out", "code") is None
