"""Every app in docs/examples runs as it stands there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.mark.parametrize("app", APPS, ids=[app.stem for app in APPS])
def test_app_synthesizes(app, tmp_path):
    (tmp_path / "digits").symlink_to(ROOT / "examples" / "digits")
    done = subprocess.run(
        [sys.executable, app],
        cwd=tmp_path,
        env={**os.environ, "CDK_OUTDIR": str(tmp_path / "cdk.out"), "CDK_VALIDATION": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "cdk.out").glob("*.template.json")
    kinds = [resource["Type"] for resource in json.loads(file.read_text())["Resources"].values()]
    assert "AWS::StepFunctions::StateMachine" in kinds


def test_the_page_names_every_app():
    page = (ROOT / "docs" / "examples" / "README.md").read_text()
    assert all(app.name in page for app in APPS)
