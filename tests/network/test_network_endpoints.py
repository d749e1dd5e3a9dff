"""Endpoints for what a job calls, and what may be done through them."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

import cdk_distributed_training as dt


def stack_with(**props) -> tuple[cdk.Stack, dt.TrainingNetwork]:
    stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111111111111", region="us-east-1"))
    return stack, dt.TrainingNetwork(stack, "Network", flow_log=False, **props)


def endpoints_of(stack) -> dict[str, dict]:
    found = Template.from_stack(stack).find_resources("AWS::EC2::VPCEndpoint").values()
    names = [(str(one["Properties"]["ServiceName"]), one["Properties"]) for one in found]
    return {name.rpartition("us-east-1.")[2] if "Fn::Join" not in name else "s3": props for name, props in names}


@pytest.fixture(scope="module")
def usual() -> dict[str, dict]:
    return endpoints_of(stack_with()[0])


def test_only_credentials_of_the_account_pass(usual):
    for name in ("logs", "monitoring", "sagemaker.api", "sts"):
        (statement,) = usual[name]["PolicyDocument"]["Statement"]
        assert statement["Condition"] == {"StringEquals": {"aws:PrincipalAccount": ["111111111111"]}}
        assert (statement["Effect"], statement["Action"], statement["Resource"]) == ("Allow", "*", "*")


def test_objects_may_be_read_with_any_credentials_and_written_with_the_accounts_only(usual):
    own, anyone = usual["s3"]["PolicyDocument"]["Statement"]
    assert own["Condition"] == {"StringEquals": {"aws:PrincipalAccount": ["111111111111"]}}
    assert "Condition" not in anyone
    assert all(action.startswith(("s3:Get", "s3:List")) for action in anyone["Action"])


def test_trusted_accounts_pass_too():
    stack, _ = stack_with(trusted_accounts=["222222222222"])
    for found in endpoints_of(stack).values():
        condition = found["PolicyDocument"]["Statement"][0]["Condition"]
        assert condition == {"StringEquals": {"aws:PrincipalAccount": ["111111111111", "222222222222"]}}


def test_no_policy_on_request():
    stack, _ = stack_with(restrict_endpoints=False)
    assert not [found for found in endpoints_of(stack).values() if "PolicyDocument" in found]


def test_calls_of_jobs_add_what_is_missing_once():
    stack, network = stack_with(interface_endpoints=[])
    network.add_calls(dt.TrainingCall.REMOTE_DEBUG, dt.TrainingCall.STS)
    network.add_calls(dt.TrainingCall.STS, dt.TrainingCall.REMOTE_DEBUG)
    found = endpoints_of(stack)
    assert set(found) == {"s3", "ssm", "ssmmessages", "ec2messages", "sts"}
    assert all(one["PrivateDnsEnabled"] for name, one in found.items() if name != "s3")
    # these two are not known to take a policy
    assert {name for name, one in found.items() if "PolicyDocument" not in one} == {"ssmmessages", "ec2messages"}


def test_a_call_that_is_there_already():
    stack, network = stack_with()
    network.add_calls(dt.TrainingCall.LOGS, dt.TrainingCall.SAGEMAKER_API)
    assert len(endpoints_of(stack)) == 5


@pytest.mark.parametrize("call", list(dt.TrainingCall))
def test_every_call_names_services(call):
    assert call.services
    assert all(isinstance(service, ec2.InterfaceVpcEndpointAwsService) for service in call.services)


def test_the_flow_logs_key_admits_cloudwatch_logs():
    stack = cdk.Stack(cdk.App(), "S")
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    dt.TrainingNetwork(stack, "Network", encryption_key=key, interface_endpoints=[])
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::Logs::LogGroup", {"KmsKeyId": stack.resolve(key.key_arn)})
    (found,) = template.find_resources("AWS::KMS::Key").values()
    statement = found["Properties"]["KeyPolicy"]["Statement"][-1]
    assert "logs." in str(statement["Principal"]["Service"])
    assert "kms:EncryptionContext:aws:logs:arn" in statement["Condition"]["ArnLike"]


def test_a_key_of_another_stack_closes_no_circle():
    app = cdk.App()
    keys, network = cdk.Stack(app, "Keys"), cdk.Stack(app, "Network")
    dt.TrainingNetwork(network, "Network", encryption_key=kms.Key(keys, "Key"), interface_endpoints=[])
    app.synth()
    assert [stack.node.id for stack in network.dependencies] == ["Keys"]
