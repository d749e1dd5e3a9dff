"""The engine that runs a job many times, to find the best hyperparameters."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules.engines import in_range
from cdk_distributed_training.checks.rules.request import entries
from cdk_distributed_training.checks.rules.state_machine import poll_interval as poll_interval_rule
from cdk_distributed_training.engines.engine_runs import MachineRuns
from cdk_distributed_training.engines.run_and_stop import States, run_and_stop
from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.engines.statement import Statement, pass_to_sagemaker
from cdk_distributed_training.engines.training_definition import ITrainingDefinition
from cdk_distributed_training.engines.tuning.ranges import TunedRange, rendered_ranges
from cdk_distributed_training.engines.tuning.stop_states import stop_tuning_definition
from cdk_distributed_training.engines.tuning.trial_definition import request_findings
from cdk_distributed_training.engines.tuning.tuning_objective import TuningObjective
from cdk_distributed_training.engines.tuning.tuning_states import LONGEST_PREFIX, TuningStates
from cdk_distributed_training.monitoring.job_metrics import JobMetrics
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.launcher_arguments import ARGUMENTS_VARIABLE
from cdk_distributed_training.tokens import known

_CONFIG = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceLimits.html"
_LARGEST = 2**31 - 1
# of a tuning job's trials: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_HyperParameterTrainingJobDefinition.html
_LARGEST_ENVIRONMENT = 48


class TunedTrainingJob(JobMetrics, MachineRuns):
    """A tuning job over a training job; each execution of `state_machine` is one, and stopping it stops the trials.

    Every trial is the job with values from `ranges` among its hyperparameters, run by the same launcher: since tuning
    jobs know no container command, the job's image must have the launcher inside. An execution's input is
    `{"hyperparameters": {...}, "instance_count": n}`, where hyperparameters that are tuned cannot be set; its output
    names the best trial. Errors are `TuningJobFailed`, `TuningJobStopped` and `TuningJobNotStarted`. The training jobs
    are named after the tuning job. A role that the job made for itself may be taken on for tuning jobs too; one that
    was brought along must allow that in its own trust policy.

    Construct ids, which are part of the interface: `Job`, `Stop`, `Ended`, `EndedRole`, `LogGroup`.

    Example:
        >>> TunedTrainingJob(  # doctest: +SKIP
        ...     stack,
        ...     "Tuning",
        ...     job=job,
        ...     objective=TuningObjective("loss"),
        ...     ranges={"lr": ContinuousRange(1e-5, 1e-2, scaling="Logarithmic")},
        ...     max_trials=20,
        ... )

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/automatic-model-tuning.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: ITrainingDefinition,
        objective: TuningObjective,
        ranges: Mapping[str, TunedRange],
        max_trials: float,
        max_parallel_trials: float = 1,
        strategy: Literal["Bayesian", "Random", "Hyperband", "Grid"] = "Bayesian",
        max_runtime: cdk.Duration | None = None,
        early_stopping: bool = False,
        target: float | None = None,
        random_seed: float | None = None,
        poll_interval: cdk.Duration | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the state machines.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: The job.
            objective: What makes one trial better than another.
            ranges: What may be chosen, by hyperparameter; at most 30.
            max_trials: Number of trials in all.
            max_parallel_trials: Number of trials at a time; one unless given. Each takes all machines of the job.
            strategy: How values are chosen. `Hyperband` stops poor trials early; `Grid` tries all of categorical
                ranges.
            max_runtime: Longest time of all trials together, from 2 minutes to half a year; without limit unless given.
            early_stopping: Whether SageMaker stops trials that will not be good; not unless given.
            target: Value of the metric at which tuning ends; none unless given.
            random_seed: Makes the choice of values the same again; another one each time unless given.
            poll_interval: Shortest time between two looks; 60 seconds unless given. Long ones are looked at more
                seldom.
            encryption_key: Key for the log; CloudWatch Logs' own unless given.

        Raises:
            ConfigurationError: Literal values cannot work, or the job's request has members that a tuning job has no
                place for; all of them are listed.
        """
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        poll = 60 if poll_interval is None else poll_interval.to_seconds(integral=False)
        runtime = None if max_runtime is None else max_runtime.to_seconds(integral=False)
        findings = [
            *poll_interval_rule(poll),
            *request_findings(job.request, objective.metric),
            *_environment(job.request),
            *(finding for name, chosen in ranges.items() for finding in chosen.findings(name)),
            *in_range("ranges", len(ranges), 1, 30, _CONFIG),
            *_numbers(
                max_trials=max_trials,
                max_parallel_trials=max_parallel_trials,
                max_runtime=runtime,
                random_seed=random_seed,
                target=target,
            ),
        ]
        raise_errors(findings, where=self.node.path)
        annotate_warnings(self, findings)
        config = {
            "Strategy": strategy,
            "HyperParameterTuningJobObjective": objective.render(),
            "ResourceLimits": {
                "MaxNumberOfTrainingJobs": max_trials,
                "MaxParallelTrainingJobs": max_parallel_trials,
                **({} if runtime is None else {"MaxRuntimeInSeconds": runtime}),
            },
            "ParameterRanges": rendered_ranges(ranges),
            "TrainingJobEarlyStoppingType": "Auto" if early_stopping else "Off",
            **({} if target is None else {"TuningJobCompletionCriteria": {"TargetObjectiveMetricValue": target}}),
            **({} if random_seed is None else {"RandomSeed": random_seed}),
        }
        prefix = self._prefix(job.job_name)
        self._training_jobs = [f"{prefix}-*"]
        tuning_jobs = stack.format_arn(
            service="sagemaker", resource="hyper-parameter-tuning-job", resource_name=f"{prefix}-*"
        )
        _let_tuning_assume(job, tuning_jobs)
        run = States(
            definition=TuningStates(
                partition=stack.partition,
                prefix=prefix,
                request=job.request,
                config=config,
                # trials get the tags of their tuning job
                call={"Tags": job.request["Tags"]} if job.request.get("Tags") else {},
                tuned=list(ranges),
                poll_interval=int(poll),
                as_json=lambda words: stack.to_json_string(list(words)),
            ).definition(),
            statements=[
                Statement(
                    actions=[
                        "sagemaker:AddTags",
                        "sagemaker:CreateHyperParameterTuningJob",
                        "sagemaker:DescribeHyperParameterTuningJob",
                    ],
                    resources=[tuning_jobs],
                ),
                pass_to_sagemaker(job.role),
            ],
            wildcards="each execution's tuning job has a name of its own behind the job's",
        )
        stop = States(
            definition=stop_tuning_definition(partition=stack.partition, prefix=prefix),
            statements=[
                Statement(
                    actions=["sagemaker:DescribeHyperParameterTuningJob", "sagemaker:StopHyperParameterTuningJob"],
                    resources=[tuning_jobs],
                )
            ],
            wildcards="each execution's tuning job has a name of its own behind the job's",
        )
        self._state_machine = run_and_stop(self, run=run, stop=stop, encryption_key=encryption_key)
        run_elsewhere(
            self,
            runner="SageMaker tunes it, in many trials with hyperparameters that it chooses",
            job=job,
            ranges=rendered_ranges(ranges),
        )

    def _prefix(self, job_name: str) -> str:
        if not known(job_name):
            return cdk.Names.unique_resource_name(self, max_length=LONGEST_PREFIX, separator="-").lower()
        return job_name[:LONGEST_PREFIX].rstrip("-")


def _environment(request: Mapping[str, Any]) -> Iterator[Finding]:
    """What of the environment a trial has no room for, with the launcher's arguments in it."""
    words = request.get("AlgorithmSpecification", {}).get("ContainerArguments", [])
    environment = {**request.get("Environment", {}), **({ARGUMENTS_VARIABLE: json.dumps(words)} if words else {})}
    literal = {name: value for name, value in environment.items() if known(f"{name}{value}")}
    # one entry is the engine's own
    most = replace(limits.ENVIRONMENT, most=_LARGEST_ENVIRONMENT - 1)
    yield from entries("environment", literal, most)


def _let_tuning_assume(job: ITrainingDefinition, tuning_jobs: str) -> None:
    """Let SageMaker take on the role on behalf of tuning jobs too, where the job made the role for itself."""
    role = job.role
    if isinstance(role, iam.Role) and role.node.path.startswith(f"{job.node.path}/"):
        trust = role.assume_role_policy
        if trust is not None:
            trust.add_statements(
                iam.PolicyStatement(
                    actions=["sts:AssumeRole"],
                    principals=[iam.ServicePrincipal("sagemaker.amazonaws.com")],
                    conditions={
                        "StringEquals": {"aws:SourceAccount": cdk.Stack.of(role).account},
                        "ArnLike": {"aws:SourceArn": tuning_jobs},
                    },
                )
            )


def _numbers(**values: float | None) -> Iterator[Finding]:
    ranges: Mapping[str, Sequence[float]] = {
        "target": (-math.inf, math.inf),
        "max_trials": (1, _LARGEST),
        "max_parallel_trials": (1, _LARGEST),
        "max_runtime": (120, 15768000),
        "random_seed": (0, _LARGEST),
    }
    literal = {prop: value for prop, value in values.items() if value is not None and known(value)}
    for prop, value in literal.items():
        low, high = ranges[prop]
        yield from in_range(prop, value, low, high, _CONFIG, whole=prop != "target")
    if "max_trials" in literal and "max_parallel_trials" in literal:
        most: Any = literal["max_trials"]
        yield from in_range("max_parallel_trials", literal["max_parallel_trials"], 1, max(1, most), _CONFIG)
