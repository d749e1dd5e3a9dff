"""The token that every job names."""

from __future__ import annotations

import functools

import aws_cdk as cdk


@functools.cache
def partition() -> str:
    """The partition that a stack is deployed to, as a token; one call into Node.js for all apps."""
    return cdk.Aws.PARTITION
