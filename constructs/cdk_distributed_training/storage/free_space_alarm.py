"""An alarm on a file system that fills up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import lustre_options as rules
from cdk_distributed_training.storage.lustre_settings import LustreSettings

if TYPE_CHECKING:
    from cdk_distributed_training.storage.lustre_file_system_base import LustreFileSystemBase

_GIBIBYTE = 2**30


def create_free_space_alarm(
    file_system: LustreFileSystemBase,
    settings: LustreSettings,
    *,
    below: cdk.Size | None,
    actions: Sequence[cloudwatch.IAlarmAction],
) -> cloudwatch.Alarm:
    """Create the alarm; see `LustreFileSystem.add_free_space_alarm`."""
    capacity = settings.gibibytes
    if settings.tiered or (below is None and (capacity is None or cdk.Token.is_unresolved(capacity))):
        raise_errors(rules.alarm_threshold(tiered=settings.tiered), where=file_system.node.path)
    gibibytes = (capacity or 0) / 10 if below is None else below.to_gibibytes()
    alarm = cloudwatch.Alarm(
        file_system,
        "FreeSpaceAlarm",
        alarm_description=f"Little space is left on the file system {file_system.node.path}",
        metric=file_system.metric_free_data_storage_capacity(),
        comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        threshold=gibibytes * _GIBIBYTE,
        evaluation_periods=5,
        datapoints_to_alarm=5,
    )
    alarm.add_alarm_action(*actions)
    return alarm
