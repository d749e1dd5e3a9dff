"""The training role: exactly what is bound, and for nobody but SageMaker's training jobs."""

import json

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


def warnings(stack):
    found = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value())
    return [str(message.entry.data) for message in found]


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


def test_a_role_of_the_users_gets_the_same_policy(stack, source):
    role = iam.Role(stack, "Mine", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    job = make(stack, source, role=role)
    assert job.role is role
    template = assertions.Template.from_stack(stack)
    template.resource_count_is("AWS::IAM::Policy", 0)
    template.has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "Description": "What a distributed training job may do",
            "Roles": [stack.resolve(role.role_name)],
            "PolicyDocument": {"Statement": job.required_statements, "Version": "2012-10-17"},
        },
    )


def test_an_imported_role_gets_it_too(stack, source):
    role = iam.Role.from_role_arn(stack, "Mine", f"arn:aws:iam::{ACCOUNT}:role/train")
    make(stack, source, role=role)
    template = assertions.Template.from_stack(stack)
    template.has_resource_properties("AWS::IAM::ManagedPolicy", {"Roles": ["train"]})
    assert warnings(stack) == []


UNCHANGEABLE = {
    "imported": lambda stack: iam.Role.from_role_arn(
        stack, "Mine", f"arn:aws:iam::{ACCOUNT}:role/train", mutable=False
    ),
    "of another account": lambda stack: iam.Role.from_role_arn(stack, "Mine", "arn:aws:iam::222222222222:role/train"),
    "made so": lambda stack: iam.Role(
        stack, "Mine", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com")
    ).without_policy_updates(),
}


@pytest.mark.parametrize("role", UNCHANGEABLE.values(), ids=UNCHANGEABLE)
def test_of_an_unchangeable_role_the_statements_are_printed(role, stack, source):
    job = make(stack, source, role=role(stack))
    template = assertions.Template.from_stack(stack)
    template.resource_count_is("AWS::IAM::Policy", 0)
    policies = template.find_resources("AWS::IAM::ManagedPolicy").values()
    assert not [policy for policy in policies if "training job may do" in policy["Properties"]["Description"]]
    (warning,) = warnings(stack)
    assert "DT613" in warning
    start = warning.index('[{"Action"')
    printed, _ = json.JSONDecoder().raw_decode(warning[start:])
    assert printed == job.required_statements
    assert len(printed) > 8


@pytest.mark.parametrize("others_first", [True, False])
def test_a_role_of_another_stack_makes_no_circle(others_first, source, tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    names = ("Access", "Training")
    stacks = {name: cdk.Stack(app, name) for name in (names if others_first else reversed(names))}
    role = iam.Role(stacks["Access"], "Mine", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    make(stacks["Training"], source, role=role)
    app.synth()
    assert stacks["Training"].dependencies == [stacks["Access"]]
    assert stacks["Access"].dependencies == []


class TestAnotherAccount:
    """What the resource's own policy must say besides the role's."""

    @pytest.fixture
    def owner(self, stack):
        return cdk.Stack(cdk.App.of(stack), "Owner", env=cdk.Environment(account="222222222222", region=REGION))

    def test_bucket(self, stack, owner, source):
        bucket = s3.Bucket(owner, "Data", bucket_name="corpus-of-another-account")
        role = iam.Role(stack, "Mine", role_name="train", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        make(stack, source, role=role, channels=[dt.Channel.from_bucket("train", bucket, prefix="x/")])
        template = assertions.Template.from_stack(owner)
        (policy,) = template.find_resources("AWS::S3::BucketPolicy").values()
        granted = policy["Properties"]["PolicyDocument"]["Statement"]
        assert [statement["Action"] for statement in granted] == ["s3:ListBucket", "s3:GetObject"]
        principal = {"AWS": arn(f"iam::{ACCOUNT}:role/train")}
        assert [statement["Principal"] for statement in granted] == [principal, principal]

    def test_an_imported_bucket_with_a_key(self, stack, source):
        key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:222222222222:key/12345678")
        bucket = s3.Bucket.from_bucket_attributes(
            stack, "Data", bucket_name="corpus", account="222222222222", encryption_key=key
        )
        job = make(stack, source, channels=[dt.Channel.from_bucket("train", bucket)])
        assert {"Action": "kms:Decrypt", "Effect": "Allow", "Resource": key.key_arn} in job.required_statements

    def test_repository(self, stack, owner, source):
        repository = ecr.Repository(owner, "Images", repository_name="images")
        role = iam.Role(stack, "Mine", role_name="train", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        make(stack, source, role=role, image=dt.TrainingImage.from_ecr_repository(repository, "1"))
        template = assertions.Template.from_stack(owner)
        (made,) = template.find_resources("AWS::ECR::Repository").values()
        assert "RepositoryPolicyText" in made["Properties"]


class TestPermissionsBoundary:
    BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/boundary"

    def roles(self, stack):
        """The job's own: CDK's functions, which all constructs of a stack share, have roles of their own."""
        found = assertions.Template.from_stack(stack).find_resources("AWS::IAM::Role")
        return {name: role for name, role in found.items() if name.startswith(("Job", "Other"))}

    def test_of_cdk(self, stack, source):
        boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "boundary")
        iam.PermissionsBoundary.of(stack).apply(boundary)
        make(stack, source)
        assert all("PermissionsBoundary" in role["Properties"] for role in self.roles(stack).values())

    def test_of_the_job(self, stack, source):
        other = iam.Role(stack, "Other", assumed_by=iam.AccountRootPrincipal())
        boundary = iam.ManagedPolicy.from_managed_policy_arn(stack, "Boundary", self.BOUNDARY)
        make(stack, source, permissions_boundary=boundary)
        bounded = {name: role["Properties"].get("PermissionsBoundary") for name, role in self.roles(stack).items()}
        assert bounded.pop(stack.get_logical_id(other.node.default_child)) is None
        assert len(bounded) >= 4
        assert set(bounded.values()) == {self.BOUNDARY}


def test_a_repository_is_pulled_from_by_its_own_arn(stack, source):
    repository = ecr.Repository(stack, "Images")
    job = make(stack, source, image=dt.TrainingImage.from_ecr_repository(repository, "1"))
    pulls = [
        statement["Resource"] for statement in statements(stack, job) if "ecr:BatchGetImage" in statement["Action"]
    ]
    assert pulls == [stack.resolve(repository.repository_arn)]


@pytest.mark.parametrize(
    ("prefix", "path", "written"),
    [("models", "models", "models/*"), ("models/", "models", "models/*"), ("a/b//", "a/b", "a/b/*"), ("", "", "*")],
)
def test_models_may_be_written_however_the_folder_ends(stack, source, prefix, path, written):
    bucket = s3.Bucket.from_bucket_name(stack, "Models", "models-of-mine")
    job = make(stack, source, output_bucket=bucket, output_prefix=prefix)
    assert stack.resolve(job.request["OutputDataConfig"])["S3OutputPath"] == f"s3://models-of-mine/{path}"
    writing = [one for one in statements(stack, job) if "s3:PutObject" in one["Action"]]
    assert [one["Resource"] for one in writing] == [
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":s3:::models-of-mine/{written}"]]}
    ]
