"""Rules about pipelines of SageMaker (DT734)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import rule

_STEPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/build-and-manage-steps-types.html"


@rule(
    "DT734",
    title="A hyperparameter that cannot be a parameter of a pipeline",
    why="SageMaker refuses the pipeline, or a start of it that names the parameter.",
    source=_STEPS,
    bad=given(names=["lr"], defined=["epochs"]),
    good=given(names=["epochs"], defined=["epochs"]),
)
def pipeline_parameters(names: Sequence[str], defined: Collection[str]) -> Iterator[Finding]:
    """DT734: parameters that are no hyperparameters of the job, or that no pipeline can name."""
    for name in names:
        if name not in defined or not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", name) or name == "InstanceCount":
            yield Finding(
                rule="DT734",
                prop="parameters",
                got=repr(name),
                allowed="hyperparameters of the job with names of letters, digits, - and _, other than InstanceCount",
                fix="give the job the hyperparameter, with the value that it has where nobody sets another",
                source=_STEPS,
            )
