"""Machines."""

import aws_cdk as cdk
import pytest

from cdk_distributed_training.request.instances import Instances


@pytest.mark.parametrize("name", ["ml.p5.48xlarge", "p5.48xlarge"])
def test_both_names_mean_the_same(name):
    instances = Instances(name, count=16)
    assert instances.render() == {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 16, "VolumeSizeInGB": 30}
    assert instances.facts.gpu_count == 8


def test_volume():
    assert Instances("ml.c7i.xlarge", volume_size=cdk.Size.tebibytes(1)).render()["VolumeSizeInGB"] == 1024


def test_a_token_stays_a_token():
    name = cdk.Token.as_string({"Ref": "Type"})
    assert Instances(name).instance_type == name
    assert Instances(name).facts is None


def test_an_unknown_type_has_no_facts():
    assert Instances("ml.p99.48xlarge").facts is None
