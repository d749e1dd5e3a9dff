"""The engine that runs a job as a step of a SageMaker pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules.engines import expressible
from cdk_distributed_training.checks.rules.pipelines import pipeline_parameters
from cdk_distributed_training.engines.pipeline.pipeline_definition import COUNT_PARAMETER, pipeline_definition
from cdk_distributed_training.engines.pipeline.pipeline_grants import TRAINING_JOBS, PipelineGrants
from cdk_distributed_training.engines.pipeline.pipeline_metrics import PipelineRuns
from cdk_distributed_training.engines.pipeline.pipeline_runs import pipeline_runs
from cdk_distributed_training.engines.pipeline.step_retry import START_RETRIES, StepRetry
from cdk_distributed_training.engines.run_calls import RunCalls
from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.engines.service_role import ServiceRole
from cdk_distributed_training.engines.statement import Statement, pass_to_sagemaker
from cdk_distributed_training.engines.training_definition import ITrainingDefinition
from cdk_distributed_training.tokens import known

_STEPS = "https://docs.aws.amazon.com/sagemaker/latest/dg/build-and-manage-steps-types.html"


class TrainingPipeline(PipelineRuns):
    """A SageMaker pipeline that trains the job, to be started and watched in Studio, and to be continued by others.

    Each start may set the parameter `InstanceCount` and those hyperparameters that are parameters; all others stay as
    the job has them. Names of its training jobs begin with `pipelines-`. An experiment is the pipeline's to choose: a
    job with `experiment` is refused.

    Construct ids, which are part of the interface: `Role`, `Resource`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/pipelines.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: ITrainingDefinition,
        parameters: Sequence[str] | None = None,
        retries: Sequence[StepRetry] = START_RETRIES,
        pipeline_name: str | None = None,
    ) -> None:
        """Make the pipeline.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: The job.
            parameters: Hyperparameters that a start may set, as text; all whose names a pipeline can have unless given.
            retries: After which errors the step is tried again; for lack of capacity or quota unless given.
            pipeline_name: The pipeline's name, of letters, digits and hyphens; one made of the construct's path unless
                given.

        Raises:
            ConfigurationError: The job's request has members that a step has no place for, or a parameter cannot be
                one; all is listed.
        """
        super().__init__(scope, id)
        stack = cdk.Stack.of(self)
        defined = job.request.get("HyperParameters", {})
        names = [name for name in defined if not list(pipeline_parameters([name], defined))]
        findings = [
            *expressible("a pipeline", {name: name != "ExperimentConfig" for name in job.request}, _STEPS),
            *pipeline_parameters(parameters or (), defined),
            *(finding for retry in retries for finding in retry.findings()),
        ]
        raise_errors(findings, where=self.node.path)
        name = pipeline_name or cdk.Names.unique_resource_name(self, max_length=100, separator="-").lower()
        # SageMaker writes names in lower case in ARNs
        lower = name.lower() if known(name) else name
        self._pipeline_arn = stack.format_arn(service="sagemaker", resource="pipeline", resource_name=lower)
        role = ServiceRole(
            self,
            "Role",
            service="sagemaker.amazonaws.com",
            source_arn=f"{self._pipeline_arn}*",
            statements=[
                Statement(
                    actions=[
                        "sagemaker:AddTags",
                        "sagemaker:CreateTrainingJob",
                        "sagemaker:DescribeTrainingJob",
                        "sagemaker:StopTrainingJob",
                    ],
                    resources=[
                        stack.format_arn(service="sagemaker", resource="training-job", resource_name=TRAINING_JOBS)
                    ],
                ),
                pass_to_sagemaker(job.role),
            ],
            wildcards="a pipeline makes up the names of its training jobs",
        )
        definition = pipeline_definition(
            job.request,
            parameters=names if parameters is None else list(parameters),
            retries=[retry.render() for retry in retries],
        )
        pipeline = sagemaker.CfnPipeline(
            self,
            "Resource",
            pipeline_name=name,
            pipeline_definition={"PipelineDefinitionBody": stack.to_json_string(definition)},
            role_arn=role.role.role_arn,
        )
        self._pipeline_name: str = pipeline.ref
        self._parameters: Mapping[str, str] = {given["Name"]: given["Type"] for given in definition["Parameters"]}
        run_elsewhere(self, runner="SageMaker Pipelines runs it as a step", job=job)

    @property
    def pipeline_name(self) -> str:
        """The pipeline's name."""
        return self._pipeline_name

    @property
    def pipeline_arn(self) -> str:
        """The pipeline's ARN."""
        return self._pipeline_arn

    @property
    def parameters(self) -> Mapping[str, str]:
        """What a start may set, with the type that the pipeline gives it."""
        return self._parameters

    @property
    def grants(self) -> PipelineGrants:
        """Permissions to start, see and stop executions, and to read their logs."""
        return PipelineGrants(self, self._pipeline_arn)

    def run_calls(self, *, hyperparameters: Mapping[str, str], instance_count: float | None) -> RunCalls:
        """How a schedule lists and starts executions.

        Args:
            hyperparameters: What each execution sets, as text.
            instance_count: Number of machines of each execution; the job's own if `None`.

        Raises:
            ConfigurationError: A hyperparameter is no parameter of the pipeline.
        """
        raise_errors(pipeline_parameters(list(hyperparameters), self._parameters), where=self.node.path)
        parameters = dict(hyperparameters)
        if instance_count is not None:
            parameters[COUNT_PARAMETER] = cdk.Tokenization.stringify_number(instance_count)
        return pipeline_runs(pipeline_name=self._pipeline_name, pipeline_arn=self._pipeline_arn, parameters=parameters)
