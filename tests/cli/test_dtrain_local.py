"""`dtrain local`, for real."""

import json
import os
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Dtrain
from tests.local.handmade_app import request, write_app, write_launcher_app

ACCURACY = re.compile(r"^\[algo-1 rank 0\] accuracy=(\d\.\d+)$", re.MULTILINE)


def only_run(folder: Path) -> Path:
    (run,) = (folder / "local-runs").iterdir()
    return run


@pytest.mark.parametrize("hosts", ["namespaces", "loopback"])
def test_the_synthesized_example_learns(
    hosts: str, dtrain: Dtrain, synthesized: Path, digits: Path, tmp_path: Path
) -> None:
    result = dtrain("local", "--app", str(synthesized), "--channel", f"train={digits}", "--hosts", hosts)
    assert result.returncode == 0, result.stdout + result.stderr
    run = only_run(tmp_path)
    log = (run / "job.log").read_text()
    assert float(ACCURACY.findall(log)[0]) >= 0.95
    assert {"[launcher algo-1]", "[launcher algo-2]"} <= {line.partition("] ")[0] + "]" for line in log.splitlines()}
    assert "accuracy=" in (run / "algo-1.log").read_text()
    assert sorted(str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()) == [
        "algo-1.log",
        "algo-2.log",
        "checkpoints/checkpoint.pt",
        "job.log",
        "model/model.pt",
        "run.json",
    ]
    end = result.stdout.splitlines()[-4:]
    assert re.match(r"Completed after \d+\.\d s of training", end[0])
    assert end[1].split() == ["model", str(run.relative_to(tmp_path) / "model"), "(model.pt)"]
    facts = json.loads((run / "run.json").read_text())
    assert (facts["status"], facts["hosts_kind"], facts["construct"]) == ("Completed", hosts, "Training/Job")
    assert f"2 hosts ({hosts}): algo-1, algo-2" in result.stdout


def test_code_that_was_changed_since_the_synthesis_is_named(dtrain: Dtrain, tmp_path: Path) -> None:
    app = write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    for file in app.glob("*.json"):
        file.write_text(file.read_text().replace('"schema": 1', '"schema": 1, "source_folder": "code"'))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").touch()
    result = dtrain("local")
    assert result.returncode == 0, result.stderr
    assert "note: code/train.py was changed after cdk.out was synthesized" in result.stderr
    (tmp_path / "code" / "train.py").unlink()
    assert "note:" not in dtrain("local").stderr


def test_overrides_reach_the_script(dtrain: Dtrain, tmp_path: Path) -> None:
    script = 'cat /opt/ml/input/config/hyperparameters.json; echo "$0 $EPOCHS"; ls /opt/ml/checkpoints'
    job = request(
        ["sh", "-c", script, "shell"],
        HyperParameters={"lr": "0.1", "epochs": {"Ref": "Epochs"}},
        Environment={"EPOCHS": {"Ref": "Epochs"}, "ROLE": {"Fn::GetAtt": ["Role1ABC", "Arn"]}},
    )
    write_app(tmp_path / "cdk.out", {"Training/Job": job})
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "step-7").touch()
    result = dtrain(
        *("local", "Training/Job", "--instance-count", "1", "--output", "run"),
        *("--hyperparameter", "lr=3e-4", "--hyperparameter", "note=a=b 'c'", "--checkpoints", "earlier"),
    )
    assert result.returncode == 0, result.stderr
    lines = (tmp_path / "run" / "algo-1.log").read_text().splitlines()
    hyperparameters, rest = lines[0].partition("}")[:2], lines[1:]
    assert json.loads("".join(hyperparameters)) == {"lr": "3e-4", "epochs": "3", "note": "a=b 'c'"}
    assert (lines[0].partition("}")[2], rest) == ("shell 3", ["step-7"])
    assert "Role1ABC.Arn is known only after a deployment" in result.stdout
    assert "Bucket" not in result.stdout
    assert not (tmp_path / "run" / "algo-2.log").exists()
    assert "none: the script saved nothing to SM_MODEL_DIR" in result.stdout


def test_a_failing_rank_ends_the_run_with_its_reason(dtrain: Dtrain, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text("raise RuntimeError('loss is NaN at step 7')\n")
    write_launcher_app(tmp_path / "cdk.out", source, "train.py", ResourceConfig={
        "InstanceCount": 1, "InstanceType": "ml.c5.xlarge"})  # fmt: skip
    result = dtrain("local")
    run = only_run(tmp_path)
    assert result.returncode == 1
    assert "RuntimeError: loss is NaN at step 7" in (run / "failure").read_text()
    assert "Failed after" in result.stdout
    assert "AlgorithmError: " in result.stdout
    assert "loss is NaN at step 7" in result.stdout.partition("Failed after")[2]
    assert str(run.relative_to(tmp_path) / "failure") in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up rights that an ordinary user has not")
def test_without_rights_it_falls_back_to_loopback_and_says_so(dtrain: Dtrain, tmp_path: Path) -> None:
    write_app(tmp_path / "cdk.out", {"Training/Job": request(["true"])})
    without = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")
    result = dtrain("local", before=without)
    assert result.returncode == 0, result.stderr
    assert "2 hosts (loopback)" in result.stdout
    assert "no rights to make network namespaces" in result.stdout
    refused = dtrain("local", "--hosts", "namespaces", before=without)
    assert refused.returncode == 2
    assert "no rights to make network namespaces" in refused.stderr
    assert "--hosts loopback needs no rights" in refused.stderr
    assert "Traceback" not in refused.stderr
