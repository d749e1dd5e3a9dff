"""The training role: exactly what is bound, and for nobody but SageMaker's training jobs."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

import cdk_distributed_training as dt

ACCOUNT = "111111111111"
REGION = "us-east-1"


def arn(text):
    """An ARN in the template: `arn:<partition>:rest`."""
    return {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":{text}"]]}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.py").touch()
    return dt.SourceCode.from_directory(folder, entry_script="train.py")


@pytest.fixture
def stack(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    return cdk.Stack(app, "Training", env=cdk.Environment(account=ACCOUNT, region=REGION))


def make(stack, source, **props):
    return dt.DistributedTrainingJob(stack, "Job", source=source, instances=dt.Instances("ml.c7i.xlarge"), **props)


def statements(stack, job):
    """The statements of the job's own policy."""
    policies = assertions.Template.from_stack(stack).find_resources(
        "AWS::IAM::ManagedPolicy", {"Properties": {"Description": "What a distributed training job may do"}}
    )
    (policy,) = policies.values()
    return policy["Properties"]["PolicyDocument"]["Statement"]


def test_trust(stack, source):
    make(stack, source)
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    {
                        "Action": "sts:AssumeRole",
                        "Effect": "Allow",
                        "Principal": {"Service": "sagemaker.amazonaws.com"},
                        "Condition": {
                            "StringEquals": {"aws:SourceAccount": ACCOUNT},
                            "ArnLike": {"aws:SourceArn": arn(f"sagemaker:{REGION}:{ACCOUNT}:training-job/*")},
                        },
                    }
                ],
                "Version": "2012-10-17",
            }
        },
    )


def test_statements_are_exact(stack, source):
    key = kms.Key(stack, "Key")
    data = s3.Bucket(stack, "Data", encryption_key=key)
    output = s3.Bucket(stack, "Output")
    job = make(
        stack,
        source,
        channels=[
            dt.Channel.from_bucket("train", data, prefix="corpus/"),
            dt.Channel.from_s3_uri("tokenizer", "s3://models/v2"),
        ],
        output_bucket=output,
        checkpoint=dt.CheckpointConfig(bucket=data, prefix="state"),
    )
    network = job.network
    subnet = {
        "Fn::Join": [
            "",
            [
                "arn:",
                {"Ref": "AWS::Partition"},
                f":ec2:{REGION}:{ACCOUNT}:subnet/",
                stack.resolve(network.subnet.subnet_id),
            ],
        ]
    }
    group = {
        "Fn::Join": [
            "",
            [
                *("arn:", {"Ref": "AWS::Partition"}, f":ec2:{REGION}:{ACCOUNT}:security-group/"),
                stack.resolve(network.node_security_group.security_group_id),
            ],
        ]
    }
    interfaces = arn(f"ec2:{REGION}:{ACCOUNT}:network-interface/*")
    log_group = f"logs:{REGION}:{ACCOUNT}:log-group:/aws/sagemaker/TrainingJobs"
    assets = f"s3:::cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"

    def allow(actions, resources, condition=None):
        statement = {"Effect": "Allow", "Action": actions, "Resource": resources}
        return statement if condition is None else {**statement, "Condition": condition}

    def under(bucket, prefix):
        return {"Fn::Join": ["", [stack.resolve(bucket.bucket_arn), f"/{prefix}*"]]}

    key_arn = stack.resolve(key.key_arn)
    assert statements(stack, job) == [
        allow(
            ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            [arn(log_group), arn(f"{log_group}:*")],
        ),
        allow(
            "cloudwatch:PutMetricData",
            "*",
            {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}},
        ),
        allow("ec2:CreateNetworkInterface", [interfaces, group, subnet]),
        allow(
            [
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            ],
            interfaces,
            {"ArnEquals": {"ec2:Subnet": subnet}},
        ),
        allow(
            [
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            ],
            "*",
        ),
        allow("s3:ListBucket", stack.resolve(output.bucket_arn)),
        allow(["s3:AbortMultipartUpload", "s3:PutObject"], under(output, "output/")),
        allow(
            ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
            arn(f"ecr:{REGION}:763104351884:repository/pytorch"),
        ),
        allow("ecr:GetAuthorizationToken", "*"),
        allow("s3:ListBucket", arn(assets)),
        allow("s3:GetObject", arn(f"{assets}/*.zip")),
        allow("s3:ListBucket", stack.resolve(data.bucket_arn)),
        allow("s3:GetObject", under(data, "corpus/")),
        allow("kms:Decrypt", key_arn),
        allow("s3:ListBucket", arn("s3:::models")),
        allow("s3:GetObject", arn("s3:::models/v2*")),
        allow(["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"], under(data, "state/")),
        allow(["kms:Decrypt", "kms:GenerateDataKey"], key_arn),
    ]


def test_nothing_is_inline(stack, source):
    make(stack, source)
    template = assertions.Template.from_stack(stack)
    template.resource_count_is("AWS::IAM::Policy", 0)
    roles = {name: role for name, role in template.find_resources("AWS::IAM::Role").items() if name.startswith("Job")}
    assert len(roles) >= 4
    assert not [name for name, role in roles.items() if "Policies" in role["Properties"]]


def test_a_role_of_the_users_gets_the_statements(stack, source):
    role = iam.Role(stack, "Mine", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    job = make(stack, source, role=role)
    assert job.role is role
    template = assertions.Template.from_stack(stack)
    (policy,) = template.find_resources("AWS::IAM::Policy").values()
    assert policy["Properties"]["Roles"] == [stack.resolve(role.role_name)]
    actions = str(policy["Properties"]["PolicyDocument"])
    assert all(action in actions for action in ("s3:PutObject", "ec2:CreateNetworkInterface", "ecr:BatchGetImage"))


def test_an_imported_role_gets_them_too(stack, source):
    role = iam.Role.from_role_arn(stack, "Mine", f"arn:aws:iam::{ACCOUNT}:role/train")
    make(stack, source, role=role)
    template = assertions.Template.from_stack(stack)
    template.has_resource_properties("AWS::IAM::Policy", {"Roles": ["train"]})


def test_an_unchangeable_role_gets_nothing(stack, source):
    role = iam.Role.from_role_arn(stack, "Mine", f"arn:aws:iam::{ACCOUNT}:role/train", mutable=False)
    make(stack, source, role=role)
    assertions.Template.from_stack(stack).resource_count_is("AWS::IAM::Policy", 0)


def test_a_repository_is_pulled_from_by_its_own_arn(stack, source):
    repository = ecr.Repository(stack, "Images")
    job = make(stack, source, image=dt.TrainingImage.from_ecr_repository(repository, "1"))
    pulls = [
        statement["Resource"] for statement in statements(stack, job) if "ecr:BatchGetImage" in statement["Action"]
    ]
    assert pulls == [stack.resolve(repository.repository_arn)]
