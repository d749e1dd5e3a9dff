"""Where a file system logs its exchanges with S3."""

from __future__ import annotations

from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import lustre_options as rules
from cdk_distributed_training.monitoring.log_group import create_log_group
from cdk_distributed_training.storage.lustre_deployment_type import LustreLogLevel


def log_findings(level: LustreLogLevel | None, group: logs.ILogGroup | None) -> Iterator[Finding]:
    """What is wrong with the logging."""
    if group is None:
        return
    if level is None:
        yield from rules.log_group_without_level()
    if not cdk.Token.is_unresolved(group.log_group_name):
        yield from rules.log_group_name(group.log_group_name)


def render_logs(
    scope: Construct, level: LustreLogLevel | None, group: logs.ILogGroup | None, *, encryption_key: kms.IKey | None
) -> fsx.CfnFileSystem.LogConfigurationProperty | None:
    """The logging as CloudFormation takes it, with a new group in `scope` where none is given."""
    if level is None:
        return None
    if group is None:
        # FSx's role may write below this prefix only, so the name cannot be left to CloudFormation
        name = f"/aws/fsx/{cdk.Names.unique_resource_name(scope, max_length=200, separator='-')}"
        group = create_log_group(scope, "Log", encryption_key=encryption_key, log_group_name=name)
    arn = cdk.Stack.of(scope).format_arn(
        service="logs",
        resource="log-group",
        resource_name=group.log_group_name,
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    return fsx.CfnFileSystem.LogConfigurationProperty(level=level.value, destination=arn)
