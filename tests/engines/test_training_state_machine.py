"""The state machines as constructs: permissions, logs, tracing, and the rule that stops a job."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_iam as iam

from cdk_distributed_training.engines.state_machine import TrainingStateMachine

REQUEST = {"ResourceConfig": {"InstanceType": "ml.c7i.xlarge", "InstanceCount": 2}}
PARTITION = {"Ref": "AWS::Partition"}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path_factory.mktemp("cdk.out")))
    stack = cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    TrainingStateMachine(
        stack,
        "Machine",
        request={**REQUEST, "RoleArn": role.role_arn},
        job_name="digits",
        training_role=role,
        longest_run=86400,
        poll_interval=30,
    )
    return assertions.Template.from_stack(stack)


def resource(template, type_, part):
    (found,) = [(name, resource) for name, resource in template.find_resources(type_).items() if name.startswith(part)]
    return found


def statements(template, part):
    _, policy = resource(template, "AWS::IAM::ManagedPolicy", part)
    return policy["Properties"]["PolicyDocument"]["Statement"]


JOBS = {"Fn::Join": ["", ["arn:", PARTITION, ":sagemaker:us-east-1:111111111111:training-job/digits-*"]]}
LOGS_AND_TRACING = [
    {
        "Effect": "Allow",
        "Action": [
            "logs:CreateLogDelivery",
            "logs:DeleteLogDelivery",
            "logs:DescribeLogGroups",
            "logs:DescribeResourcePolicies",
            "logs:GetLogDelivery",
            "logs:ListLogDeliveries",
            "logs:PutResourcePolicy",
            "logs:UpdateLogDelivery",
        ],
        "Resource": "*",
    },
    {
        "Effect": "Allow",
        "Action": [
            "xray:GetSamplingRules",
            "xray:GetSamplingTargets",
            "xray:PutTelemetryRecords",
            "xray:PutTraceSegments",
        ],
        "Resource": "*",
    },
]


def test_the_job_may_create_see_and_pass_its_role(template):
    role, _ = resource(template, "AWS::IAM::Role", "Role")
    assert statements(template, "MachineJobRolePolicy") == [
        {
            "Effect": "Allow",
            "Action": ["sagemaker:AddTags", "sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob"],
            "Resource": JOBS,
        },
        {
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": {"Fn::GetAtt": [role, "Arn"]},
            "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        },
        *LOGS_AND_TRACING,
    ]


def test_the_stop_may_find_and_stop(template):
    assert statements(template, "MachineStopRolePolicy") == [
        {
            "Effect": "Allow",
            "Action": ["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"],
            "Resource": JOBS,
        },
        {"Effect": "Allow", "Action": "sagemaker:ListTrainingJobs", "Resource": "*"},
        *LOGS_AND_TRACING,
    ]


def test_the_rule_may_start_the_stop(template):
    stop, _ = resource(template, "AWS::StepFunctions::StateMachine", "MachineStop")
    assert statements(template, "MachineEndedRolePolicy") == [
        {"Effect": "Allow", "Action": "states:StartExecution", "Resource": {"Ref": stop}}
    ]


def test_the_rule(template):
    job, _ = resource(template, "AWS::StepFunctions::StateMachine", "MachineJob")
    stop, _ = resource(template, "AWS::StepFunctions::StateMachine", "MachineStop")
    _, rule = resource(template, "AWS::Events::Rule", "MachineEnded")
    assert rule["Properties"]["EventPattern"] == {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"status": ["ABORTED", "FAILED", "TIMED_OUT"], "stateMachineArn": [{"Ref": job}]},
    }
    (target,) = rule["Properties"]["Targets"]
    assert target["Arn"] == {"Ref": stop}
    transformer = target["InputTransformer"]
    assert transformer["InputPathsMap"] == {
        "detail-executionArn": "$.detail.executionArn",
        "detail-name": "$.detail.name",
    }
    filled = transformer["InputTemplate"].replace("<detail-executionArn>", '"a"').replace("<detail-name>", '"n"')
    assert json.loads(filled) == {"execution_arn": "a", "execution_name": "n"}


def test_each_service_acts_for_this_account_only(template):
    for part, service, source in (
        ("MachineJobRole", "states.amazonaws.com", ":states:us-east-1:111111111111:stateMachine:*"),
        ("MachineStopRole", "states.amazonaws.com", ":states:us-east-1:111111111111:stateMachine:*"),
        ("MachineEndedRole", "events.amazonaws.com", ":events:us-east-1:111111111111:rule/*"),
    ):
        _, role = resource(template, "AWS::IAM::Role", part)
        (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": service}
        assert statement["Condition"] == {
            "StringEquals": {"aws:SourceAccount": "111111111111"},
            "ArnLike": {"aws:SourceArn": {"Fn::Join": ["", ["arn:", PARTITION, source]]}},
        }
        # the policy stands before the role does
        assert list(role["Properties"]) == ["AssumeRolePolicyDocument", "ManagedPolicyArns"]


def test_logs_and_tracing(template):
    template.resource_count_is("AWS::IAM::Policy", 0)
    for machine in template.find_resources("AWS::StepFunctions::StateMachine").values():
        properties = machine["Properties"]
        assert properties["TracingConfiguration"] == {"Enabled": True}
        assert properties["LoggingConfiguration"]["Level"] == "ALL"
        assert properties["LoggingConfiguration"]["IncludeExecutionData"] is False
    for group in template.find_resources("AWS::Logs::LogGroup").values():
        assert group["DeletionPolicy"] == "Delete"
        assert group["Properties"]["RetentionInDays"] == 90
        assert group["Properties"]["LogGroupName"]["Fn::Join"][1][0].startswith("/aws/vendedlogs/states/Training-")


def test_definitions_are_json_with_tokens_in_place(template):
    role, _ = resource(template, "AWS::IAM::Role", "Role")
    _, machine = resource(template, "AWS::StepFunctions::StateMachine", "MachineJob")
    parts = machine["Properties"]["DefinitionString"]["Fn::Join"][1]
    definition = json.loads(
        "".join(part if isinstance(part, str) else json.dumps(part)[1:-1].replace('"', "'") for part in parts)
    )
    assert definition["QueryLanguage"] == "JSONata"
    create = definition["States"]["Create"]
    assert create["Resource"] == "arn:'Ref': 'AWS::Partition':states:::aws-sdk:sagemaker:createTrainingJob"
    assert create["Arguments"]["RoleArn"] == f"'Fn::GetAtt': ['{role}', 'Arn']"
    assert "null" not in "".join(part for part in parts if isinstance(part, str)).replace('\\"', "")
