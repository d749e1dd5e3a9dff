"""The engine that runs a job by a state machine; starting an execution starts a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import state_machine as rules
from cdk_distributed_training.enclosing_stack import EnclosingStack, PartOfStack
from cdk_distributed_training.engines.integration import Integration, start_call
from cdk_distributed_training.engines.job_states import JobStates
from cdk_distributed_training.engines.run_and_stop import States, run_and_stop
from cdk_distributed_training.engines.run_request import is_serverless
from cdk_distributed_training.engines.statement import Statement, pass_to_sagemaker
from cdk_distributed_training.engines.stop_states import stop_definition


class TrainingStateMachine(PartOfStack):
    """Runs a `CreateTrainingJob` request on demand, and stops the job of an execution that ends before it.

    An execution's input is `{"hyperparameters": {...}, "instance_count": n}`, both optional; anything else fails it at
    once. It succeeds when the job is completed. Otherwise its error is `TrainingJobFailed`, `TrainingJobStopped`,
    `TrainingJobMaxRuntimeExceeded` or `TrainingJobMaxWaitTimeExceeded` with SageMaker's reason as the cause, or
    `TrainingJobNotStarted` with the API's words. A job that could not start for lack of capacity or quota or by
    throttling is tried six times within half an hour, each time under a new name; one that has begun to train is never
    started again.

    Construct ids, which are part of the interface: `Job`, `Stop`, `Ended`, `EndedRole`, `LogGroup`.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        request: Mapping[str, Any],
        job_name: str,
        training_role: iam.IRole,
        longest_run: float,
        poll_interval: int,
        integration: Integration = "sdk",
        encryption_key: kms.IKey | None = None,
        data_key: kms.IKey | None = None,
    ) -> None:
        """Make the state machines.

        Args:
            scope: The parent construct.
            id: The construct id.
            request: The request without a name; tokens may be anywhere in it.
            job_name: The job's own name, with which the names of its runs begin.
            training_role: The role that the job runs as.
            longest_run: Seconds after which SageMaker has ended the job.
            poll_interval: Shortest time between two looks at the job, in seconds.
            integration: `sdk` calls the API itself; `optimized` is Step Functions' own `createTrainingJob.sync`, which
                is known to take only some members of the request.
            encryption_key: Key for the log; CloudWatch Logs' own unless given.
            data_key: Key for what Step Functions keeps: definitions, inputs, outputs, histories; its own unless given.

        Raises:
            ConfigurationError: The integration would refuse the request, or there is none of that name.
        """
        super().__init__(scope, id)
        stack = self._stack
        raise_errors(rules.integration(integration), where=lambda: self.node.path)
        call = start_call(integration)
        raise_errors(call.findings(request), where=lambda: self.node.path)
        jobs = stack.format_arn(service="sagemaker", resource="training-job", resource_name=f"{job_name}-*")
        by_tag = is_serverless(request)
        run = States(
            definition=JobStates(
                partition=stack.partition,
                job_name=job_name,
                request=request,
                poll_interval=poll_interval,
                longest_run=longest_run,
                integration=integration,
            ).definition(),
            statements=[
                *(
                    Statement(actions=actions, resources=[arn])
                    for actions, arn in call.actions(jobs=jobs, managed_rule=_managed_rule(stack))
                ),
                pass_to_sagemaker(training_role),
            ],
            wildcards="each run's training job has a name of its own behind the job's",
        )
        stop = States(
            definition=stop_definition(partition=stack.partition, job_name=job_name, by_tag=by_tag),
            statements=[
                Statement(
                    actions=[
                        "sagemaker:DescribeTrainingJob",
                        *(["sagemaker:ListTags"] if by_tag else []),
                        "sagemaker:StopTrainingJob",
                    ],
                    resources=[jobs],
                ),
                Statement(actions=["sagemaker:ListTrainingJobs"], resources=["*"]),
            ],
            wildcards="each run's training job has a name of its own behind the job's, and listing knows no resources",
        )
        self._state_machine = run_and_stop(self, run=run, stop=stop, encryption_key=encryption_key, data_key=data_key)

    @property
    def state_machine(self) -> sfn.StateMachine:
        """The state machine of which each execution is one run of the job."""
        return self._state_machine


def _managed_rule(stack: EnclosingStack) -> str:
    """The rule that Step Functions makes in every account that uses its own integration."""
    return stack.format_arn(
        service="events", resource="rule", resource_name="StepFunctionsGetEventsForSageMakerTrainingJobsRule"
    )
