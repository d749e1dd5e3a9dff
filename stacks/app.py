"""The app that `cdk synth` and `cdk deploy` run, from the repository's root: see cdk.json."""

import sys
from pathlib import Path

import aws_cdk as cdk

import cdk_distributed_training as dt

# run as a script, so that only this folder is on the path
sys.path.insert(0, str(Path(__file__).parents[1]))

from stacks.training_stack import TrainingStack

app = cdk.App()
cdk.Validations.of(app).add_plugins(dt.DistributedTrainingChecks())
TrainingStack(
    app,
    "Training",
    description="Multi-node training on Amazon SageMaker: network, storage, roles and a job that is ready to start",
)
app.synth()
