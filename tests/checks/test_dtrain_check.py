"""The command as people and programs use it."""

import json
import subprocess
import sys
import textwrap

import pytest

from cdk_distributed_training.checks import examples
from cdk_distributed_training.checks.registry import all_rules

BAD = examples.lustre(StorageCapacity=1300, attributes={"DeletionPolicy": None}).text()
GOOD = examples.lustre().text()
WARNED = examples.lustre(attributes={"DeletionPolicy": None}).text()


@pytest.fixture
def run(tmp_path):
    def call(*arguments, **files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        command = [sys.executable, "-c", "from cdk_distributed_training.cli import main; main()", "check", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    return call


def test_finds_and_fails(run):
    done = run("bad.json", bad_json=BAD)
    assert done.returncode == 1, done.stderr
    assert "error DT203  bad.json:9:28" in done.stdout
    assert "Resources.FileSystem.Properties.StorageCapacity  (FileSystem)" in done.stdout
    assert "fix: choose 1,200 or 2,400 GiB" in done.stdout
    assert "1 document: 1 error, 1 warning, 0 information" in done.stdout


def test_good_file(run):
    done = run("good.json", good_json=GOOD)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "1 document: 0 errors, 0 warnings, 0 information")


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("information", 1), ("never", 0)])
def test_exit_code_by_severity(run, fail_on, code):
    assert run("--fail-on", fail_on, "a.json", a_json=WARNED).returncode == code


def test_json(run):
    found = json.loads(run("--format", "json", "bad.json", "good.json", bad_json=BAD, good_json=GOOD).stdout)
    assert found["counts"] == {"error": 1, "warning": 1, "information": 0}
    assert found["documents"] == 2
    (first, _) = found["findings"]
    assert (first["rule"], first["file"], first["line"], first["resource"]) == ("DT203", "bad.json", 9, "FileSystem")
    assert {item["rule"] for item in found["not_judged"]} >= {"DT270"}


def test_sarif(run):
    (found,) = json.loads(run("--format", "sarif", "bad.json", bad_json=BAD).stdout)["runs"]
    described = {rule["id"]: rule for rule in found["tool"]["driver"]["rules"]}
    assert set(described) == {"DT203", "DT252"}
    for result in found["results"]:
        assert list(described)[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"] == {"uri": "bad.json"}
        assert location["physicalLocation"]["region"]["startLine"] >= 1
    assert [result["level"] for result in found["results"]] == ["error", "warning"]


IGNORE = textwrap.dedent(
    """
    ignore:
      - rule: DT203
        resource: FileSystem
        reason: made before the rule
      - rule: DT252
        resource: Other
        reason: never used
    """
)


def test_ignored_with_reasons(run):
    done = run("bad.json", bad_json=BAD, **{"dtrain-ignore_yaml": IGNORE})
    assert done.returncode == 0, done.stdout
    assert "ignored: 1" in done.stdout
    assert "ignored nowhere: DT252 Other" in done.stdout
    named = run("--ignore", "x.yaml", "--format", "sarif", "bad.json", bad_json=BAD, x_yaml=IGNORE)
    results = json.loads(named.stdout)["runs"][0]["results"]
    reasons = [result["suppressions"][0]["justification"] for result in results if "suppressions" in result]
    assert reasons == ["made before the rule"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ignore: [{rule: DT203}]", "x.yaml:1: entry 1: no reason"),
        ("ignore:\n- {rule: DT999, reason: a}", "x.yaml:2: entry 1: no rule has the id 'DT999'"),
        ("ignore: [{rule: DT203, reason: a, resorce: b}]", "unknown resorce"),
        ("ignore: [DT203]", "expected rule, reason"),
        ("- a", "expected a list named ignore"),
    ],
)
def test_ignore_file_that_is_wrong(run, text, message):
    done = run("--ignore", "x.yaml", "good.json", good_json=GOOD, x_yaml=text)
    assert done.returncode == 2
    assert message in done.stderr


def test_explain(run):
    done = run("--explain", "dt203")
    assert done.stdout.startswith("# DT203: A capacity that FSx does not make")
    unknown = run("--explain", "DT2033")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "no rule has the id 'DT2033'; near are " in unknown.stderr


@pytest.mark.parametrize(
    ("arguments", "files", "message"),
    [
        ((), {}, "no FILE"),
        (("no.json",), {}, "no.json: No such file or directory"),
        (("a.json",), {"a_json": "{"}, "a.json:1:2: not JSON"),
        (("a.yaml",), {"a_yaml": "a: ["}, "a.yaml:2:1: not YAML"),
        (("a.yaml",), {"a_yaml": "a: 1"}, "a.yaml: none of: CloudFormation template"),
        ((".",), {}, "a folder without manifest.json"),
    ],
)
def test_what_cannot_be_read(run, arguments, files, message):
    done = run(*arguments, **files)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_synthesized_app(run, tmp_path):
    folder = tmp_path / "cdk.out"
    (folder / "assembly-Prod").mkdir(parents=True)
    (folder / "Stack.template.json").write_text(BAD)
    (folder / "assembly-Prod" / "Inner.template.json").write_text(GOOD)
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://111111111111/us-east-1",
        "properties": {"templateFile": "Stack.template.json"},
        "metadata": {"/Stack/Data/Resource": [{"type": "aws:cdk:logicalId", "data": "FileSystem"}]},
    }
    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Prod"}}
    inner = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Inner.template.json"}}
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {"Stack": stack, "Stage": stage}}))
    (folder / "assembly-Prod" / "manifest.json").write_text(json.dumps({"artifacts": {"Inner": inner}}))
    for named in ("cdk.out", "cdk.out/manifest.json"):
        found = json.loads(run("--format", "json", named).stdout)
        assert found["documents"] == 2
        assert [item["construct"] for item in found["findings"]] == ["Stack/Data/Resource"] * 2


MOVED = examples.lustre(SubnetIds=["subnet-0fedcba9876543210"], attributes={"UpdateReplacePolicy": "Delete"}).text()
STACK = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Stack.template.json"}}


def test_against_what_is_deployed(run):
    done = run("--against", "good.json", "new.json", good_json=GOOD, new_json=MOVED)
    assert done.returncode == 1, done.stderr
    assert "error DT280  new.json:" in done.stdout
    assert "got a file system that is replaced by SubnetIds from" in done.stdout
    assert run("--against", "good.json", "good.json").returncode == 0
    assert run("new.json").returncode == 0
    nothing = run("--against", "a.json", "good.json", a_json='{"TrainingJobName": "a"}')
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "a.json: no CloudFormation template, so nothing to compare with" in nothing.stderr


def test_against_another_synthesis(run, tmp_path):
    for name, text in {"old": GOOD, "new": MOVED}.items():
        (tmp_path / name).mkdir()
        artifacts = {"Stack": STACK}
        if name == "new":  # a stack that is not deployed yet
            artifacts["Other"] = {**STACK, "properties": {"templateFile": "Other.template.json"}}
            (tmp_path / name / "Other.template.json").write_text(GOOD)
        (tmp_path / name / "Stack.template.json").write_text(text)
        (tmp_path / name / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    found = json.loads(run("--format", "json", "--against", "old", "new").stdout)["findings"]
    assert [(item["rule"], item["file"]) for item in found] == [("DT280", "new/Stack.template.json")]


WITHOUT_NODE = """
import subprocess, sys

def refuse(*arguments, **keywords):
    raise AssertionError("a process was started")

subprocess.Popen.__init__ = refuse
from cdk_distributed_training.cli.app import app
code = app(["check", "bad.json"], standalone_mode=False)
print(code, sorted(sys.modules.keys() & {"aws_cdk", "constructs", "jsii", "botocore"}))
"""


def test_neither_node_nor_cdk(tmp_path):
    (tmp_path / "bad.json").write_text(BAD)
    command = [sys.executable, "-c", WITHOUT_NODE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "error DT203" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "1 []", done.stderr


def test_every_rule_can_be_explained():
    assert all(rule.id == rule_id for rule_id, rule in all_rules().items())
