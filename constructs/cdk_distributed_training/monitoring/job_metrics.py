"""Metrics of a job: of its executions, and of the machines of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdk_distributed_training.monitoring.execution_metrics import ExecutionMetrics

if TYPE_CHECKING:
    import aws_cdk as cdk
    from aws_cdk import aws_cloudwatch as cloudwatch

# both the log group of all training jobs and the namespace of their metrics
LOG_GROUP = "/aws/sagemaker/TrainingJobs"


class JobMetrics(ExecutionMetrics):
    """A job's part that says what CloudWatch measures, each under the name that it has there.

    Each run has a training job of a name of its own. So metrics of executions are the job's, and those of machines are
    one run's: they take the training job's name, which an execution's output and the job's events tell.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/monitoring-cloudwatch.html
    """

    def metric_cpu_utilization(self, training_job_name: str, *, host: str = "algo-1") -> cloudwatch.Metric:
        """CPUs of one machine, `CPUUtilization`: per cent, 100 for each that is busy.

        Args:
            training_job_name: The run's training job.
            host: The machine, `algo-1` to `algo-<count>`.
        """
        return self._of_host("CPUUtilization", training_job_name, host)

    def metric_memory_utilization(self, training_job_name: str, *, host: str = "algo-1") -> cloudwatch.Metric:
        """Memory of one machine, `MemoryUtilization`, per cent; arguments as in `metric_cpu_utilization`."""
        return self._of_host("MemoryUtilization", training_job_name, host)

    def metric_gpu_utilization(self, training_job_name: str, *, host: str = "algo-1") -> cloudwatch.Metric:
        """GPUs of one machine, `GPUUtilization`, per cent, 100 for each; arguments as in `metric_cpu_utilization`."""
        return self._of_host("GPUUtilization", training_job_name, host)

    def metric_gpu_memory_utilization(self, training_job_name: str, *, host: str = "algo-1") -> cloudwatch.Metric:
        """GPU memory of one machine, `GPUMemoryUtilization`, 100 for each; arguments as in `metric_cpu_utilization`."""
        return self._of_host("GPUMemoryUtilization", training_job_name, host)

    def metric_disk_utilization(self, training_job_name: str, *, host: str = "algo-1") -> cloudwatch.Metric:
        """Storage of one machine, `DiskUtilization`, per cent; arguments as in `metric_cpu_utilization`."""
        return self._of_host("DiskUtilization", training_job_name, host)

    def metric_of_training(
        self,
        metric_name: str,
        training_job_name: str,
        *,
        statistic: str = "Average",
        period: cdk.Duration | None = None,
    ) -> cloudwatch.Metric:
        """A number that the script prints, and that one of the job's `metric_definitions` finds in the log.

        Args:
            metric_name: The definition's name.
            training_job_name: The run's training job.
            statistic: How the numbers of a period become one; the average unless given.
            period: Over which; 5 minutes unless given.
        """
        return _metric(metric_name, {"TrainingJobName": training_job_name}, statistic=statistic, period=period)

    def _of_host(self, metric_name: str, training_job_name: str, host: str) -> cloudwatch.Metric:
        return _metric(metric_name, {"Host": f"{training_job_name}/{host}"})


def _metric(
    name: str, dimensions: dict[str, str], *, statistic: str = "Average", period: cdk.Duration | None = None
) -> cloudwatch.Metric:
    # only a job whose metrics are asked for pays for the module
    from aws_cdk import aws_cloudwatch as cloudwatch  # noqa: PLC0415

    return cloudwatch.Metric(
        namespace=LOG_GROUP, metric_name=name, dimensions_map=dimensions, statistic=statistic, period=period
    )
