"""Requests that constructs leave in a cdk.out are judged once: in the template if that has them, else beside it."""

import copy
import json

import aws_cdk as cdk
import pytest
from tests.engines.engine_stack import with_every_engine

from cdk_distributed_training.checks import examples
from cdk_distributed_training.checks.ignore import Ignored, split
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.document import read
from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.worlds import default_world

NETWORK = {**examples.open_to_itself("Nodes")}
SPOT = {"EnableManagedSpotTraining": True, "StoppingCondition": {"MaxRuntimeInSeconds": 86400}}


def request(**changes):
    """A request as a construct leaves it: functions of CloudFormation in it, no name."""
    role = {"Fn::GetAtt": ["Role", "Arn"]}
    return examples.request(**{"TrainingJobName": None, "RoleArn": role, **changes}).content


def write(folder, resources, requests, *, own_file=True):
    """A cdk.out with one stack."""
    rows = {
        f"/Stack/{name}": [{"type": "cdk-distributed-training:training-job", "data": {"schema": 1, "request": left}}]
        for name, left in requests.items()
    }
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://111111111111/us-east-1",
        "properties": {"templateFile": "Stack.template.json"},
        **({"additionalMetadataFile": "Stack.metadata.json"} if own_file else {"metadata": rows}),
    }
    role = {"Role": {"Type": "Custom::Role", "Properties": {}}}
    (folder / "Stack.template.json").write_text(json.dumps({"Resources": {**role, **resources}}))
    (folder / "Stack.metadata.json").write_text(json.dumps(rows if own_file else {}))
    (folder / "manifest.json").write_text(json.dumps({"artifacts": {"Stack": stack}}))
    (document,) = read(folder)
    return document


def requests_of(document):
    scene = Scene(document, default_world(document.source.content))
    return [item.path for item in scene.all(TrainingRequest)]


@pytest.mark.parametrize("own_file", [True, False])
def test_beside_the_template(tmp_path, own_file):
    left = request(**SPOT)
    report = judge(write(tmp_path, {}, {"Job": left}, own_file=own_file))
    found = {item.finding.rule: item for item in report.judgements}
    assert found.keys() == {"DT340", "DT342"}
    judgement = found["DT340"]
    assert judgement.construct_path == "Stack/Job"
    assert judgement.finding.path[:2] == ("Metadata", "Stack/Job")
    assert judgement.position == (1, 1)
    remaining, covered = split(report.judgements, [Ignored(rule="DT340", resource="Stack/Job", reason="meant")])
    assert len(covered) == 1
    assert len(remaining) == len(report.judgements) - 1


def test_with_resources_of_the_template(tmp_path):
    vpc = examples.in_vpc(["Nodes"])
    several = request(ResourceConfig=examples.machines("ml.p5.48xlarge", 2), VpcConfig=vpc)
    assert {item.finding.rule for item in judge(write(tmp_path, NETWORK, {"Job": several})).judgements} == set()
    lonely = {"Nodes": NETWORK["Nodes"]}
    found = {item.finding.rule for item in judge(write(tmp_path, lonely, {"Job": several})).judgements}
    assert found == {"DT120", "DT121"}


def machine(**arguments):
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::aws-sdk:sagemaker:createTrainingJob",
        "Arguments": {**arguments, "TrainingJobName": "{% $states.context.Execution.Name %}"},
        "End": True,
    }
    return {"Machine": examples.state_machine({"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": task}})}


def test_once_where_the_definition_has_it(tmp_path):
    left = request(HyperParameters={"lr": "0.1"}, **SPOT)
    sent = copy.deepcopy(left)
    sent["ResourceConfig"]["InstanceCount"] = "{% $instance_count %}"
    sent["HyperParameters"] = "{% $hyperparameters %}"
    carried = write(tmp_path, machine(**sent), {"Job": left})
    assert [path[:2] for path in requests_of(carried)] == [("Resources", "Machine")]
    assert [item.logical_id for item in judge(carried).judgements if item.finding.rule == "DT340"] == ["Machine"]
    sent["RoleArn"] = "arn:aws:iam::111122223333:role/Other"
    assert len(requests_of(write(tmp_path, machine(**sent), {"Job": left}))) == 2
    assert len(requests_of(write(tmp_path, machine(**sent), {"Job": left, "Same": left}))) == 3


def test_junk(tmp_path):
    for left in ([], "x", None, {"ResourceConfig": []}, {"Fn::If": 1}):
        judge(write(tmp_path, NETWORK, {"Job": left}))
    (tmp_path / "Stack.metadata.json").write_text("{")
    with pytest.raises(UnreadableFileError, match=r"Stack\.metadata\.json:1:2: not JSON"):
        read(tmp_path)


def test_every_engine_has_the_request_itself(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    stack = cdk.Stack(app, "Engines", env=cdk.Environment(account="111111111111", region="us-east-1"))
    with_every_engine(stack, tmp_path / "code")
    app.synth()
    (document,) = read(tmp_path / "cdk.out")
    assert list(document.requests) == ["Engines/Job"]
    assert {path[0] for path in requests_of(document)} == {"Resources"}
    assert [item.finding.rule for item in judge(document).judgements if not item.logical_id] == []
