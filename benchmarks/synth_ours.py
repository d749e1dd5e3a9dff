"""An app of N jobs on one network, written with this library."""

from __future__ import annotations

import sys

import aws_cdk as cdk

import cdk_distributed_training as dt
from benchmarks.synth_process import EXAMPLE, finish, network


def build(app: cdk.App, count: int) -> None:
    stack = cdk.Stack(app, "Jobs", env=cdk.Environment(account="111111111111", region="us-east-1"))
    vpc, subnet, group = network(stack)
    training = dt.TrainingNetwork.from_attributes(stack, "Network", vpc=vpc, subnet=subnet, node_security_group=group)
    source = dt.SourceCode.from_directory(EXAMPLE, entry_script="train.py")
    for number in range(count):
        dt.DistributedTrainingJob(
            stack,
            f"Job{number}",
            source=source,
            instances=dt.Instances("ml.p4d.24xlarge", count=2),
            network=training,
            channels=[dt.Channel.from_s3_uri("train", "s3://corpora/digits/")],
            hyperparameters={"lr": 0.1},
        )


if __name__ == "__main__":
    finish(build, count=int(sys.argv[1]), folder=sys.argv[2])
