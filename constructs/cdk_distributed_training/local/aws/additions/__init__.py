"""What moto, the emulation of AWS, lacks for a training job that is deployed and runs; each addition with its reason.

moto is pinned, because the additions hook into its inside; a test looks at every hook.
"""

from __future__ import annotations

from cdk_distributed_training.local.aws.additions import (
    bucket_events,
    custom_resources,
    deletions,
    elastic_file_systems,
    error_names,
    events,
    executing_machines,
    failing_resources,
    jsonata,
    kept_clients,
    lustre_file_systems,
    recorded_resources,
    sdk_members,
    service_jobs,
    service_queue_calls,
    service_queues,
    short_waits,
    stack_updates,
    state_machine_arn,
    string_literals,
    topic_subscriptions,
    training_jobs,
    training_sync,
)

# custom_resources comes after recorded_resources, whose answer it asks for
ADDITIONS = (
    bucket_events,
    custom_resources,
    deletions,
    elastic_file_systems,
    error_names,
    events,
    executing_machines,
    failing_resources,
    jsonata,
    kept_clients,
    lustre_file_systems,
    recorded_resources,
    sdk_members,
    service_jobs,
    service_queue_calls,
    service_queues,
    short_waits,
    stack_updates,
    state_machine_arn,
    string_literals,
    topic_subscriptions,
    training_jobs,
    training_sync,
)


class _Installed:
    done = False


def install() -> None:
    """Add everything to moto in this process, once."""
    if _Installed.done:
        return
    _Installed.done = True
    for addition in ADDITIONS:
        addition.install()
