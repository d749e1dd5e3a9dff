"""The job construct: what is rendered, granted, refused and warned of."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from tests.job.resolved import metadata_of, request_of
from tests.request.create_training_job_model import problems

import cdk_distributed_training as dt


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.py").write_text("print('hello')\n")
    return dt.SourceCode.from_directory(folder, entry_script="train.py", arguments=["--quiet"])


@pytest.fixture
def stack(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    return cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))


def synthesize(stack):
    return cdk.App.of(stack).synth()


def make(stack, source, *, instances=None, **props):
    return dt.DistributedTrainingJob(
        stack, "Job", source=source, instances=instances or dt.Instances("ml.c7i.xlarge", count=2), **props
    )


def request(stack):
    found = request_of(synthesize(stack), "Training")
    assert problems({**found, "TrainingJobName": "job-0123abcd"}) == []
    return found


def warnings(stack):
    found = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.any_value())
    return [str(message.entry.data) for message in found]


def findings(raised):
    return {(finding.rule, finding.prop) for finding in raised.value.findings}


@pytest.fixture(scope="module")
def made(source, tmp_path_factory):
    """The request and the template of a job with only what is required."""
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path_factory.mktemp("cdk.out")))
    stack = cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))
    make(stack, source)
    assembly = app.synth()
    return request_of(assembly, "Training"), assembly.get_stack_by_name("Training").template


class TestDefaults:
    def test_request(self, made):
        request, _ = made
        entrypoint = request["AlgorithmSpecification"].pop("ContainerEntrypoint")
        assert entrypoint[:2] == ["sh", "-c"]
        channels = request.pop("InputDataConfig")
        assert request == {
            "RoleArn": "arn:aws:iam::111111111111:role/JobRole91B66391",
            "AlgorithmSpecification": {
                "TrainingImage": ("763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch:2.13.0-cpu-amzn2023-sagemaker"),
                "TrainingInputMode": "File",
                "ContainerArguments": ["torchrun", "--nproc-per-node", "auto", "--", "train.py", "--quiet"],
                "EnableSageMakerMetricsTimeSeries": True,
            },
            "OutputDataConfig": {"S3OutputPath": "s3://bucket-joboutput0759972a/output"},
            "ResourceConfig": {"InstanceType": "ml.c7i.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 30},
            "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
            "VpcConfig": {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]},
            "EnableNetworkIsolation": False,
            "EnableInterContainerTrafficEncryption": False,
            "Tags": [{"Key": "distributed-training:job", "Value": "training-job"}],
        }
        assert [channel["ChannelName"] for channel in channels] == ["launcher", "code"]
        for channel in channels:
            place = channel["DataSource"]["S3DataSource"]
            assert place["S3DataType"] == "S3Prefix"
            assert place["S3Uri"].startswith("s3://cdk-hnb659fds-assets-111111111111-us-east-1/")
            assert place["S3Uri"].endswith(".zip")

    def test_output_bucket(self, made):
        template = assertions.Template.from_json(made[1])
        template.has_resource(
            "AWS::S3::Bucket",
            {
                "DeletionPolicy": "Retain",
                "Properties": {
                    "BucketEncryption": assertions.Match.any_value(),
                    "VersioningConfiguration": {"Status": "Enabled"},
                    "PublicAccessBlockConfiguration": {
                        "BlockPublicAcls": True,
                        "BlockPublicPolicy": True,
                        "IgnorePublicAcls": True,
                        "RestrictPublicBuckets": True,
                    },
                },
            },
        )
        template.has_resource_properties(
            "AWS::S3::BucketPolicy",
            {
                "PolicyDocument": {
                    "Statement": assertions.Match.array_with(
                        [
                            assertions.Match.object_like(
                                {"Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
                            )
                        ]
                    )
                }
            },
        )

    def test_nothing_runs_at_deployment(self, made):
        types = {resource["Type"] for resource in made[1]["Resources"].values()}
        assert not types & {"AWS::SageMaker::TrainingJob", "AWS::Scheduler::Schedule"}


def test_props_reach_the_request(stack, source):
    bucket = s3.Bucket(stack, "Data")
    make(
        stack,
        source,
        instances=dt.Instances("p4d.24xlarge", count=3, volume_size=cdk.Size.gibibytes(100)),
        distribution=dt.Torchrun(process_count_per_node=8, max_restarts=2),
        channels=[dt.Channel.from_bucket("train", bucket, prefix="corpus/", input_mode="FastFile")],
        hyperparameters={"lr": 1e-4, "text": 'it\'s "quoted" {x} $.y', "flag": False, "sizes": [1, 2], "no": None},
        environment={"OMP_NUM_THREADS": 4, "NCCL_DEBUG": "INFO"},
        image=dt.TrainingImage.from_uri("222222222222.dkr.ecr.us-east-1.amazonaws.com/train:1"),
        output_bucket=bucket,
        output_prefix="models",
        spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)),
        checkpoint=dt.CheckpointConfig(prefix="state/", local_path="/opt/ml/state"),
        encrypt_inter_container_traffic=True,
        network_isolation=True,
        max_runtime=cdk.Duration.hours(30),
    )
    found = request(stack)
    assert found["ResourceConfig"] == {
        "InstanceType": "ml.p4d.24xlarge",
        "InstanceCount": 3,
        "VolumeSizeInGB": 100,
    }
    assert found["AlgorithmSpecification"]["ContainerArguments"] == [
        *["torchrun", "--nproc-per-node", "8", "--max-restarts", "2", "--", "train.py", "--quiet"]
    ]
    assert found["AlgorithmSpecification"]["TrainingImage"].startswith("222222222222.")
    assert found["InputDataConfig"][2] == {
        "ChannelName": "train",
        "InputMode": "FastFile",
        "DataSource": {
            "S3DataSource": {
                "S3DataType": "S3Prefix",
                "S3Uri": "s3://bucket-data666c94c7/corpus/",
                "S3DataDistributionType": "FullyReplicated",
            }
        },
    }
    assert found["HyperParameters"] == {
        "lr": "0.0001",
        "text": 'it\'s "quoted" {x} $.y',
        "flag": "false",
        "sizes": "[1, 2]",
        "no": "null",
    }
    assert found["Environment"] == {"OMP_NUM_THREADS": "4", "NCCL_DEBUG": "INFO"}
    assert found["OutputDataConfig"] == {"S3OutputPath": "s3://bucket-data666c94c7/models"}
    assert found["EnableManagedSpotTraining"] is True
    assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 108000, "MaxWaitTimeInSeconds": 172800}
    assert found["CheckpointConfig"] == {"S3Uri": "s3://bucket-data666c94c7/state", "LocalPath": "/opt/ml/state"}
    assert found["EnableInterContainerTrafficEncryption"] is True
    assert found["EnableNetworkIsolation"] is True


def test_spot_has_checkpoints_without_being_asked(stack, source):
    make(stack, source, spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)))
    assert request(stack)["CheckpointConfig"] == {
        "S3Uri": "s3://bucket-joboutput0759972a/checkpoints/training-job",
        "LocalPath": "/opt/ml/checkpoints",
    }


def test_a_file_system_brings_its_network(stack, source):
    network = dt.TrainingNetwork(stack, "Network")
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    job = make(stack, source, channels=[corpus.channel("train", directory_path="/corpus")])
    assert job.network is network
    found = request(stack)
    assert found["InputDataConfig"][2]["DataSource"]["FileSystemDataSource"] == {
        "FileSystemId": "fs-0123456789abcdef0",
        "FileSystemType": "FSxLustre",
        "DirectoryPath": "/abcdefgh/corpus",
        "FileSystemAccessMode": "ro",
    }


def test_every_security_group_of_the_network_is_attached(stack, source):
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"])
    network = dt.TrainingNetwork.from_attributes(
        stack,
        "Network",
        vpc=vpc,
        subnet=ec2.Subnet.from_subnet_attributes(stack, "S", subnet_id="subnet-1", availability_zone="us-east-1a"),
        node_security_group=ec2.SecurityGroup.from_security_group_id(stack, "A", "sg-a"),
        additional_security_groups=[ec2.SecurityGroup.from_security_group_id(stack, "B", "sg-b")],
    )
    make(stack, source, network=network)
    assert request(stack)["VpcConfig"] == {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-a", "sg-b"]}


class TestTokens:
    def test_are_never_judged(self, stack, source):
        number = cdk.CfnParameter(stack, "Number", type="Number", default=3)
        name = cdk.CfnParameter(stack, "Name", default="name")
        make(
            stack,
            source,
            instances=dt.Instances(name.value_as_string, count=number.value_as_number),
            distribution=dt.Torchrun(
                process_count_per_node=number.value_as_number, max_restarts=number.value_as_number
            ),
            channels=[dt.Channel.from_s3_uri(name.value_as_string, name.value_as_string)],
            hyperparameters={
                "text": f"x{name.value_as_string}",
                "number": number.value_as_number,
                "list": [1, name.value_as_string, {"deep": number.value_as_number}],
            },
            environment={"NAME": name.value_as_string, "NUMBER": number.value_as_number},
            image=dt.TrainingImage.from_uri(name.value_as_string),
            job_name=name.value_as_string,
            output_prefix=name.value_as_string,
            max_runtime=cdk.Duration.seconds(number.value_as_number),
            spot=dt.ManagedSpot(max_wait=cdk.Duration.seconds(number.value_as_number)),
        )
        found = request_of(synthesize(stack), "Training")
        assert found["ResourceConfig"]["InstanceCount"] == 3
        assert found["ResourceConfig"]["InstanceType"] == "name"
        words = found["AlgorithmSpecification"]["ContainerArguments"]
        # a reference to a number becomes text in the state machine, where it stands between quotes
        assert [str(word) for word in words[:5]] == ["torchrun", "--nproc-per-node", "3", "--max-restarts", "3"]
        found["HyperParameters"]["number"] = str(found["HyperParameters"]["number"])
        assert found["HyperParameters"] == {"text": "xname", "number": "3", "list": '[1,"name",{"deep":3}]'}
        assert {name: str(value) for name, value in found["Environment"].items()} == {"NAME": "name", "NUMBER": "3"}
        assert found["StoppingCondition"] == {"MaxRuntimeInSeconds": 3, "MaxWaitTimeInSeconds": 3}
        assert metadata_of(synthesize(stack), "Training")["job_name"] == {"Ref": "Name"}

    def test_stay_bare_numbers_in_the_state_machine(self, stack, source):
        number = cdk.CfnParameter(stack, "Number", type="Number", default=3)
        make(stack, source, instances=dt.Instances("ml.c7i.xlarge", count=number.value_as_number))
        definitions = assertions.Template.from_stack(stack).find_resources("AWS::StepFunctions::StateMachine")
        text = json.dumps([machine["Properties"]["DefinitionString"] for machine in definitions.values()])
        assert r"\"instance_count\":\"" not in text
        assert '{"Ref": "Number"}' in text


BAD = {
    "DT310": ({"job_name": "My_exp"}, "job_name"),
    "DT311": ({"max_runtime": cdk.Duration.days(29)}, "max_runtime"),
    "DT312": ({"spot": dt.ManagedSpot(max_wait=cdk.Duration.hours(1))}, "spot.max_wait"),
    "DT301": ({"hyperparameters": {str(number): 1 for number in range(101)}}, "hyperparameters"),
    "DT302": ({"environment": {"MY-KEY": "1"}}, "environment"),
    "DT303": ({"environment": {"KEY": "x" * 513}}, "environment['KEY']"),
    "DT304": ({"hyperparameters": {"lr": float("nan")}}, "hyperparameters['lr']"),
    "DT306": ({"channels": [dt.Channel.from_s3_uri("code", "s3://b/c")]}, "channels"),
    "DT402": ({"instances": dt.Instances("ml.c7i.xlarge", count=0)}, "instances.count"),
    "DT403": ({"distribution": dt.Torchrun(process_count_per_node=0)}, "distribution.process_count_per_node"),
    "DT701": ({"hyperparameters": {"x": "{% $uuid() %}"}}, "hyperparameters['x']"),
    "DT702": ({"environment": {"TRAINING_EXECUTION_ARN": "x"}}, "environment"),
    "DT703": ({"poll_interval": cdk.Duration.millis(500)}, "poll_interval"),
}


@pytest.mark.parametrize(("rule", "case"), BAD.items(), ids=BAD)
def test_bad_input(rule, case, stack, source):
    props, prop = case
    with pytest.raises(dt.ConfigurationError) as raised:
        make(stack, source, **props)
    assert findings(raised) == {(rule, prop)}
    assert raised.value.where == "Training/Job"


def test_all_findings_come_at_once(stack, source):
    with pytest.raises(dt.ConfigurationError) as raised:
        make(
            stack,
            source,
            instances=dt.Instances("ml.c7i.xlarge", count=0),
            job_name="NO",
            max_runtime=cdk.Duration.days(40),
            hyperparameters={"lr": {1, 2}},
        )
    assert {rule for rule, _ in findings(raised)} == {"DT402", "DT310", "DT311", "DT304"}


def test_networks_that_do_not_meet(stack, source):
    corpora = [
        dt.LustreFileSystem(
            stack,
            f"Corpus{name}",
            network=dt.TrainingNetwork(stack, f"Network{name}"),
            storage_capacity=cdk.Size.gibibytes(1200),
        )
        for name in "AB"
    ]
    with pytest.raises(dt.ConfigurationError, match="DT313"):
        make(stack, source, channels=[corpora[0].channel("a"), corpora[1].channel("b")])
    with pytest.raises(dt.ConfigurationError, match=r"the channels b elsewhere"):
        dt.DistributedTrainingJob(
            stack,
            "Other",
            source=source,
            instances=dt.Instances("ml.c7i.xlarge"),
            network=corpora[0].network,
            channels=[corpora[1].channel("b")],
        )


def test_an_unknown_instance_type_is_a_warning(stack, source):
    make(stack, source, instances=dt.Instances("ml.p99.48xlarge"))
    assert any("DT401" in warning for warning in warnings(stack))


def test_a_known_setup_has_no_warnings(stack, source):
    make(stack, source)
    assert warnings(stack) == []


class TestProtocols:
    def test_other_constructs_grant_to_the_job(self, stack, source):
        bucket = s3.Bucket(stack, "Data")
        job = make(stack, source)
        bucket.grant_read(job)
        template = assertions.Template.from_stack(stack)
        template.has_resource_properties(
            "AWS::IAM::Policy",
            {"Roles": [stack.resolve(job.role.role_name)], "PolicyDocument": assertions.Match.any_value()},
        )

    def test_connections_are_the_machines(self, stack, source):
        job = make(stack, source)
        database = ec2.SecurityGroup(stack, "Database", vpc=job.network.vpc)
        database.connections.allow_from(job, ec2.Port.tcp(5432))
        template = assertions.Template.from_stack(stack)
        template.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": 5432})

    def test_connections_with_a_group_of_a_stack_that_needs_the_networks(self, tmp_path, source):
        app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "two"))
        below, above = cdk.Stack(app, "Below"), cdk.Stack(app, "Above")
        network = dt.TrainingNetwork(below, "Network")
        job = make(above, source, network=network)
        database = ec2.SecurityGroup(above, "Database", vpc=network.vpc)
        database.connections.allow_from(job, ec2.Port.tcp(5432))
        both = assertions.Template.from_stack(above)
        both.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": 5432})
        both.has_resource_properties("AWS::EC2::SecurityGroupEgress", {"FromPort": 5432})

    def test_grants(self, stack, source):
        job = make(stack, source)
        people = iam.Role(stack, "People", assumed_by=iam.AccountRootPrincipal())
        for grant in (job.grants.start, job.grants.read, job.grants.stop):
            assert grant(people).success
        template = assertions.Template.from_stack(stack)
        machine = stack.resolve(job.state_machine.state_machine_arn)
        executions = {
            "Fn::Join": [
                "",
                [
                    "arn:",
                    {"Ref": "AWS::Partition"},
                    ":states:us-east-1:111111111111:execution:",
                    stack.resolve(job.state_machine.state_machine_name),
                    ":*",
                ],
            ]
        }
        template.has_resource_properties(
            "AWS::IAM::Policy",
            {
                "PolicyDocument": {
                    "Statement": [
                        {"Action": "states:StartExecution", "Effect": "Allow", "Resource": machine},
                        {
                            "Action": ["states:DescribeStateMachine", "states:ListExecutions"],
                            "Effect": "Allow",
                            "Resource": machine,
                        },
                        {
                            "Action": ["states:DescribeExecution", "states:GetExecutionHistory"],
                            "Effect": "Allow",
                            "Resource": executions,
                        },
                        {"Action": "states:StopExecution", "Effect": "Allow", "Resource": executions},
                    ]
                }
            },
        )

    def test_events(self, stack, source):
        make(stack, source, job_name="pretrain").on_state_change("Ended", statuses=["Failed"])
        assertions.Template.from_stack(stack).has_resource_properties(
            "AWS::Events::Rule",
            {
                "EventPattern": {
                    "source": ["aws.sagemaker"],
                    "detail-type": ["SageMaker Training Job State Change"],
                    "detail": {"TrainingJobName": [{"prefix": "pretrain-"}], "TrainingJobStatus": ["Failed"]},
                }
            },
        )


def test_two_jobs_share_a_stack_and_a_network(stack, source):
    network = dt.TrainingNetwork(stack, "Network")
    jobs = [
        dt.DistributedTrainingJob(stack, id, source=source, instances=dt.Instances("ml.c7i.xlarge"), network=network)
        for id in ("First", "Second")
    ]
    assert [job.job_name for job in jobs] == ["training-first", "training-second"]
    assertions.Template.from_stack(stack).resource_count_is("AWS::EC2::VPC", 1)


def test_in_a_stage_and_without_an_environment(source, tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    stage = cdk.Stage(app, "Prod")
    stack = cdk.Stack(stage, "Training")
    job = make(stack, source)
    app.synth()
    assert job.job_name == "prod-training-job"
    (folder,) = tmp_path.glob("assembly-*")
    metadata = json.loads(next(folder.glob("*.metadata.json")).read_text(encoding="utf-8"))
    assert any(entry["type"] == "cdk-distributed-training:training-job" for entry in metadata["/Prod/Training/Job"])


def test_a_long_path_makes_a_legal_name(source, tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    stack = cdk.Stack(app, "AStackWithAVeryLongNameOfItsOwn")
    job = make(stack, source)
    assert len(job.job_name) <= 30
    assert job.job_name == job.job_name.lower()


def test_what_is_brought_may_live_in_another_stack(source, tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    shared = cdk.Stack(app, "Shared")
    network = dt.TrainingNetwork(shared, "Network")
    corpus = dt.LustreFileSystem(shared, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    bucket = s3.Bucket(shared, "Data", encryption=s3.BucketEncryption.KMS)
    training = cdk.Stack(app, "Training")
    make(training, source, channels=[corpus.channel("train")], output_bucket=bucket)
    assembly = app.synth()
    assert "Fn::ImportValue" in json.dumps(metadata_of(assembly, "Training"))
    assert not assembly.get_stack_by_name("Shared").dependencies[1:]
