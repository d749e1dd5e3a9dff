"""What the engine for machines of one's own refuses when an app is synthesized, and what it takes."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from tests.engines.engine_stack import network
from tests.engines.multi_node_stack import training_job

import cdk_distributed_training as dt


@pytest.fixture
def stack(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    return cdk.Stack(app, "Own", env=cdk.Environment(account="111111111111", region="us-east-1"))


def refused(stack, job, **options):
    with pytest.raises(dt.ConfigurationError) as caught:
        dt.MultiNodeParallelJob(stack, "OnEc2", job=job, **options)
    return [(finding.rule, finding.prop, finding.got) for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        ({"spot": dt.ManagedSpot(max_wait=cdk.Duration.days(2))}, "EnableManagedSpotTraining"),
        ({"checkpoint": dt.CheckpointConfig()}, "CheckpointConfig"),
        ({"network_isolation": True}, "EnableNetworkIsolation"),
        ({"encrypt_inter_container_traffic": True}, "EnableInterContainerTrafficEncryption"),
        (
            {"metric_definitions": [dt.MetricDefinition(name="loss", regex="loss=(.*)")]},
            "AlgorithmSpecification.MetricDefinitions",
        ),
        ({"remote_debug": True}, "RemoteDebugConfig"),
        ({"infra_check": True}, "InfraCheckConfig"),
        ({"max_pending": cdk.Duration.hours(2)}, "StoppingCondition.MaxPendingTimeInSeconds"),
        ({"environment": {"AWS_BATCH_JOB_ID": "1"}}, "Environment.AWS_BATCH_JOB_ID"),
        ({"output_compression": "GZIP"}, "OutputDataConfig.CompressionType GZIP"),
    ],
)
def test_what_only_sagemaker_has_is_refused_by_name(stack, tmp_path, changes, member):
    found = refused(stack, training_job(stack, tmp_path / "source", **changes))
    assert ("DT720", "job", f"{member} in the request of a job for a multi-node parallel job of AWS Batch") in found


@pytest.mark.parametrize(
    ("channel", "problem"),
    [
        (dt.Channel.from_s3_uri("corpus", "s3://corpus/", input_mode="FastFile"), "InputMode FastFile"),
        (
            dt.Channel.from_s3_uri("corpus", "s3://corpus/", options=dt.ChannelOptions(distribution="ShardedByS3Key")),
            "S3DataDistributionType ShardedByS3Key",
        ),
        (
            dt.Channel.from_s3_uri("corpus", "s3://corpus/", options=dt.ChannelOptions(compression="Gzip")),
            "CompressionType Gzip",
        ),
        (
            dt.Channel.from_s3_uri("corpus", "s3://corpus/", options=dt.ChannelOptions(shuffle_seed=1)),
            "the member ShuffleConfig",
        ),
    ],
)
def test_channels_that_nobody_brings(stack, tmp_path, channel, problem):
    found = refused(stack, training_job(stack, tmp_path / "source", channels=[channel]))
    assert found == [("DT770", "job.channels['corpus']", problem)]


def test_the_jobs_own_input_mode_counts_for_channels_without_one(stack, tmp_path):
    channels = [dt.Channel.from_s3_uri("corpus", "s3://corpus/")]
    found = refused(stack, training_job(stack, tmp_path / "source", channels=channels, input_mode="Pipe"))
    assert ("DT770", "job.channels['corpus']", "InputMode Pipe") in found


def test_efs_is_refused(stack, tmp_path):
    net = network(stack)
    system = dt.EfsFileSystem(stack, "Home", network=net)
    found = refused(stack, training_job(stack, tmp_path / "source", network=net, channels=[system.channel("home")]))
    assert found == [("DT770", "job.channels['home']", "a file system of type EFS")]


def test_trainium_is_refused(stack, tmp_path):
    image = dt.TrainingImage.from_uri("111111111111.dkr.ecr.us-east-1.amazonaws.com/train:1")
    job = training_job(stack, tmp_path / "source", image=image, instances=dt.Instances("ml.trn1.32xlarge", count=2))
    assert refused(stack, job) == [("DT771", "job.instances", "ml.trn1.32xlarge, which has Trainium devices")]


def test_types_and_numbers_that_only_deployment_knows(stack, tmp_path):
    parameter = cdk.CfnParameter(stack, "Type", default="ml.p5.48xlarge").value_as_string
    number = cdk.CfnParameter(stack, "Count", type="Number", default=2).value_as_number
    job = training_job(stack, tmp_path / "source", instances=dt.Instances(parameter, count=number))
    assert [(rule, got) for rule, _, got in refused(stack, job)] == [
        ("DT771", "a type that only deployment knows"),
        ("DT771", "a number that only deployment knows"),
    ]


def test_a_number_that_only_deployment_knows_needs_a_limit(stack, tmp_path):
    number = cdk.CfnParameter(stack, "Count", type="Number", default=2).value_as_number
    job = training_job(stack, tmp_path / "source", instances=dt.Instances("ml.p4d.24xlarge", count=number))
    dt.MultiNodeParallelJob(stack, "OnEc2", job=job, max_instances=8)
    template = assertions.Template.from_stack(stack)
    template.has_resource_properties("AWS::Batch::JobDefinition", {"NodeProperties": {"NumNodes": {"Ref": "Count"}}})
    template.has_resource_properties("AWS::Batch::ComputeEnvironment", {"ComputeResources": {"MaxvCpus": 96 * 8}})


def test_a_launcher_inside_of_the_image(stack, tmp_path):
    image = dt.TrainingImage.from_uri("111111111111.dkr.ecr.us-east-1.amazonaws.com/train:1", launcher_inside=True)
    assert refused(stack, training_job(stack, tmp_path / "source", image=image))[0][:2] == ("DT772", "job.image")


@pytest.mark.parametrize(
    ("options", "prop"),
    [
        ({"max_instances": 0}, "max_instances"),
        ({"root_volume": cdk.Size.tebibytes(17)}, "root_volume"),
        ({"memory": cdk.Size.mebibytes(4)}, "memory"),
        ({"shared_memory": cdk.Size.mebibytes(4)}, "shared_memory"),
    ],
)
def test_numbers_that_batch_does_not_take(stack, tmp_path, options, prop):
    found = refused(stack, training_job(stack, tmp_path / "source"), **options)
    assert ("DT723", prop) in [(rule, name) for rule, name, _ in found]


def test_a_volume_of_no_whole_gibibytes(stack, tmp_path):
    found = refused(stack, training_job(stack, tmp_path / "source"), root_volume=cdk.Size.mebibytes(1500))
    assert [(rule, prop) for rule, prop, _ in found] == [("DT902", "root_volume")]


def test_more_machines_than_may_run(stack, tmp_path):
    found = refused(stack, training_job(stack, tmp_path / "source"), max_instances=1)
    assert [rule for rule, _, _ in found] == ["DT721"]


def test_more_attempts_than_batch_has_and_less_time(stack, tmp_path):
    job = training_job(
        stack,
        tmp_path / "source",
        retry=dt.RetryStrategy(maximum_retry_attempts=10),
        max_runtime=cdk.Duration.seconds(30),
    )
    assert [(rule, prop) for rule, prop, _ in refused(stack, job)] == [
        ("DT723", "job.retry"),
        ("DT723", "job.max_runtime"),
    ]


def warnings(stack):
    found = assertions.Annotations.from_stack(stack).find_warning("*", assertions.Match.string_like_regexp("DT773"))
    return [str(one.entry.data) for one in found]


def test_a_closed_subnet_needs_a_way_to_ecs(stack, tmp_path):
    net = dt.TrainingNetwork(stack, "Closed")
    dt.MultiNodeParallelJob(stack, "OnEc2", job=training_job(stack, tmp_path / "source", network=net))
    (text,) = warnings(stack)
    assert "ecs, ecs-agent, ecs-telemetry, ecr.api, ecr.dkr" in text
    assert "add_calls" in text


def test_a_closed_subnet_with_a_way_to_ecs(stack, tmp_path):
    net = dt.TrainingNetwork(stack, "Closed")
    net.add_calls(dt.TrainingCall.ECS, dt.TrainingCall.IMAGES, dt.TrainingCall.LOGS)
    dt.MultiNodeParallelJob(stack, "OnEc2", job=training_job(stack, tmp_path / "source", network=net))
    assert warnings(stack) == []
    names = [
        str(found["Properties"]["ServiceName"])
        for found in assertions.Template.from_stack(stack).find_resources("AWS::EC2::VPCEndpoint").values()
    ]
    assert all(any(f".{name}" in one for one in names) for name in ("ecs-agent", "ecs-telemetry", "ecs"))


def test_an_open_subnet_needs_nothing(stack, tmp_path):
    dt.MultiNodeParallelJob(stack, "OnEc2", job=training_job(stack, tmp_path / "source"))
    assert warnings(stack) == []
