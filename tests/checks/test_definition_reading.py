"""State machines' definitions, with tokens inside of strings, paths and expressions."""

import json

import pytest
from tests.checks.documents import SYNC, rules

from cdk_distributed_training.checks import examples
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.template.definition import read_definition, without_expressions
from cdk_distributed_training.checks.template.document import read_text
from cdk_distributed_training.checks.template.values import PartialText, Reference, Unknown

REQUEST = examples.request(ResourceConfig={"InstanceCount": 0}).content


def definition(parameters, key="Parameters"):
    task = {"Type": "Task", "Resource": SYNC, key: parameters, "End": True}
    return {"StartAt": "Train", "States": {"Train": task}}


def test_tokens_in_and_around_strings():
    text = PartialText(('{"a": "x', Reference("A"), 'y", "b": "', Reference("B"), '", "c": ', Unknown("n"), "}"))
    found = read_definition(text)
    assert found["a"] == PartialText(("x", Reference("A"), "y"))
    assert found["b"] == Reference("B")
    assert found["c"] == Unknown("n")


def test_escaped_quotes_before_a_token():
    assert read_definition(PartialText(('{"a": "\\"', Unknown("x"), '\\""}')))["a"].parts == ('"', Unknown("x"), '"')


def test_paths_and_expressions_are_unknown():
    found = without_expressions({"a.$": "$.x", "b": "{% $y %}", "c": ["{% $z %}", "w"], "d": {"e.$": "$$.X"}})
    assert found == {
        "a": Unknown("$.x"),
        "b": Unknown("{% $y %}"),
        "c": [Unknown("{% $z %}"), "w"],
        "d": {"e": Unknown("$$.X")},
    }


def state_machine(**properties):
    resource = {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"RoleArn": "arn", **properties}}
    return {"Resources": {"Machine": resource}}


def test_join_of_pieces():
    text = json.dumps(definition(REQUEST))
    before, after = text.split("amzn-s3-demo-bucket", 1)
    joined = {"Fn::Join": ["", [before, {"Ref": "Bucket"}, after]]}
    assert rules(state_machine(DefinitionString=joined)) == {"DT402", "DT710"}


def test_substitutions():
    wanted = definition({**REQUEST, "ResourceConfig": {**REQUEST["ResourceConfig"], "InstanceCount": "${Count}"}})
    text = json.dumps(wanted)
    assert rules(state_machine(DefinitionString=text, DefinitionSubstitutions={"Count": 0})) == {"DT402", "DT710"}
    assert rules(state_machine(DefinitionString=text, DefinitionSubstitutions={"Count": {"Ref": "P"}})) == {"DT710"}
    assert rules(state_machine(DefinitionString=text)) == {"DT710"}


def test_sub_string():
    text = {"Fn::Sub": json.dumps(definition(REQUEST)).replace("amzn-s3-demo-bucket", "${AWS::AccountId}-bucket")}
    assert rules(state_machine(DefinitionString=text)) == {"DT402", "DT710"}


def test_broken_definition_is_cloudformations_business():
    assert rules(state_machine(DefinitionString="{")) == set()
    assert rules(state_machine(DefinitionS3Location={"Bucket": "b", "Key": "k"})) == set()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"StartAt": "P", "States": {"P": {"Type": "Parallel", "Branches": [inner], "End": True}}},
        lambda inner: {"StartAt": "M", "States": {"M": {"Type": "Map", "ItemProcessor": inner, "End": True}}},
        lambda inner: {"StartAt": "M", "States": {"M": {"Type": "Map", "Iterator": inner, "End": True}}},
    ],
)
def test_nested_states(wrap):
    found = judge(read_text(json.dumps(wrap(definition(REQUEST, "Arguments"))))).judgements
    assert {item.finding.rule for item in found} == {"DT402", "DT710"}


def test_pipeline():
    arguments = examples.request(
        TrainingJobName=None,
        StoppingCondition={"MaxWaitTimeInSeconds": 90000},
        ResourceConfig={"InstanceCount": {"Get": "Parameters.Count"}},
    ).content
    steps = [{"Name": "Train", "Type": "Training", "Arguments": arguments}, {"Name": "Other", "Type": "Processing"}]
    pipeline = {"Version": "2020-12-01", "Parameters": [], "Steps": steps}
    (found,) = judge(read_text(json.dumps(pipeline))).judgements
    assert found.finding.rule == "DT341"
    assert found.finding.path[:4] == ("Steps", 0, "Arguments", "StoppingCondition")
    body = {"PipelineDefinitionBody": json.dumps(pipeline)}
    resource = {"Type": "AWS::SageMaker::Pipeline", "Properties": {"PipelineDefinition": body}}
    assert rules({"Resources": {"P": resource}}) == {"DT341"}


def test_other_ways_to_start_a_job():
    schedule = {
        "Type": "AWS::Scheduler::Schedule",
        "Properties": {
            "Target": {
                "Arn": "arn:aws:scheduler:::aws-sdk:sagemaker:createTrainingJob",
                "Input": json.dumps(REQUEST),
            }
        },
    }
    assert rules({"Resources": {"S": schedule}}) == {"DT402"}
    submit = "arn:aws:states:::aws-sdk:batch:submitServiceJob"
    task = {"Type": "Task", "Resource": submit, "Parameters": {"ServiceRequestPayload": json.dumps(REQUEST)}}
    found = judge(read_text(json.dumps({"StartAt": "A", "States": {"A": task}}))).judgements
    assert {item.finding.rule for item in found} == {"DT402"}
    raw = {"Type": "AWS::SageMaker::TrainingJob", "Properties": REQUEST}
    assert rules({"Resources": {"J": raw}}) == {"DT402"}
