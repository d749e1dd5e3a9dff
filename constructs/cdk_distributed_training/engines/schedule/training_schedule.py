"""Runs of a job by the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk_distributed_training.engines.schedule.run_guard import RunGuard, WhileRunning
from cdk_distributed_training.engines.service_role import ServiceRole
from cdk_distributed_training.engines.statement import Statement
from cdk_distributed_training.engines.training_definition import IListedTraining, IStartableTraining


class TrainingSchedule(Construct):
    """Starts a job by the clock, one run at a time.

    Works for a job, a queued job, a tuning job and a pipeline. A run that is still going is left alone.

    Construct ids, which are part of the interface: `Guard`, `Role`, `Resource`.

    Example:
        >>> TrainingSchedule(  # doctest: +SKIP
        ...     stack, "Nightly", job=job, schedule=scheduler.ScheduleExpression.cron(hour="2", minute="0")
        ... )

    Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/what-is-scheduler.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: IStartableTraining | IListedTraining,
        schedule: scheduler.ScheduleExpression,
        hyperparameters: Mapping[str, Any] | None = None,
        instance_count: float | None = None,
        while_running: WhileRunning = "skip",
        enabled: bool = True,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the schedule.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: What runs.
            schedule: When; its time zone is UTC unless it says another.
            hyperparameters: Overrides of each run.
            instance_count: Number of machines of each run; the job's own unless given.
            while_running: What happens while a run is going: `skip`, which is so unless given, starts none; `wait`
                starts one after it.
            enabled: Whether it starts runs at all.
            encryption_key: Key for the guard's log; CloudWatch Logs' own unless given.
        """
        super().__init__(scope, id)
        guard = RunGuard(
            self,
            "Guard",
            job=job,
            hyperparameters=hyperparameters,
            instance_count=instance_count,
            quiet=None,
            while_running=while_running,
            starter="EventBridge Scheduler starts it by the clock",
            encryption_key=encryption_key,
        ).state_machine
        role = ServiceRole(
            self,
            "Role",
            service="scheduler.amazonaws.com",
            source_arn=cdk.Stack.of(self).format_arn(
                service="scheduler", resource="schedule-group", resource_name="default"
            ),
            statements=[Statement(actions=["states:StartExecution"], resources=[guard.state_machine_arn])],
        )
        zone = schedule.time_zone
        scheduler.CfnSchedule(
            self,
            "Resource",
            description="Starts a training job, one run at a time",
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            schedule_expression=schedule.expression_string,
            schedule_expression_timezone=None if zone is None else zone.timezone_name,
            state="ENABLED" if enabled else "DISABLED",
            target=scheduler.CfnSchedule.TargetProperty(
                arn=guard.state_machine_arn, role_arn=role.role.role_arn, input="{}"
            ),
        )
