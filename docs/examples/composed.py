"""Two jobs on one network and one file system; researchers start them, and somebody hears of failures."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

import cdk_distributed_training as dt

app = cdk.App()
stack = cdk.Stack(app, "Research", env=cdk.Environment(account="111111111111", region="us-east-1"))
key = kms.Key(stack, "Key", enable_key_rotation=True)
bucket = s3.Bucket(stack, "Data", encryption_key=key, enforce_ssl=True, versioned=True)

# one network and one file system for all jobs: their security groups are made once
network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d", encryption_key=key)
corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800))
corpus.add_data_repository(bucket, prefix="corpus/", file_system_path="/corpus")

jobs = {
    name: dt.DistributedTrainingJob(
        stack,
        name,
        source=dt.SourceCode.from_directory("./digits", entry_script="train.py"),
        instances=instances,
        distribution=dt.Torchrun(max_restarts=3),
        channels=[corpus.channel("train", directory_path="/corpus")],
        output_bucket=bucket,
        output_prefix=name.lower(),
        encryption_key=key,
        spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)),
        tags={"team": "research"},
    )
    for name, instances in {
        "Ablation": dt.Instances("ml.g5.12xlarge", count=2),
        "Pretrain": dt.Instances("ml.p4d.24xlarge", count=8),
    }.items()
}

# each person may do as much as they need
researchers = iam.Role(stack, "Researchers", assumed_by=iam.AccountRootPrincipal())
failures = sns.Topic(stack, "Failures", master_key=key, enforce_ssl=True)
for job in jobs.values():
    job.grants.start(researchers)
    job.grants.read(researchers)
    job.grants.read_logs(researchers)
    job.on_failed("Failed", target=targets.SnsTopic(failures))

# what started and failed in a week
cloudwatch.Dashboard(stack, "Dashboard").add_widgets(
    cloudwatch.GraphWidget(
        title="Runs",
        left=[job.metric_executions_started(period=cdk.Duration.days(1)) for job in jobs.values()],
        right=[job.metric_executions_failed(period=cdk.Duration.days(1)) for job in jobs.values()],
    )
)
app.synth()
