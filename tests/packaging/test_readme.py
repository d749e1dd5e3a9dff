"""Every Python example in the README runs as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_synthesizes(example: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(example)
    (tmp_path / "digits").symlink_to(ROOT / "examples" / "digits")
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=tmp_path,
        env={**os.environ, "CDK_OUTDIR": str(tmp_path / "cdk.out"), "CDK_VALIDATION": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "cdk.out").glob("*.template.json"))


@pytest.mark.parametrize("target", ["demo", "test"])
def test_both_commands_exist(target: str) -> None:
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
