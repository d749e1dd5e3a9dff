"""Lists and names that only deployment knows are refused by their property where CDK would fail at the very end."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_scheduler as scheduler

import cdk_distributed_training as dt


@pytest.fixture
def stack(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out"))
    return cdk.Stack(app, "Stack", env=cdk.Environment(account="111111111111", region="us-east-1"))


@pytest.fixture
def words(stack):
    return cdk.CfnParameter(stack, "Words", type="CommaDelimitedList").value_as_list


@pytest.fixture
def name(stack):
    return cdk.CfnParameter(stack, "Name").value_as_string


@pytest.fixture
def code(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/train.py").write_text("")
    return str(tmp_path / "code")


def make(stack, code, *, arguments=(), **props):
    source = dt.SourceCode.from_directory(code, entry_script="train.py", arguments=arguments)
    return dt.DistributedTrainingJob(
        stack, "Job", **{"source": source, "instances": dt.Instances("ml.p4d.24xlarge", count=2), **props}
    )


def refused(*found):
    return pytest.raises(dt.ConfigurationError, match=r".*\n.*".join(f"{prop}: .*{rule}" for prop, rule in found))


def test_words_of_the_command_line(stack, code, words):
    with refused(("distribution", "DT903"), (r"source\.arguments", "DT903")):
        make(stack, code, arguments=words, distribution=dt.Torchrun(additional_arguments=words))


def test_elements_of_the_command_line_may_be_tokens(stack, code, words, name):
    job = make(stack, code, arguments=[cdk.Fn.select(0, words), name])
    command = stack.resolve(job.request["AlgorithmSpecification"]["ContainerArguments"])
    assert command[-2:] == [{"Fn::Select": [0, {"Ref": "Words"}]}, {"Ref": "Name"}]


def test_names_of_hyperparameters_and_variables(stack, code, name):
    with refused(("hyperparameters", "DT904"), ("environment", "DT904")):
        make(stack, code, hyperparameters={name: 1}, environment={name: "x"})


def test_names_in_parts_of_the_request(stack, code, name):
    hook = dt.DebuggerHook(collections=[dt.DebuggerCollection(name="losses", parameters={name: "1"})])
    with refused((r"profiler\.parameters", "DT904")):
        make(stack, code, profiler=dt.Profiler(parameters={name: "1"}))
    with refused((r"debugger_hook\.collections\[0\]\.parameters", "DT904")):
        make(cdk.Stack(stack, "Other"), code, debugger_hook=hook)


def test_values_may_be_tokens_and_lists_of_them(stack, code, words, name):
    job = make(stack, code, hyperparameters={"layers": words, "name": name}, environment={"NAME": name})
    assert job.node.root.synth()


NETWORKS = {
    "security_group_ids": lambda stack, words: dt.TrainingNetwork.from_ids(
        stack, "Network", vpc_id="vpc-1", subnet_id="subnet-1", security_group_ids=words
    ),
    "trusted_accounts": lambda stack, words: dt.TrainingNetwork(stack, "Network", trusted_accounts=words),
    "vpc": lambda stack, words: dt.TrainingNetwork(
        stack,
        "Network",
        vpc=ec2.Vpc.from_vpc_attributes(
            stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], private_subnet_ids=words
        ),
    ),
    "subnet": lambda stack, words: dt.TrainingNetwork.from_ids(
        stack, "Network", vpc_id="vpc-1", subnet_id=words[0], security_group_ids=["sg-1"]
    ),
    "instance_types": lambda stack, words: dt.TrainingGuardrails(stack, "Guardrails", instance_types=words),
}


@pytest.mark.parametrize("prop", NETWORKS)
def test_lists_of_networks_and_guardrails(stack, words, prop):
    with refused((prop, "DT903")):
        NETWORKS[prop](stack, words)


def test_names_of_overrides(stack, code, name):
    job = make(stack, code)
    rate = scheduler.ScheduleExpression.rate(cdk.Duration.days(1))
    with refused(("hyperparameters", "DT904")):
        dt.TrainingSchedule(stack, "Nightly", job=job, schedule=rate, hyperparameters={name: 1})
