"""Jobs that are deployed to one place have names by which their runs can be told apart, or a warning says so."""

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

import cdk_distributed_training as dt

HERE = cdk.Environment(account="111111111111", region="us-east-1")
ELSEWHERE = cdk.Environment(account="111111111111", region="eu-west-1")


@pytest.fixture
def app(tmp_path):
    return cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out"))


@pytest.fixture
def job(tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text("")
    networks = {}

    def make(stack, id, name=None):
        if stack not in networks:
            networks[stack] = dt.TrainingNetwork.from_ids(
                stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=["sg-1"]
            )
        return dt.DistributedTrainingJob(
            stack,
            id,
            source=dt.SourceCode.from_directory(str(code), entry_script="train.py"),
            instances=dt.Instances("ml.g5.2xlarge"),
            network=networks[stack],
            job_name=name,
        )

    return make


def told(stack):
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("DT315"))
    return [message.entry.data for message in found]


@pytest.mark.parametrize(
    ("first", "second"), [("pretrain", "pretrain"), ("pretrain", "pretrain-large"), ("pretrain-large", "pretrain")]
)
def test_names_that_find_each_other_in_one_stack(app, job, first, second):
    stack = cdk.Stack(app, "Stack")
    job(stack, "First", first)
    job(stack, "Second", second)
    (text,) = told(stack)
    assert f"job_name: got '{second}', beside '{first}' of Stack/First" in text


def test_names_that_are_told_apart(app, job):
    stack = cdk.Stack(app, "Stack")
    for name in ("pretrain", "pretrain2", "pretra", "large-pretrain"):
        job(stack, name.capitalize(), name)
    assert told(stack) == []


def test_a_name_that_is_a_token_is_not_judged(app, job):
    stack = cdk.Stack(app, "Stack")
    name = cdk.CfnParameter(stack, "Name").value_as_string
    job(stack, "First", name)
    job(stack, "Second", name)
    assert told(stack) == []


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [(HERE, HERE, 1), (HERE, ELSEWHERE, 0), (None, None, 1), (HERE, None, 0)],
    ids=["one place", "two regions", "nowhere said", "said once"],
)
def test_stacks_of_one_place_are_compared(app, job, first, second, count):
    stacks = [cdk.Stack(app, "First", env=first), cdk.Stack(app, "Second", env=second)]
    for stack in stacks:
        job(stack, "Job", "pretrain")
    assert len(told(stacks[1])) == count


def test_stages_that_do_not_say_where_are_not_compared_and_others_are(app, job):
    unsaid = [cdk.Stack(cdk.Stage(app, id), "Stack") for id in ("Beta", "Prod")]
    said = [cdk.Stack(cdk.Stage(app, id, env=HERE), "Stack") for id in ("BetaHere", "ProdHere")]
    for stack in (*unsaid, *said):
        job(stack, "Job", "pretrain")
    assert [len(told(stack)) for stack in (*unsaid, *said)] == [0, 0, 0, 1]


def test_ids_of_other_scripts_make_names_of_their_own(app, job):
    stack = cdk.Stack(app, "Stack")
    names = [job(stack, id).job_name for id in ("训练", "模型", "Größe", "Grüße")]
    assert len(set(names)) == 4
    assert told(stack) == []


def test_names_of_other_paths_are_as_they_were(app, job):
    assert job(cdk.Stack(app, "Stack"), "My_Job").job_name == "stack-my-job"
