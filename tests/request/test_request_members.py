"""Every member of CreateTrainingJob can be expressed, and renders as botocore's model has it."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.request.create_training_job_model import input_shape, problems
from tests.request.whole_request import MACHINES, MEMBERS

from cdk_distributed_training.request.training_job_request import TrainingJobRequest

ROLE = "arn:aws:iam::111122223333:role/train"
# the name is the engine's, the others are answers that the API's model has among the questions
NOT_OURS = {"TrainingJobName", "ResourceConfig.SelectedInstanceType", "ResourceConfig.SelectedInstanceCount"}
REQUIRED = ("output",)


def whole(machines):
    return TrainingJobRequest(role_arn=ROLE, instances=machines, **MEMBERS)


def model_leaves(shape, place=""):
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            yield from model_leaves(member, f"{place}.{name}" if place else name)
    elif shape.type_name == "list":
        yield from model_leaves(shape.member, place)
    else:
        yield place


def leaves(value, shape, place=""):
    if shape.type_name == "structure":
        for name, item in value.items():
            yield from leaves(item, shape.members[name], f"{place}.{name}" if place else name)
    elif shape.type_name == "list":
        for item in value:
            yield from leaves(item, shape.member, place)
    else:
        yield place


def test_every_member_renders():
    rendered = {leaf for machines in MACHINES for leaf in leaves(whole(machines).render(), input_shape())}
    assert rendered == set(model_leaves(input_shape())) - NOT_OURS


@pytest.mark.parametrize("machines", MACHINES, ids=["equal", "groups", "preferences"])
def test_the_whole_request_is_valid(machines):
    assert problems({**whole(machines).render(), "TrainingJobName": "job-1"}) == []


@given(st.sets(st.sampled_from(sorted(MEMBERS))), st.sampled_from(MACHINES))
def test_what_is_given_renders_and_nothing_else(chosen, machines):
    given_members = {name: MEMBERS[name] for name in chosen.union(REQUIRED)}
    request = TrainingJobRequest(role_arn=ROLE, instances=machines, **given_members).render()
    spelling = {field.name: field.metadata["member"] for field in dataclasses.fields(TrainingJobRequest)}
    always = {"RoleArn", "ResourceConfig", "EnableNetworkIsolation", "EnableInterContainerTrafficEncryption"}
    assert set(request) == always | {spelling[name] for name in given_members}
    assert problems({**request, "TrainingJobName": "job-1"}) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (("RetryStrategy", "MaximumRetryAttempts"), "retry.maximum_retry_attempts"),
        (("AlgorithmSpecification", "MetricDefinitions", 0, "Regex"), "algorithm.metric_definitions[0].regex"),
        (("DebugHookConfig", "CollectionConfigurations", 0, "CollectionName"), "debugger_hook.collections[0].name"),
        (("DebugHookConfig", "S3OutputPath"), "debugger_hook.prefix"),
        (("DebugRuleConfigurations", 0, "RuleParameters", "a b"), "debugger_rules[0].parameters['a b']"),
        (("RemoteDebugConfig", "EnableRemoteDebug"), "remote_debug"),
        (("ResourceConfig", "KeepAlivePeriodInSeconds"), "instances.keep_alive"),
        (("ResourceConfig", "InstancePlacementConfig", "PlacementSpecifications", 0, "InstanceCount"),
         "instances.placement.specifications[0].count"),
        (("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAuthConfig",
          "TrainingRepositoryCredentialsProviderArn"), "algorithm.registry_access.credentials_provider_arn"),
        (("NoSuchMember", 0, "Name"), "NoSuchMember[0].Name"),
    ],
)  # fmt: skip
def test_members_have_the_users_names(path, name):
    assert whole(MACHINES[0]).attribute_path(path) == name
