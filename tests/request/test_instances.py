"""Machines."""

import aws_cdk as cdk
import pytest

from cdk_distributed_training.request.instance_group import InstanceGroup
from cdk_distributed_training.request.instance_preference import InstancePreference
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


GROUPS = [
    InstanceGroup(name="data", instance_type="c7i.xlarge"),
    InstanceGroup(name="train", instance_type="ml.p4d.24xlarge", count=3),
]
PLAN = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/pretraining"


def test_groups():
    instances = Instances.from_groups(GROUPS)
    assert instances.render() == {
        "VolumeSizeInGB": 30,
        "InstanceGroups": [
            {"InstanceGroupName": "data", "InstanceType": "ml.c7i.xlarge", "InstanceCount": 1},
            {"InstanceGroupName": "train", "InstanceType": "ml.p4d.24xlarge", "InstanceCount": 3},
        ],
    }
    assert (instances.count, instances.types) == (4, ("ml.c7i.xlarge", "ml.p4d.24xlarge"))


def test_preferences_with_one_number():
    both = [InstancePreference(instance_type="p5.48xlarge"), InstancePreference(instance_type="p4d.24xlarge")]
    rendered = Instances.from_preferences(both, count=4).render()
    assert rendered["InstanceCount"] == 4
    assert rendered["InstancePreferences"] == [{"InstanceType": "ml.p5.48xlarge"}, {"InstanceType": "ml.p4d.24xlarge"}]
    assert Instances.from_preferences(both).render()["InstanceCount"] == 1


def test_preferences_with_their_own_numbers():
    each = [
        InstancePreference(instance_type="p5.48xlarge", count=2, training_plan=PLAN),
        InstancePreference(instance_type="p4d.24xlarge", count=4),
    ]
    rendered = Instances.from_preferences(each).render()
    assert "InstanceCount" not in rendered
    assert rendered["InstancePreferences"][0] == {
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "TrainingPlanArns": [PLAN],
    }
    # a number in both places stays, for the rule about it
    assert Instances.from_preferences(each, count=3).render()["InstanceCount"] == 3


def test_a_key_by_itself_or_by_name():
    class Key:
        key_arn = "arn:aws:kms:us-east-1:111122223333:key/1"

    assert Instances("ml.p3.2xlarge", volume_key=Key()).render()["VolumeKmsKeyId"] == Key.key_arn
    assert Instances("ml.p3.2xlarge", volume_key="alias/data").render()["VolumeKmsKeyId"] == "alias/data"


def test_tokens_render_as_they_are():
    count, plan = cdk.Token.as_number({"Ref": "Count"}), cdk.Token.as_string({"Ref": "Plan"})
    rendered = Instances("ml.p5.48xlarge", count=count, training_plan=plan).render()
    assert (rendered["InstanceCount"], rendered["TrainingPlanArn"]) == (count, plan)
