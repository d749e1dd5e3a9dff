"""Metrics of executions, of which each is one run, whatever service the run's machines are from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_stepfunctions as sfn


class ExecutionMetrics:
    """A part that says what CloudWatch measures of executions, each under the name that it has there.

    Source: https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html
    """

    @property
    def state_machine(self) -> sfn.IStateMachine:
        """The state machine of which each execution is one run."""
        raise NotImplementedError

    def metric_executions_started(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Runs that were started, `ExecutionsStarted`, summed over the period; 5 minutes unless given."""
        return self.state_machine.metric_started(period=period)

    def metric_executions_succeeded(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Runs whose training job completed, `ExecutionsSucceeded`, summed over the period; 5 minutes unless given."""
        return self.state_machine.metric_succeeded(period=period)

    def metric_executions_failed(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Runs that failed, `ExecutionsFailed`, summed over the period; 5 minutes unless given."""
        return self.state_machine.metric_failed(period=period)

    def metric_executions_aborted(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Runs that somebody stopped, `ExecutionsAborted`, summed over the period; 5 minutes unless given."""
        return self.state_machine.metric_aborted(period=period)

    def metric_execution_time(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Milliseconds that a run took, `ExecutionTime`, on average; over 5 minutes unless given."""
        return self.state_machine.metric_time(period=period)
