"""What CloudWatch measures of a pipeline's executions, under the names of a job's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdk_distributed_training.engines.engine_runs import EngineRuns
from cdk_distributed_training.monitoring.job_metrics import JobMetrics
from cdk_distributed_training.monitoring.run_events import RunEvents, pipeline_events

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch

_NAMESPACE = "AWS/Sagemaker/ModelBuildingPipeline"


class PipelineRuns(JobMetrics, EngineRuns):
    """Base of a pipeline: to hear of executions, and to measure them.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
    """

    _pipeline_name: str
    _pipeline_arn: str

    def metric_executions_started(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Executions that were started, `ExecutionStarted`, summed over the period; 5 minutes unless given."""
        return self._metric("ExecutionStarted", "Sum", period)

    def metric_executions_succeeded(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Executions that succeeded, `ExecutionSucceeded`, summed over the period; 5 minutes unless given."""
        return self._metric("ExecutionSucceeded", "Sum", period)

    def metric_executions_failed(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Executions that failed, `ExecutionFailed`, summed over the period; 5 minutes unless given."""
        return self._metric("ExecutionFailed", "Sum", period)

    def metric_executions_aborted(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Executions that somebody stopped, `ExecutionStopped`, summed over the period; 5 minutes unless given."""
        return self._metric("ExecutionStopped", "Sum", period)

    def metric_execution_time(self, *, period: cdk.Duration | None = None) -> cloudwatch.Metric:
        """Milliseconds that an execution took, `ExecutionDuration`, on average; over 5 minutes unless given."""
        return self._metric("ExecutionDuration", "Average", period)

    def _events(self) -> RunEvents:
        return pipeline_events(self._pipeline_arn)

    def _metric(self, name: str, statistic: str, period: cdk.Duration | None) -> cloudwatch.Metric:
        # only a pipeline whose metrics are asked for pays for the module
        from aws_cdk import aws_cloudwatch as cloudwatch  # noqa: PLC0415

        return cloudwatch.Metric(
            namespace=_NAMESPACE,
            metric_name=name,
            dimensions_map={"PipelineName": self._pipeline_name},
            statistic=statistic,
            period=period,
        )
