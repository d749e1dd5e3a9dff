"""Runs of a job when there is new data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.checks.acknowledgements import acknowledge
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import new_data as rules
from cdk_distributed_training.engines.schedule.data_repository import IDataRepository
from cdk_distributed_training.engines.schedule.run_guard import RunGuard, WhileRunning
from cdk_distributed_training.engines.service_role import ServiceRole
from cdk_distributed_training.engines.statement import Statement
from cdk_distributed_training.engines.training_definition import IListedTraining, IStartableTraining


class TrainingOnNewData(Construct):
    """Starts a job after objects were put into a bucket, one run at a time.

    Many objects lead to one run: a start waits for `quiet` after the first object, then for the end of a run that is
    going, and of all starts that wait, one comes about. Where a data set ends with a marker, such as `_SUCCESS`, name
    it by `suffix`: every object that matches costs a few state transitions.

    With `repository`, a file system's data repository is watched: new objects reach the file system by themselves, well
    within `quiet`.

    A bucket of this app is told to send its events to EventBridge; of a bucket that exists already its owner must do
    so. Do not combine this with CDK's own notifications on the same bucket, `bucket.add_event_notification`, which
    replace the bucket's configuration: call `bucket.enable_event_bridge_notification()` there too.

    Construct ids, which are part of the interface: `Guard`, `Role`, `Rule`.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventBridge.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: IStartableTraining | IListedTraining,
        bucket: s3.IBucket | None = None,
        repository: IDataRepository | None = None,
        prefix: str = "",
        suffix: str = "",
        quiet: cdk.Duration | None = None,
        hyperparameters: Mapping[str, Any] | None = None,
        instance_count: float | None = None,
        while_running: WhileRunning = "wait",
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the rule.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: What runs: a job, a queued job, a tuning job, a pipeline.
            bucket: The bucket with the data.
            repository: In place of a bucket, what `LustreFileSystem.add_data_repository` gave.
            prefix: Only objects whose keys begin so, in a repository after its own prefix.
            suffix: Only objects whose keys end so.
            quiet: Time between an object and the start, so that others can follow; five minutes unless given.
            hyperparameters: Overrides of each run.
            instance_count: Number of machines of each run; the job's own unless given.
            while_running: What happens while a run is going: `wait`, which is so unless given, starts one after it;
                `skip` starts none.
            encryption_key: Key for the guard's log; CloudWatch Logs' own unless given.

        Raises:
            ConfigurationError: Both or neither of `bucket` and `repository` are given, or the repository imports no new
                objects.
        """
        super().__init__(scope, id)
        bucket, prefix = self._place(bucket, repository, prefix)
        _send_events(bucket)
        guard = RunGuard(
            self,
            "Guard",
            job=job,
            hyperparameters=hyperparameters,
            instance_count=instance_count,
            quiet=quiet or cdk.Duration.minutes(5),
            while_running=while_running,
            starter="EventBridge starts it after new objects in S3",
            encryption_key=encryption_key,
        ).state_machine
        role = ServiceRole(
            self,
            "Role",
            service="events.amazonaws.com",
            source_arn=cdk.Stack.of(self).format_arn(service="events", resource="rule", resource_name="*"),
            statements=[Statement(actions=["states:StartExecution"], resources=[guard.state_machine_arn])],
        )
        detail: dict[str, Any] = {"bucket": {"name": [bucket.bucket_name]}}
        if prefix or suffix:
            detail["object"] = {"key": [_pattern(prefix, suffix)]}
        rule = events.Rule(
            self,
            "Rule",
            description="Starts a training job after new data, one run at a time",
            event_pattern=events.EventPattern(source=["aws.s3"], detail_type=["Object Created"], detail=detail),
            targets=[
                targets.SfnStateMachine(guard, role=role.role, input=events.RuleTargetInput.from_object({})),
            ],
        )
        acknowledge(
            rule,
            "Serverless-EventBusDLQ",
            "EventBridge tries for a day, and the next object starts the job as well; nobody reads a queue",
        )

    def _place(
        self, bucket: s3.IBucket | None, repository: IDataRepository | None, prefix: str
    ) -> tuple[s3.IBucket, str]:
        findings = list(rules.one_place_of_data(bucket=bucket is not None, repository=repository is not None))
        if repository is not None:
            findings += rules.new_data_arrives(imports_new=repository.imports_new)
        raise_errors(findings, where=self.node.path)
        if repository is not None:
            return repository.bucket, f"{repository.key_prefix}{prefix}"
        assert bucket is not None  # noqa: S101  a rule has asked
        return bucket, prefix


def _send_events(bucket: s3.IBucket) -> None:
    # not by CDK's own method, which adds a function with wide permissions to the stack
    resource = bucket.node.default_child
    if isinstance(resource, s3.CfnBucket):
        resource.add_property_override("NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled", True)


def _pattern(prefix: str, suffix: str) -> dict[str, str]:
    if prefix and suffix:
        return {"wildcard": f"{_literal(prefix)}*{_literal(suffix)}"}
    return {"prefix": prefix} if prefix else {"suffix": suffix}


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*")
