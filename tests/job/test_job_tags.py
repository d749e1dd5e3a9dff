"""Tags that reach the runs of a job, whenever and wherever they are put on it, and those that the API would refuse."""

import json

import aws_cdk as cdk
import pytest
from tests.job.resolved import metadata_of

import cdk_distributed_training as dt


@pytest.fixture
def app(tmp_path):
    return cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out"))


@pytest.fixture
def job(tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("")

    def make(scope, **props):
        return dt.DistributedTrainingJob(
            scope,
            "Job",
            source=dt.SourceCode.from_directory(str(code), entry_script="train.py"),
            instances=dt.Instances("ml.g5.2xlarge"),
            network=dt.TrainingNetwork.from_ids(
                scope, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=["sg-1"]
            ),
            **props,
        )

    return make


def tags_of(app, stack="Stack"):
    tags = metadata_of(app.synth(), stack)["request"]["Tags"]
    return {tag["Key"]: tag["Value"] for tag in tags if tag["Key"] != "distributed-training:job"}


def test_of_the_stack(app, job):
    job(cdk.Stack(app, "Stack", tags={"team": "research", "cost": "1"}), tags={"cost": "2"})
    assert tags_of(app) == {"team": "research", "cost": "2"}


def test_of_a_stack_around_the_stack(app, job):
    nested = cdk.NestedStack(cdk.Stack(app, "Stack", tags={"team": "research"}), "Nested")
    assert job(nested).tags.tag_values()["team"] == "research"


def test_what_is_kept_from_training_jobs(app, job):
    stack = cdk.Stack(app, "Stack")
    job(stack)
    cdk.Tags.of(stack).add("team", "research", exclude_resource_types=["AWS::SageMaker::TrainingJob"])
    assert tags_of(app) == {}


def test_put_on_after_the_request_was_read(app, job):
    stack = cdk.Stack(app, "Stack")
    request = stack.resolve(job(stack).request)
    cdk.Tags.of(app).add("late", "yes")
    assert {"Key": "late", "Value": "yes"} not in request["Tags"]
    assert tags_of(app) == {"late": "yes"}


def test_put_on_after_the_engines(app, job):
    stack = cdk.Stack(app, "Stack")
    made = job(stack)
    dt.QueuedTrainingJob(stack, "Queued", job=made, queue=dt.TrainingQueue(stack, "Queue", max_instances=2))
    dt.TrainingPipeline(stack, "Pipeline", job=made)
    assert made.guardrails
    cdk.Tags.of(app).add("late", "yes")
    assert tags_of(app) == {"late": "yes"}
    resources = app.synth().get_stack_by_name("Stack").template["Resources"].values()
    machines = [json.dumps(one) for one in resources if one["Type"] == "AWS::StepFunctions::StateMachine"]
    creating = [text for text in machines if "distributed-training:job" in text]
    assert creating
    assert all("late" in text for text in creating)


def test_more_than_the_api_takes(app, job):
    stack = cdk.Stack(app, "Stack")
    job(stack)
    for number in range(50):
        cdk.Tags.of(stack).add(f"tag{number}", "yes")
    with pytest.raises(RuntimeError, match=r"stack-job: tags: got 50 tags; allowed: at most 49, .*DT314"):
        app.synth()


def test_as_many_as_the_api_takes(app, job):
    stack = cdk.Stack(app, "Stack")
    job(stack)
    for number in range(49):
        cdk.Tags.of(stack).add(f"tag{number}", "yes")
    assert len(tags_of(app)) == 49


def test_tokens_are_not_judged(app, job):
    stack = cdk.Stack(app, "Stack")
    job(stack)
    cdk.Tags.of(stack).add("team", cdk.CfnParameter(stack, "Team").value_as_string)
    assert tags_of(app) == {"team": {"Ref": "Team"}}
