"""Shapes of stacks that people deploy: exactly what an expert would say of each, and nothing else."""

import datetime
from pathlib import Path

import pytest
import yaml

from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.rules import request_images
from cdk_distributed_training.checks.template.document import read
from cdk_distributed_training.checks.template.pairs import paired

CORPUS = Path(__file__).parent / "corpus"
EXPECTED = yaml.safe_load((CORPUS / "expected.yaml").read_text())


@pytest.fixture(autouse=True)
def one_day(monkeypatch):
    monkeypatch.setattr(request_images, "today", lambda: datetime.date(2026, 11, 30))


@pytest.mark.parametrize("name", EXPECTED)
def test_findings(name):
    documents = read(CORPUS / name)
    deployed = CORPUS / f"{Path(name).stem}.deployed.yaml"
    if deployed.exists():
        documents = paired(documents, read(deployed), named=str(deployed))
    (document,) = documents
    found = [
        " ".join(filter(None, [item.finding.severity.value, item.finding.rule, item.logical_id, item.choice]))
        for item in judge(document).judgements
    ]
    assert sorted(found) == EXPECTED[name]


def test_every_file_is_listed():
    names = {path.name for path in CORPUS.iterdir()} - {"README.md", "expected.yaml"}
    files = {name for name in names if ".deployed." not in name}
    assert files == set(EXPECTED)
    listed = (CORPUS / "README.md").read_text()
    assert all(f"`{name}`" in listed for name in files)
    assert len(files) >= 10
