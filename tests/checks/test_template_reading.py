"""Files of all kinds are read, with line and column of what is wrong in them."""

import json

import pytest

from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.template.document import Kind, read, read_text
from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.json_position import JsonPositions
from cdk_distributed_training.checks.template.loader import parse

SHORT_FORMS = """
Resources:
  A: !Ref Name
  B: !GetAtt Fs.DNSName
  C: !GetAtt [Fs, DNSName]
  D: !Sub "${Fs}.x"
  E: !Sub ["${a}", {a: !Ref Name}]
  F: !If [Yes, !Ref Name, !Ref "AWS::NoValue"]
  G: !Join ["", [a, !Ref Name]]
  H: !Select [0, !GetAZs ""]
  I: !FindInMap [A, B, C]
  J: !Condition Yes
  K: !ImportValue x
  L: !Cidr [!GetAtt Vpc.CidrBlock, 4, 8]
  M: !Equals [!Ref Name, 1]
  N: !Base64 text
  O: !Transform {Name: AWS::Include, Parameters: {Location: s3://a}}
"""


def test_short_forms_become_functions():
    rows = parse(SHORT_FORMS, name="a.yaml").content["Resources"]
    assert rows["A"] == {"Ref": "Name"}
    assert rows["B"] == rows["C"] == {"Fn::GetAtt": ["Fs", "DNSName"]}
    assert rows["F"] == {"Fn::If": ["Yes", {"Ref": "Name"}, {"Ref": "AWS::NoValue"}]}
    assert rows["H"] == {"Fn::Select": [0, {"Fn::GetAZs": ""}]}
    assert rows["J"] == {"Condition": "Yes"}
    assert rows["O"] == {"Fn::Transform": {"Name": "AWS::Include", "Parameters": {"Location": "s3://a"}}}


def test_dates_and_versions_stay_text():
    content = parse("Version: 2012-10-17\nLustre: '2.15'\nTime: 2:03:00\n", name="a.yaml").content
    assert content["Version"] == "2012-10-17"
    assert content["Lustre"] == "2.15"


def test_anchors_and_merges():
    content = parse("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n", name="a.yaml").content
    assert content["b"] == {"x": 1, "y": 3}


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ('{"Resources": {,}}', "a.json", r"a\.json:1:16: not JSON"),
        ("Resources:\n  A: [1\n  B: 2\n", "a.yaml", r"a\.yaml:3:\d+: not YAML"),
        ("Resources:\n\tA: 1\n", "a.yaml", r"a\.yaml:2:1: not YAML"),
        ("a: 1\n---\nb: 2\n", "a.yaml", r"a\.yaml:2:1: not YAML"),
        ("{[a]: 1}", "a.yaml", r"a\.yaml:1:2: not YAML"),
        ("a: &a\n  b: *a\n", "a.yaml", r"not YAML"),
        ("[" * 100_000, "a.yaml", "nested too deeply|not YAML"),
    ],
)
def test_broken_text(text, name, message):
    with pytest.raises(UnreadableFileError, match=message):
        parse(text, name=name)


@pytest.mark.parametrize("text", ["", "just words", "[1, 2]", "42", "{}", '{"a": 1}'])
def test_none_of_the_kinds(text):
    with pytest.raises(UnreadableFileError, match="none of: CloudFormation template"):
        read_text(text)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"Resources": {}}, Kind.TEMPLATE),
        ({"StartAt": "A", "States": {}}, Kind.DEFINITION),
        ({"Version": "2020-12-01", "Steps": []}, Kind.PIPELINE),
        ({"TrainingJobName": "a"}, Kind.REQUEST),
    ],
)
def test_kinds(content, kind):
    assert read_text(json.dumps(content)).kind is kind


def test_no_text(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableFileError, match=r"not text in UTF-8"):
        read(tmp_path / "a.yaml")
    with pytest.raises(UnreadableFileError, match=r"without manifest\.json"):
        read(tmp_path)
    with pytest.raises(UnreadableFileError, match="No such file"):
        read(tmp_path / "b.yaml")


CAPACITY = ("Resources", "Fs", "Properties", "StorageCapacity")
YAML = """Resources:
  Fs:
    Type: AWS::FSx::FileSystem
    Properties:
      StorageCapacity: 1300
"""
JSON = """{
 "Resources": {
  "Other": {"a": ["x", {"b": "}"}]},
  "Fs": {"Properties": {"A": [1],
   "StorageCapacity": 1300}}
 }
}"""


@pytest.mark.parametrize(("text", "place"), [(YAML, (5, 24)), (JSON, (5, 23))])
def test_places(text, place):
    source = parse(text, name="a")
    assert source.locate(CAPACITY) == place
    assert source.locate((*CAPACITY[:3], "Missing"))[0] in (4, 5)
    assert source.locate(("Nothing",))[0] == 1


def test_json_is_gone_through_once_however_many_places_are_asked_for(monkeypatch):
    scanned = []
    scan = JsonPositions._scan
    monkeypatch.setattr(JsonPositions, "_scan", lambda self, position: scanned.append(position) or scan(self, position))
    positions = JsonPositions(JSON)
    places = [positions.locate(path) for path in ((), ("Resources",), CAPACITY, ("Resources", "Other", "a", 1, "b"))]
    assert places == [(1, 1), (2, 15), (5, 23), (3, 30)]
    assert [positions.locate(CAPACITY) for _ in range(3)] == [places[2]] * 3
    assert len(scanned) == len(set(scanned))


def test_language_extensions_are_tolerated():
    text = """
Transform: AWS::LanguageExtensions
Resources:
  Fn::ForEach::Systems:
    - Name
    - [A, B]
    - Fs${Name}:
        Type: AWS::FSx::FileSystem
        Properties: {FileSystemType: LUSTRE, StorageCapacity: 1300}
  Fs:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: !Ref Policy
    UpdateReplacePolicy: !Ref Policy
    Properties:
      FileSystemType: LUSTRE
      SubnetIds: [a]
      StorageCapacity: 1200
      LustreConfiguration:
        DeploymentType: PERSISTENT_2
        PerUnitStorageThroughput: 125
        Fn::ForEach::X: []
"""
    assert [str(item.finding) for item in judge(read_text(text)).judgements] == []
