"""The request and what renders into it do without CDK, so that local runs start no Node.js."""

import subprocess
import sys

MODULES = [
    "request.training_job_request",
    "request.override",
    "request.channels",
    "request.instances",
    "request.managed_spot",
    "request.checkpoint_config",
    "request.hyperparameters",
    "request.job_name",
    "request.limits",
    "distribution.torchrun",
    "distribution.from_sagemaker",
    "distribution.on_instance_groups",
    "data.tables",
    "checks.rules.request",
    "checks.rules.job",
    "checks.rules.image",
    "checks.rules.distribution",
    "checks.rules.state_machine",
    "engines.integration",
    "engines.job_states",
    "engines.stop_states",
    "engines.batch.queued_states",
    "engines.batch_job_termination",
    "engines.multi_node.multi_node_states",
    "engines.pipeline.pipeline_definition",
    "engines.schedule.guard_states",
    "engines.tuning.stop_states",
    "engines.tuning.trial_definition",
    "engines.tuning.tuning_states",
]


def test_no_cdk():
    code = (
        f"import importlib, sys\n"
        f"for name in {MODULES}: importlib.import_module(f'cdk_distributed_training.{{name}}')\n"
        "print([name for name in sys.modules if name.startswith(('aws_cdk', 'jsii', 'constructs'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
