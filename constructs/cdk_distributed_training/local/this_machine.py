"""A job as this machine can run it: what differs from AWS is refused, or asked for and said."""

from __future__ import annotations

import dataclasses

from cdk_distributed_training.local.accelerators import refuse_unmet, without_unmet
from cdk_distributed_training.local.image_launcher import launcher_of_image, with_command
from cdk_distributed_training.local.input_modes import refuse_pipes
from cdk_distributed_training.local.local_run import ResolvedJob


def on_this_machine(resolved: ResolvedJob, *, without_accelerators: bool = False) -> ResolvedJob:
    """The job with what this machine needs to run it, and notes on every difference.

    Args:
        resolved: The job.
        without_accelerators: Whether to leave out the options that ask for devices which this machine has not.

    Raises:
        LocalModeError: The job needs what this machine does not have.
    """
    request, image_launcher = resolved.request, None
    notes = [f"{one.what}; here {one.job} runs without that" for one in resolved.way]
    notes += resolved.notes
    refuse_pipes(request)
    if resolved.job.launcher_inside and not request["AlgorithmSpecification"].get("ContainerEntrypoint"):
        request, image_launcher = with_command(request), launcher_of_image()
        notes.append(f"{image_launcher} stands in for the launcher in the job's image")
    if without_accelerators:
        request, left_out = without_unmet(request)
        notes += [f"without {demand.option}: this machine lacks {demand.needs}" for demand in left_out]
    refuse_unmet(request)
    return dataclasses.replace(resolved, request=request, notes=tuple(notes), image_launcher=image_launcher)
