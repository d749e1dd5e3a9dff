"""What the machines have, what the image is built for, and what the job demands, agree or are told."""

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match, Template

import cdk_distributed_training as dt

P5 = dt.InstancePreference(instance_type="ml.p5.48xlarge")


@pytest.fixture
def stack(tmp_path):
    return cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out")), "Stack")


@pytest.fixture
def job(stack, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/train.py").write_text("")

    def make(instances, **props):
        source = dt.SourceCode.from_directory(str(tmp_path / "code"), entry_script="train.py")
        return dt.DistributedTrainingJob(stack, "Job", source=source, instances=instances, **props)

    return make


def told(stack, rule):
    return Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(rule))


@pytest.mark.parametrize(("other", "count"), [("ml.trn1.32xlarge", 1), ("ml.m5.xlarge", 0), ("ml.p9.48xlarge", 0)])
def test_one_image_for_all_preferences(stack, job, other, count):
    job(dt.Instances.from_preferences([P5, dt.InstancePreference(instance_type=other)], count=2))
    assert len(told(stack, "DT519")) == count


def test_an_image_for_processors_on_machines_with_gpus(stack, job):
    job(dt.Instances("ml.p4d.24xlarge"), image=dt.TrainingImage.from_deep_learning_container(accelerator="cpu"))
    (message,) = told(stack, "DT519")
    assert "image: got an image for cpu, which may run on ml.p4d.24xlarge (gpu)" in message.entry.data


def test_a_type_that_is_a_token_is_not_judged(stack, job):
    kind = cdk.CfnParameter(stack, "Type").value_as_string
    image = dt.TrainingImage.from_deep_learning_container(accelerator="cpu")
    job(dt.Instances(kind, count=2), image=image, launcher_options=dt.LauncherOptions(require_efa=True))
    assert told(stack, "DT519") == []


def test_efa_is_demanded_of_machines_without(job):
    with pytest.raises(dt.ConfigurationError, match=r"require_efa: got True, on ml\.m5\.xlarge; .*DT463"):
        job(dt.Instances("ml.m5.xlarge", count=2), launcher_options=dt.LauncherOptions(require_efa=True))


@pytest.mark.parametrize(
    "instances",
    [
        dt.Instances("ml.m5.xlarge"),
        dt.Instances("ml.p4d.24xlarge", count=2),
        dt.Instances("ml.p9.48xlarge", count=2),
        dt.Instances.from_groups(
            [
                dt.InstanceGroup(name="train", instance_type="ml.p4d.24xlarge", count=2),
                dt.InstanceGroup(name="data", instance_type="ml.m5.xlarge"),
            ]
        ),
    ],
    ids=["one alone", "with EFA", "unknown", "a group with EFA"],
)
def test_efa_may_be_there(job, instances):
    assert job(instances, launcher_options=dt.LauncherOptions(require_efa=True))


def test_preferences_of_which_some_say_their_number(job):
    other = dt.InstancePreference(instance_type="ml.p4d.24xlarge", count=2)
    with pytest.raises(dt.ConfigurationError, match="got a number of machines at some of them"):
        job(dt.Instances.from_preferences([P5, other]))


@pytest.mark.parametrize("remote_debug", [True, None])
def test_a_new_network_has_the_way_for_remote_debugging(stack, job, remote_debug):
    job(dt.Instances("ml.g5.2xlarge"), remote_debug=remote_debug)
    endpoints = Template.from_stack(stack).find_resources("AWS::EC2::VPCEndpoint")
    named = [name for name in ("ssm", "ssmmessages", "ec2messages") if f"'.{name}'" in str(endpoints)]
    assert named == (["ssm", "ssmmessages", "ec2messages"] if remote_debug else [])
