"""Generated stacks that are right give no finding; with one thing changed, exactly the rule about that."""

import copy
import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.checks.documents import rules
from tests.checks.stacks import stacks

from cdk_distributed_training.checks.rules import request_images

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True, scope="module")
def one_day():
    kept = request_images.today
    request_images.today = lambda: datetime.date(2026, 11, 30)
    yield
    request_images.today = kept


@SETTINGS
@given(stacks())
def test_right_stacks_give_nothing(stack):
    assert rules(stack) == set()


def parameters(stack):
    return stack["Resources"]["Job"]["Properties"]["Definition"]["States"]["Train"]["Parameters"]


def lustre(stack):
    return stack["Resources"]["FileSystem"]["Properties"]


def without(*names):
    def change(stack):
        for name in names:
            del stack["Resources"][name]

    return change


def with_parameter(*path, value):
    def change(stack):
        node = parameters(stack)
        for key in path[:-1]:
            node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
        node[path[-1]] = value

    return change


def with_lustre(*path, value):
    def change(stack):
        node = lustre(stack)
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


def no_policies(stack):
    del stack["Resources"]["FileSystem"]["DeletionPolicy"]
    del stack["Resources"]["FileSystem"]["UpdateReplacePolicy"]
    stack["Resources"]["FileSystem"]["Properties"]["LustreConfiguration"] |= {
        "DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100,
    }  # fmt: skip
    stack["Resources"]["FileSystem"]["Properties"]["FileSystemTypeVersion"] = "2.15"


def on_efa(stack):
    parameters(stack)["ResourceConfig"]["InstanceType"] = "ml.p5.48xlarge"


def both(*changes):
    def change(stack):
        for one in changes:
            one(stack)

    return change


ENCRYPTED = with_parameter("EnableInterContainerTrafficEncryption", value=False)
MUTATIONS = {
    "no ingress": (both(on_efa, ENCRYPTED, without("NodesIngress")), {"DT120"}),
    "no egress": (both(on_efa, ENCRYPTED, without("NodesEgress")), {"DT121"}),
    "no endpoint": (without("S3"), {"DT135"}),
    "no rule for the file system": (without("StorageFromStorage988"), {"DT270"}),
    "no further ports": (without("StorageFromStorage1018"), {"DT271"}),
    "nodes not admitted": (without("StorageFromNodes988"), {"DT272"}),
    "nodes admitted in part": (without("StorageFromNodes1018"), {"DT273"}),
    "capacity": (with_lustre("StorageCapacity", value=1300), {"DT203"}),
    "version": (with_lustre("FileSystemTypeVersion", value="2.9"), {"DT204"}),
    "two subnets": (with_lustre("SubnetIds", value=["subnet-a", "subnet-b"]), {"DT251"}),
    "maintenance": (with_lustre("LustreConfiguration", "WeeklyMaintenanceStartTime", value="x"), {"DT207"}),
    "drive cache": (with_lustre("LustreConfiguration", "DriveCacheType", value="READ"), {"DT208"}),
    "no policy": (no_policies, {"DT252"}),
    "name": (with_parameter("TrainingJobName", value="once"), {"DT710"}),
    "unknown member": (with_parameter("Environmnt", value={}), {"DT330"}),
    "too many hyperparameters": (
        with_parameter("HyperParameters", value={f"h{n}": "1" for n in range(101)}),
        {"DT301"},
    ),
    "long value": (with_parameter("Environment", "X_LONG", value="x" * 513), {"DT303"}),
    "secret": (with_parameter("Environment", "API_KEY", value="abcdef"), {"DT370"}),
    "runtime": (
        both(
            with_parameter("EnableManagedSpotTraining", value=False),
            with_parameter("StoppingCondition", value={"MaxRuntimeInSeconds": 29 * 86_400}),
        ),
        {"DT311"},
    ),
    "wait": (
        both(
            with_parameter("EnableManagedSpotTraining", value=True),
            with_parameter("StoppingCondition", value={"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 59}),
        ),
        {"DT312"},
    ),
    "volume key": (with_parameter("ResourceConfig", "VolumeKmsKeyId", value="alias/x"), {"DT355"}),
    "image of another region": (
        with_parameter(
            "AlgorithmSpecification",
            "TrainingImage",
            value="763104351884.dkr.ecr.eu-south-1.amazonaws.com/pytorch:2.13.0-cu133-amzn2023-sagemaker",
        ),
        {"DT510"},
    ),
    "wrong mount": (
        with_parameter("InputDataConfig", 0, "DataSource", "FileSystemDataSource", "DirectoryPath", value="/fsx/a"),
        {"DT221"},
    ),
    "checkpoints in the model": (with_parameter("CheckpointConfig", "LocalPath", value="/opt/ml/model"), {"DT373"}),
    "no pull": (
        lambda stack: stack["Resources"]["Role"]["Properties"]["Policies"][0]["PolicyDocument"]["Statement"][0][
            "Action"
        ].remove("ecr:BatchGetImage"),
        {"DT606"},
    ),
    "small subnet": (
        both(
            lambda stack: stack["Resources"]["Subnet"]["Properties"].update(CidrBlock="10.0.0.0/28"),
            with_parameter("ResourceConfig", "InstanceCount", value=32),
        ),
        {"DT139"},
    ),
}


@pytest.mark.parametrize(("change", "expected"), MUTATIONS.values(), ids=MUTATIONS)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(stack=stacks())
def test_one_change_gives_its_rule(change, expected, stack):
    changed = copy.deepcopy(stack)
    change(changed)
    assert rules(changed) == expected


@SETTINGS
@given(stack=stacks(), data=st.data())
def test_a_parameter_with_the_same_default_changes_nothing(stack, data):
    """Values may come by parameters whose defaults are right."""
    keys = sorted(set(lustre(stack)) & {"StorageCapacity", "FileSystemTypeVersion"})
    key = data.draw(st.sampled_from(keys))
    stack["Parameters"] = {"Value": {"Type": "String", "Default": str(lustre(stack)[key])}}
    lustre(stack)[key] = {"Ref": "Value"}
    assert rules(stack) == set()
