"""A job's name when the user gives none."""

from __future__ import annotations

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.request.job_name import LONGEST_PREFIX, legal_prefix


def default_job_name(job: IConstruct) -> str:
    """The construct's path in legal characters, such as `training-job`.

    With a hash in it if that is too long, or if it would lose letters of other scripts, by which paths may differ.
    """
    path = job.node.path.lower()
    name = legal_prefix(path)
    if name and path.isascii() and len(path) <= LONGEST_PREFIX:
        return name
    return cdk.Names.unique_resource_name(job, max_length=LONGEST_PREFIX, separator="-").lower()
