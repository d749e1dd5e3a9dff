"""Images whose region only the deployment settles, as most templates have them."""

import datetime

import pytest
from tests.checks.documents import rules

from cdk_distributed_training.checks import examples
from cdk_distributed_training.checks.rules import request_images

OLD = "pytorch-training:2.9.0-gpu-py312-cu130-ubuntu22.04-sagemaker"
NEW = "pytorch:2.13.0-cu133-amzn2023-sagemaker"


@pytest.fixture(autouse=True)
def one_day(monkeypatch):
    monkeypatch.setattr(request_images, "today", lambda: datetime.date(2026, 11, 30))


def found(address, **members):
    image = {"TrainingImage": {"Fn::Sub": address}, "TrainingInputMode": "File"}
    content = examples.template({"Job": examples.job(AlgorithmSpecification=image)}, **members).content
    return rules(content)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (f"763104351884.dkr.ecr.${{AWS::Region}}.amazonaws.com/{OLD}", {"DT502"}),
        (f"763104351884.dkr.ecr.${{AWS::Region}}.${{AWS::URLSuffix}}/{OLD}", {"DT502"}),
        (f"763104351884.dkr.ecr.${{AWS::Region}}.amazonaws.com/{NEW}", set()),
        ("763104351884.dkr.ecr.${AWS::Region}.amazonaws.com/pytorch-training:${Tag}", set()),
        (f"${{Account}}.dkr.ecr.us-east-1.amazonaws.com/{OLD}", set()),
        ("763104351884.dkr.ecr.${AWS::Region}.amazonaws.com/pytorch-inference:2.6.0-gpu-py312", {"DT515"}),
        ("111122223333.dkr.ecr.${AWS::Region}.amazonaws.com/train:latest", {"DT516"}),
        ("111122223333.dkr.ecr.${AWS::Region}.amazonaws.com/train@sha256:1234", set()),
    ],
)
def test_what_is_literal_is_judged(address, expected):
    parameters = {"Tag": {"Type": "String"}, "Account": {"Type": "String"}}
    assert found(address, Parameters=parameters) == expected
