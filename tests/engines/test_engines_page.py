"""The examples in docs/engines.md run as they stand there."""

import re
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sns as sns
from constructs import Construct
from tests.engines.engine_stack import job
from tests.engines.hyperpod_stack import groups, slurm_cluster
from tests.engines.multi_node_stack import training_job

import cdk_distributed_training as dt

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"


def test_examples(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path / "cdk.out"))
    stack = cdk.Stack(app, "Page", env=cdk.Environment(account="111111111111", region="us-east-1"))
    one = job(stack, tmp_path / "source")
    workers = groups(instances=dt.Instances("ml.p4d.24xlarge", count=2))
    names = {
        "cdk": cdk,
        "dt": dt,
        "scheduler": scheduler,
        "stack": stack,
        "targets": targets,
        "topic": sns.Topic(stack, "Topic"),
        "job": one,
        "cluster": slurm_cluster(stack, one.network, instance_groups=workers),
        "pretraining": training_job(Construct(stack, "Pretraining"), tmp_path / "source"),
        "bucket": s3.Bucket.from_bucket_name(stack, "Bucket", "corpus"),
        "researchers": iam.Role(stack, "Researchers", assumed_by=iam.AccountRootPrincipal()),
    }
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 7
    for example in examples:
        exec(example, names)
    app.synth()
