"""CloudFormation's intrinsic functions on this machine."""

from typing import Any

import pytest

from cdk_distributed_training.local.assembly import SynthesizedStack
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.resolve import Resolver

TEMPLATE: dict[str, Any] = {
    "Parameters": {
        "Epochs": {"Type": "Number", "Default": 3},
        "Zones": {"Type": "CommaDelimitedList", "Default": "a, b"},
        "Given": {"Type": "String"},
        "Stored": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/path/of/it"},
    },
    "Mappings": {"Map": {"us-east-1": {"Account": "763104351884"}}},
    "Conditions": {
        "Yes": {"Fn::Equals": [{"Ref": "Epochs"}, 3]},
        "No": {"Fn::Not": [{"Condition": "Yes"}]},
        "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]},
        "Either": {"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]},
    },
    "Resources": {"Role": {"Type": "AWS::IAM::Role"}, "Data": {"Type": "AWS::S3::Bucket"}, "Fs": {"Type": "AWS::FSx"}},
}
OTHER: dict[str, Any] = {
    "Resources": {"Net": {"Type": "AWS::EC2::VPC"}},
    "Outputs": {"Out": {"Value": {"Ref": "Net"}, "Export": {"Name": {"Fn::Sub": "Other:${AWS::Region}"}}}},
}


def resolver(**stack: Any) -> Resolver:
    own = SynthesizedStack(name="Training", template=TEMPLATE, **stack)
    return Resolver(own, [SynthesizedStack(name="Other", template=OTHER)])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        (3, 3),
        (None, None),
        ({"Ref": "AWS::Region"}, "us-east-1"),
        ({"Ref": "AWS::AccountId"}, "111111111111"),
        ({"Ref": "AWS::Partition"}, "aws"),
        ({"Ref": "Epochs"}, 3),
        ({"Ref": "Zones"}, ["a", "b"]),
        ({"Ref": "Given"}, "Given"),
        ({"Ref": "Stored"}, "Stored"),
        ({"Ref": "Data"}, "data"),
        ({"Fn::GetAtt": ["Role", "Arn"]}, "arn:aws:iam::111111111111:role/Role"),
        ({"Fn::GetAtt": "Fs.LustreMountName"}, "Fs.LustreMountName"),
        ({"Fn::Join": ["/", ["s3:/", {"Ref": "Data"}, "x"]]}, "s3://data/x"),
        ({"Fn::Sub": "${AWS::AccountId}-${Data}-${Fs.Name}-${!Literal}"}, "111111111111-data-Fs.Name-${Literal}"),
        ({"Fn::Sub": ["${a}${b}", {"a": {"Ref": "Epochs"}, "b": "x"}]}, "3x"),
        ({"Fn::Select": [1, {"Fn::Split": ["-", "a-b-c"]}]}, "b"),
        ({"Fn::Select": ["0", {"Fn::GetAZs": ""}]}, "us-east-1a"),
        ({"Fn::FindInMap": ["Map", {"Ref": "AWS::Region"}, "Account"]}, "763104351884"),
        ({"Fn::FindInMap": ["Map", "eu-west-9", "Account", {"DefaultValue": "none"}]}, "none"),
        ({"Fn::If": ["Yes", "a", "b"]}, "a"),
        ({"Fn::If": ["No", "a", "b"]}, "b"),
        ({"Fn::If": ["Both", "a", "b"]}, "b"),
        ({"Fn::If": ["Either", "a", "b"]}, "a"),
        ({"Fn::ImportValue": "Other:us-east-1"}, "Net"),
        ({"Fn::ImportValue": "Unknown"}, "Unknown"),
        ({"Fn::GetStackOutput": {"StackName": "Other", "Region": "us-east-1", "OutputName": "Out"}}, "Net"),
        ({"Fn::GetStackOutput": {"StackName": "Other", "Region": "us-east-1", "OutputName": "No"}}, "Other.No"),
        ({"x": {"Ref": "AWS::NoValue"}, "y": [1, {"Ref": "AWS::NoValue"}]}, {"y": [1]}),
        ({"Condition": "warmup"}, {"Condition": "warmup"}),
        ({"a": 1, "Ref": "Data"}, {"a": 1, "Ref": "Data"}),
    ],
)
def test_value(value: Any, expected: Any) -> None:
    assert resolver()(value) == expected


def test_a_pinned_stack_and_given_parameters() -> None:
    stack = SynthesizedStack(name="T", template=TEMPLATE, account="222222222222", region="cn-north-1")
    resolve = Resolver(stack, parameters={"Given": "value"})
    assert resolve({"Fn::Sub": "${AWS::Partition} ${AWS::URLSuffix} ${Given}"}) == "aws-cn amazonaws.com.cn value"


def test_stand_ins_are_listed() -> None:
    resolve = resolver()
    resolve([{"Ref": "Fs"}, {"Fn::GetAtt": ["Role", "Arn"]}, {"Ref": "AWS::Region"}, {"Ref": "Epochs"}])
    assert resolve.stand_ins == {"Fs": "Fs", "Role.Arn": "arn:aws:iam::111111111111:role/Role"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"Fn::Cidr": ["10.0.0.0/16", 4, 8]}, "Fn::Cidr"),
        ({"Fn::FindInMap": ["Map", "x", "y"]}, "mapping Map has no entry x, y"),
        ({"Fn::If": ["Nope", 1, 2]}, "no condition Nope"),
    ],
)
def test_what_cannot_be_evaluated_is_said(value: Any, said: str) -> None:
    with pytest.raises(LocalModeError, match=said):
        resolver()(value)
