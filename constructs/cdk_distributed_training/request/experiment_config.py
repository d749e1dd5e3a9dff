"""Where a job's runs appear in SageMaker Experiments."""

from __future__ import annotations

from dataclasses import dataclass, field

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class ExperimentConfig(RequestPart):
    """Names of existing experiments, trials and runs; letters, digits and hyphens, at most 120 characters each.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ExperimentConfig.html

    Attributes:
        experiment_name: The experiment.
        trial_name: The trial.
        trial_component_display_name: Name of the run in the console; the training job's name unless given.
        run_name: The experiment run.
    """

    experiment_name: str | None = field(default=None, metadata=spelled("ExperimentName"))
    trial_name: str | None = field(default=None, metadata=spelled("TrialName"))
    trial_component_display_name: str | None = field(default=None, metadata=spelled("TrialComponentDisplayName"))
    run_name: str | None = field(default=None, metadata=spelled("RunName"))
