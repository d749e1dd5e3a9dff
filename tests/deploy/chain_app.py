"""The app that the chain tests deploy: small jobs, each with something of its own."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs

import cdk_distributed_training as dt

CODE = Path(__file__).parent / "code"
HOUR = cdk.Duration.hours(1)
LAUNCHER_IMAGE = "111111111111.dkr.ecr.us-east-1.amazonaws.com/with-launcher:1"


def job(stack, id, *, bucket, channels, network=None, **options):
    """Two machines, one process on each, started without torch."""
    options = {"max_runtime": HOUR, "hyperparameters": {"steps": 3}, **options}
    return dt.DistributedTrainingJob(
        stack,
        id,
        source=dt.SourceCode.from_directory(CODE, entry_script="train.py"),
        instances=dt.Instances("ml.c7i.2xlarge", count=2),
        distribution=dt.Processes(process_count_per_node=1),
        network=network,
        channels=channels,
        output_bucket=bucket,
        **options,
    )


def chain_stack(app, *, steps=3):
    """Small jobs of several kinds, and who is told of the first one's runs."""
    stack = cdk.Stack(app, "Chain")
    bucket = s3.Bucket(stack, "Data")
    network = dt.TrainingNetwork(stack, "Network")
    train = dt.Channel.from_bucket("train", bucket, prefix="corpus/")
    main = job(
        stack,
        "Main",
        bucket=bucket,
        channels=[train],
        network=network,
        job_name="main",
        spot=dt.ManagedSpot(max_wait=HOUR),
        hyperparameters={"steps": steps, "note": 'it\'s "quoted" {x} $.y'},
    )
    job(
        stack,
        "Short",
        bucket=bucket,
        channels=[train],
        network=network,
        job_name="short",
        max_runtime=cdk.Duration.seconds(2),
    )
    job(
        stack,
        "Impatient",
        bucket=bucket,
        channels=[train],
        network=network,
        job_name="impatient",
        max_runtime=cdk.Duration.seconds(3),
        spot=dt.ManagedSpot(max_wait=cdk.Duration.seconds(3)),
    )
    job(
        stack,
        "Waited",
        bucket=bucket,
        channels=[train],
        network=network,
        job_name="waited",
        image=dt.TrainingImage.from_uri(LAUNCHER_IMAGE, launcher_inside=True),
        integration="optimized",
    )
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    corpus.add_data_repository(bucket, prefix="corpus/", file_system_path="/corpus")
    every = list(dt.DataRepositoryEvent)
    corpus.add_data_repository(bucket, prefix="results/", file_system_path="/results", auto_export=every)
    job(
        stack,
        "Shared",
        bucket=bucket,
        channels=[corpus.channel("train", directory_path="/corpus")],
        network=network,
        job_name="shared",
    )
    elastic = dt.EfsFileSystem(stack, "Elastic", network=network)
    job(
        stack,
        "Leaving",
        bucket=bucket,
        channels=[
            corpus.channel("train", directory_path="/corpus"),
            corpus.channel("results", directory_path="/results", access_mode="rw"),
            elastic.channel("home", access_mode="rw"),
        ],
        network=network,
        job_name="leaving",
        checkpoint=dt.CheckpointConfig(local_path="/tmp/state"),
        environment={"CHECKPOINTS": "/tmp/state"},
    )
    queue = sqs.Queue(stack, "Queue")
    topic = sns.Topic(stack, "Topic")
    topic.add_subscription(subscriptions.SqsSubscription(queue, raw_message_delivery=True))
    main.on_state_change("Told", target=targets.SnsTopic(topic), statuses=["Completed", "Failed"])
    main.on_state_change("Queued", target=targets.SqsQueue(queue), statuses=["InProgress"])
    cdk.CfnOutput(stack, "Bucket", value=bucket.bucket_name)
    cdk.CfnOutput(stack, "QueueUrl", value=queue.queue_url)
    cdk.CfnOutput(stack, "FileSystem", value=corpus.file_system_id)
    cdk.CfnOutput(stack, "ElasticFileSystem", value=elastic.file_system_id)
    return stack


def synthesize(folder, **options):
    """The app as `cdk synth` leaves it."""
    app = cdk.App(outdir=str(folder))
    chain_stack(app, **options)
    app.synth()
    return folder
