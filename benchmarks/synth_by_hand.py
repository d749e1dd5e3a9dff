"""The same app as `synth_ours.py`, its template written by hand with CDK's own constructs.

As someone would who knows what the template must hold: the two assets are made once, names are literals, and the state
machines' definitions lie in a file as text, with marks where values of the stack belong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_stepfunctions as sfn

from benchmarks.synth_process import EXAMPLE, ROOT, finish, network

ACCOUNT, REGION = "111111111111", "us-east-1"
LOG_DELIVERY = [
    *("logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies"),
    *("logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery"),
]
TRACING = [
    *("xray:GetSamplingRules", "xray:GetSamplingTargets"),
    *("xray:PutTelemetryRecords", "xray:PutTraceSegments"),
]


def build(app: cdk.App, count: int) -> None:
    stack = cdk.Stack(app, "Jobs", env=cdk.Environment(account=ACCOUNT, region=REGION))
    definitions = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
    folders = {"Launcher": ROOT / "container" / "src", "Code": EXAMPLE}
    made = [
        assets.Asset(stack, name, path=str(path), exclude=json.loads(exclude), ignore_mode=cdk.IgnoreMode.GIT)
        for (name, path), exclude in zip(folders.items(), sys.argv[4:6], strict=True)
    ]
    _, subnet, group = network(stack)
    for number in range(count):
        _job(
            stack,
            f"Job{number}",
            definitions[number],
            bucket=made[0].bucket,
            subnet_id=subnet.subnet_id,
            group_id=group.security_group_id,
        )


def _allow(
    actions: str | list[str], resources: str | list[str], conditions: dict[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=[actions] if isinstance(actions, str) else actions,
        resources=[resources] if isinstance(resources, str) else resources,
        conditions=conditions,
    )


def _role(
    stack: cdk.Stack, name: str, service: str, source: str, *statements: iam.PolicyStatement, words: str | None = None
) -> iam.Role:
    policy = iam.ManagedPolicy(stack, f"{name}Policy", description=words, statements=list(statements))
    conditions = {"StringEquals": {"aws:SourceAccount": ACCOUNT}, "ArnLike": {"aws:SourceArn": source}}
    principal = iam.ServicePrincipal(f"{service}.amazonaws.com", conditions=conditions)
    return iam.Role(stack, name, assumed_by=principal, managed_policies=[policy])


def _job(
    stack: cdk.Stack, name: str, texts: dict[str, str], *, bucket: s3.IBucket, subnet_id: str, group_id: str
) -> None:
    def arn(service: str, rest: str) -> str:
        return f"arn:{cdk.Aws.PARTITION}:{service}:{REGION}:{ACCOUNT}:{rest}"

    output = s3.Bucket(
        stack,
        f"{name}Output",
        encryption=s3.BucketEncryption.KMS_MANAGED,
        bucket_key_enabled=True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        versioned=True,
        removal_policy=cdk.RemovalPolicy.RETAIN,
        lifecycle_rules=[
            s3.LifecycleRule(
                noncurrent_version_expiration=cdk.Duration.days(30),
                abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
            )
        ],
    )
    _skip(output, texts["output"])
    group, subnet = arn("ec2", f"security-group/{group_id}"), arn("ec2", f"subnet/{subnet_id}")
    interfaces, training_logs = arn("ec2", "network-interface/*"), arn("logs", "log-group:/aws/sagemaker/TrainingJobs")
    ecr = f"arn:{cdk.Aws.PARTITION}:ecr:{REGION}:763104351884:repository/pytorch"
    s3_arn = f"arn:{cdk.Aws.PARTITION}:s3:::corpora"
    training = _role(
        stack,
        f"{name}Role",
        "sagemaker",
        arn("sagemaker", "training-job/*"),
        _allow(
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            [training_logs, f"{training_logs}:*"],
        ),
        _allow(
            "cloudwatch:PutMetricData",
            "*",
            {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}},
        ),
        _allow("ec2:CreateNetworkInterface", [interfaces, group, subnet]),
        _allow(
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            interfaces,
            {"ArnEquals": {"ec2:Subnet": subnet}},
        ),
        _allow(
            [
                *("ec2:DescribeDhcpOptions", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroups"),
                *("ec2:DescribeSubnets", "ec2:DescribeVpcs"),
            ],
            "*",
        ),
        _allow("s3:ListBucket", output.bucket_arn),
        _allow(["s3:AbortMultipartUpload", "s3:PutObject"], output.arn_for_objects("output/*")),
        _allow(["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"], ecr),
        _allow("ecr:GetAuthorizationToken", "*"),
        _allow("s3:ListBucket", bucket.bucket_arn),
        _allow("s3:GetObject", bucket.arn_for_objects("*.zip")),
        _allow("s3:ListBucket", s3_arn),
        _allow("s3:GetObject", f"{s3_arn}/digits/*"),
        words="What a distributed training job may do",
    )
    identity = cdk.Fn.select(4, cdk.Fn.split("-", cdk.Fn.select(2, cdk.Fn.split("/", cdk.Aws.STACK_ID))))
    log_group = logs.LogGroup(
        stack,
        f"{name}Log",
        log_group_name=texts["log_group_name"] + identity,
        retention=logs.RetentionDays.THREE_MONTHS,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    _skip(log_group, texts["log"])
    jobs = arn("sagemaker", f"training-job/jobs-{name.lower()}-*")
    run = _machine(
        stack,
        f"{name}Run",
        texts["run"],
        {"role": training.role_arn, "bucket": output.bucket_name, "subnet": subnet_id, "group": group_id},
        log_group,
        _allow(["sagemaker:AddTags", "sagemaker:CreateTrainingJob", "sagemaker:DescribeTrainingJob"], jobs),
        _allow("iam:PassRole", training.role_arn, {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}),
    )
    stop = _machine(
        stack,
        f"{name}Stop",
        texts["stop"],
        {},
        log_group,
        _allow(["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"], jobs),
        _allow("sagemaker:ListTrainingJobs", "*"),
    )
    starter = _role(
        stack,
        f"{name}EndedRole",
        "events",
        arn("events", "rule/*"),
        _allow("states:StartExecution", stop.state_machine_arn),
    )
    found = {
        "execution_arn": events.EventField.from_path("$.detail.executionArn"),
        "execution_name": events.EventField.from_path("$.detail.name"),
    }
    events.Rule(
        stack,
        f"{name}Ended",
        description="Stops the training job of an execution that ended without it",
        event_pattern=events.EventPattern(
            source=["aws.states"],
            detail_type=["Step Functions Execution Status Change"],
            detail={"status": ["ABORTED", "FAILED", "TIMED_OUT"], "stateMachineArn": [run.state_machine_arn]},
        ),
        targets=[
            targets.SfnStateMachine(
                stop, role=starter.without_policy_updates(), input=events.RuleTargetInput.from_object(found)
            )
        ],
    )


def _machine(
    stack: cdk.Stack,
    name: str,
    text: str,
    values: dict[str, str],
    log_group: logs.LogGroup,
    *statements: iam.PolicyStatement,
) -> sfn.StateMachine:
    role = _role(
        stack,
        f"{name}Role",
        "states",
        f"arn:{cdk.Aws.PARTITION}:states:{REGION}:{ACCOUNT}:stateMachine:*",
        *statements,
        _allow(LOG_DELIVERY, "*"),
        _allow(TRACING, "*"),
    )
    for mark, value in {**values, "partition": cdk.Aws.PARTITION, "suffix": cdk.Aws.URL_SUFFIX}.items():
        text = text.replace(f"@@{mark}@@", value)
    return sfn.StateMachine(
        stack,
        name,
        # CDK's way for JSON with tokens in it
        definition_body=sfn.DefinitionBody.from_string(stack.to_json_string(json.loads(text))),
        role=role.without_policy_updates(),
        tracing_enabled=True,
        logs=sfn.LogOptions(destination=log_group, level=sfn.LogLevel.ALL, include_execution_data=False),
    )


def _skip(construct: cdk.Resource, metadata: str) -> None:
    resource = construct.node.default_child
    assert isinstance(resource, cdk.CfnResource)
    resource.add_metadata("checkov", json.loads(metadata))


if __name__ == "__main__":
    finish(build, count=int(sys.argv[1]), folder=sys.argv[2])
