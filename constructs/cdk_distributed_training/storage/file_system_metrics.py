"""CloudWatch metrics of a file system, of whatever kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from aws_cdk import aws_cloudwatch as cloudwatch

if TYPE_CHECKING:
    import aws_cdk as cdk


class FileSystemMetrics:
    """Base of file systems whose metrics CloudWatch has under their id."""

    _metric_namespace: ClassVar[str]
    _file_system_id: str

    def metric(
        self, metric_name: str, *, statistic: str | None = None, period: cdk.Duration | None = None
    ) -> cloudwatch.Metric:
        """A CloudWatch metric of the file system.

        Args:
            metric_name: Name as CloudWatch has it.
            statistic: Such as `Sum`; the average by default.
            period: Over which it is taken; 5 minutes by default.
        """
        return cloudwatch.Metric(
            namespace=self._metric_namespace,
            metric_name=metric_name,
            dimensions_map={"FileSystemId": self._file_system_id},
            statistic=statistic,
            period=period,
        )
