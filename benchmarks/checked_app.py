"""An app with any number of jobs, synthesized with or without the plug-in: `checked_app.py JOBS [checked]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import aws_cdk as cdk

import cdk_distributed_training as dt

EXAMPLE = Path(__file__).parents[1] / "examples" / "digits"
_JOBS_PER_STACK = 10


def main(jobs: int, *, checked: bool) -> None:
    """Synthesize `jobs` jobs, ten to a stack, each stack with its own network and file system."""
    with tempfile.TemporaryDirectory() as folder:
        app = cdk.App(outdir=folder, analytics_reporting=False)
        for first in range(0, jobs, _JOBS_PER_STACK):
            _stack(app, f"Stack{first}", min(_JOBS_PER_STACK, jobs - first))
        if checked:
            cdk.Validations.of(app).add_plugins(dt.DistributedTrainingChecks())
        app.synth()


def _stack(app: cdk.App, name: str, jobs: int) -> None:
    environment = cdk.Environment(account="111111111111", region="us-east-1")
    stack = cdk.Stack(app, name, env=environment)
    network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1a")
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    source = dt.SourceCode.from_directory(EXAMPLE, entry_script="train.py")
    for number in range(jobs):
        dt.DistributedTrainingJob(
            stack,
            f"Job{number}",
            source=source,
            instances=dt.Instances("ml.p5.48xlarge", count=2),
            network=network,
            channels=[corpus.channel("train")],
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), checked="checked" in sys.argv[2:])
