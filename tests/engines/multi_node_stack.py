"""Jobs on machines of one's own, in one stack."""

import aws_cdk as cdk
from tests.engines.engine_stack import network, source

import cdk_distributed_training as dt

IMAGE = "111111111111.dkr.ecr.us-east-1.amazonaws.com/train:1"


def training_job(stack, folder, **changes):
    """A job that the engine can run: the launcher comes by its channel."""
    options = {
        "source": source(folder),
        "instances": dt.Instances("ml.p4d.24xlarge", count=2),
        "image": dt.TrainingImage.from_uri(IMAGE),
        "hyperparameters": {"lr": 0.1, "note": 'a "quoted" {word}'},
        "environment": {"OMP_NUM_THREADS": "1"},
        "max_runtime": cdk.Duration.hours(12),
        "job_name": "digits",
        "tags": {"team": "vision"},
    }
    options.update(changes)
    return dt.DistributedTrainingJob(
        stack, "Job", **{"network": options.pop("network", None) or network(stack), **options}
    )


def with_multi_node_job(stack, folder, **options):
    """With a file system, an S3 channel, reserved capacity and retries."""
    net = network(stack)
    corpus = dt.LustreFileSystem(stack, "Corpus", network=net, storage_capacity=cdk.Size.gibibytes(4800))
    job = training_job(
        stack,
        folder,
        network=net,
        channels=[
            corpus.channel("train", directory_path="/corpus"),
            corpus.channel("checkpoints", directory_path="/checkpoints", access_mode="rw"),
            dt.Channel.from_s3_uri("vocabulary", "s3://corpus/vocabulary/"),
        ],
        retry=dt.RetryStrategy(maximum_retry_attempts=2),
    )
    return dt.MultiNodeParallelJob(
        stack, "OnEc2", job=job, **{"max_instances": 4, "capacity_reservation_id": "cr-0123456789abcdef0", **options}
    )
