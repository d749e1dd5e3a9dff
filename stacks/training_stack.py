"""One job with its network and data, composed of the library's constructs; context values choose the sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

import cdk_distributed_training as dt

_EXAMPLE = Path(__file__).parents[1] / "examples" / "digits"
_CORPUS = "corpus/"


class TrainingStack(cdk.Stack):
    """The digits example on a network of its own, its data in S3 or, linked to S3, in a file system.

    Context values, with their defaults in cdk.json: `instance_type`, `instance_count`, `process_count_per_node` (a
    number or `auto`), `availability_zone` (empty for the region's first), `file_system` (`true` puts FSx for Lustre
    between the bucket and the machines; it costs by the hour).
    """

    def __init__(self, scope: Construct, id: str, **kwargs: Any) -> None:
        """Compose the stack."""
        super().__init__(scope, id, **kwargs)
        network = dt.TrainingNetwork(self, "Network", availability_zone=self._context("availability_zone") or None)
        bucket = s3.Bucket(
            self,
            "Data",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            versioned=True,
            server_access_logs_prefix="access-logs/",
        )
        processes = self._context("process_count_per_node")
        job = dt.DistributedTrainingJob(
            self,
            "Job",
            source=dt.SourceCode.from_directory(_EXAMPLE, entry_script="train.py"),
            instances=dt.Instances(self._context("instance_type"), count=int(self._context("instance_count"))),
            distribution=dt.Torchrun(process_count_per_node="auto" if processes == "auto" else int(processes)),
            network=network,
            channels=[self._channel(network, bucket)],
            hyperparameters={"epochs": 12, "lr": 0.1},
            output_bucket=bucket,
            checkpoint=dt.CheckpointConfig(),
            max_runtime=cdk.Duration.hours(1),
        )
        cdk.CfnOutput(self, "StateMachineArn", value=job.state_machine.state_machine_arn)
        cdk.CfnOutput(self, "CorpusUri", value=bucket.s3_url_for_object(_CORPUS))
        cdk.CfnOutput(self, "OutputUri", value=bucket.s3_url_for_object("output/"))

    def _channel(self, network: dt.TrainingNetwork, bucket: s3.Bucket) -> dt.TrainingChannel:
        if self._context("file_system") != "true":
            return dt.Channel.from_bucket("train", bucket, prefix=_CORPUS)
        corpus = dt.LustreFileSystem(self, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
        corpus.add_data_repository(bucket, prefix=_CORPUS, file_system_path="/corpus")
        return corpus.channel("train", directory_path="/corpus")

    def _context(self, name: str) -> str:
        """A context value as text, as the command line's `--context` gives it in any case."""
        value = self.node.get_context(name)
        return str(value).lower() if isinstance(value, bool) else str(value)
