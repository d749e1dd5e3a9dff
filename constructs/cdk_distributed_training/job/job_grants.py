"""What may be granted on a job."""

from __future__ import annotations

from cdk_distributed_training.engines.execution_grants import ExecutionGrants


class JobGrants(ExecutionGrants):
    """Permissions for people and services that use a job."""
