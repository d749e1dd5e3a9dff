"""Three stacks that stand for how the library is used; several tests look at them."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

import cdk_distributed_training as dt

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"
ENVIRONMENT = cdk.Environment(account="111111111111", region="us-east-1")


def source():
    return dt.SourceCode.from_directory(EXAMPLE, entry_script="train.py")


def simplest(app):
    """Only what is required."""
    stack = cdk.Stack(app, "Simplest")
    dt.DistributedTrainingJob(stack, "Job", source=source(), instances=dt.Instances("ml.p5.48xlarge", count=2))
    return stack


def composed(app):
    """A VPC, a bucket, a key and a role that were there before."""
    stack = cdk.Stack(app, "Composed", env=ENVIRONMENT)
    vpc = ec2.Vpc(
        stack,
        "Vpc",
        max_azs=2,
        nat_gateways=0,
        restrict_default_security_group=False,
        subnet_configuration=[ec2.SubnetConfiguration(name="training", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)],
        gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
    )
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    bucket = s3.Bucket(
        stack,
        "Data",
        encryption_key=key,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        enforce_ssl=True,
        server_access_logs_prefix="access-logs/",
        versioned=True,
    )
    vpc.add_flow_log("All", destination=ec2.FlowLogDestination.to_s3(bucket, "flow-logs/"))
    role = iam.Role(stack, "Trainer", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source(),
        instances=dt.Instances("ml.c7i.2xlarge", count=2),
        distribution=dt.Torchrun(process_count_per_node=4),
        network=dt.TrainingNetwork(stack, "Network", vpc=vpc, s3_gateway_endpoint=False),
        channels=[dt.Channel.from_bucket("train", bucket, prefix="corpus/")],
        output_bucket=bucket,
        role=role,
        encryption_key=key,
        job_name="composed",
    )
    for pack in ("NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321"):
        # the app's own: these are not the library's to answer for
        replication = cdk.Acknowledgment(
            id=f"{pack}::{pack}-S3BucketReplicationEnabled", reason="the corpus can be fetched again"
        )
        cdk.Validations.of(bucket).acknowledge(replication)
        closed = cdk.Acknowledgment(
            id=f"{pack}::{pack}-VPCDefaultSecurityGroupClosed", reason="nothing is ever put into the default group"
        )
        cdk.Validations.of(vpc).acknowledge(closed)
    return stack


def everything(app):
    """Every prop."""
    stack = cdk.Stack(app, "Everything", env=ENVIRONMENT)
    key = kms.Key(stack, "Key", enable_key_rotation=True)
    network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d", encryption_key=key)
    corpus = dt.LustreFileSystem(
        stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800), encryption_key=key
    )
    archive = s3.Bucket.from_bucket_name(stack, "Archive", "archive-of-111111111111")
    corpus.add_data_repository(archive, prefix="corpus/", file_system_path="/corpus")
    repository = ecr.Repository.from_repository_name(stack, "Images", "training")
    count = cdk.CfnParameter(stack, "Count", type="Number", default=16, min_value=1)
    job = dt.DistributedTrainingJob(
        stack,
        "Job",
        source=dt.SourceCode.from_directory(
            EXAMPLE, entry_script="train.py", arguments=["--seed", "1"], exclude=["*.md"]
        ),
        instances=dt.Instances("ml.p5.48xlarge", count=count.value_as_number, volume_size=cdk.Size.gibibytes(100)),
        distribution=dt.Torchrun(process_count_per_node=8, max_restarts=3, rdzv_backend="c10d"),
        channels=[
            corpus.channel("train", directory_path="/corpus"),
            dt.Channel.from_s3_uri("tokenizer", "s3://models/tokenizer/v2", input_mode="FastFile"),
        ],
        hyperparameters={"lr": 3e-4, "betas": [0.9, 0.95], "bf16": True, "note": f"from {archive.bucket_name}"},
        environment={"NCCL_DEBUG": "INFO", "OMP_NUM_THREADS": 8},
        image=dt.TrainingImage.from_ecr_repository(repository, "2026.11"),
        output_prefix="models",
        spot=dt.ManagedSpot(max_wait=cdk.Duration.days(5)),
        checkpoint=dt.CheckpointConfig(prefix="checkpoints/pretrain", local_path="/opt/ml/state"),
        max_runtime=cdk.Duration.days(3),
        job_name="pretrain",
        encryption_key=key,
        encrypt_inter_container_traffic=True,
        network_isolation=True,
        poll_interval=cdk.Duration.minutes(1),
    )
    queues = [
        sqs.Queue.from_queue_arn(stack, name, f"arn:aws:sqs:us-east-1:111111111111:{name.lower()}")
        for name in ("Ended", "Lost")
    ]
    job.on_state_change(
        "Ended",
        target=targets.SqsQueue(queues[0], dead_letter_queue=queues[1]),
        statuses=["Completed", "Failed", "Stopped"],
    )
    researchers = iam.Role(stack, "Researchers", assumed_by=iam.AccountPrincipal("111111111111"))
    job.grants.start(iam.ManagedPolicy(stack, "MayStart", roles=[researchers]))
    return stack


ALL = {"simplest": simplest, "composed": composed, "everything": everything}


def synthesize(build, folder, **context):
    """The cloud assembly of one stack in an app of its own."""
    app = cdk.App(analytics_reporting=False, outdir=str(folder), context=context)
    build(app)
    return app.synth()
