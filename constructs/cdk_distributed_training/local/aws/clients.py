"""Clients of the emulation's APIs; making one takes as long as many calls."""

from __future__ import annotations

import functools
import os
from typing import Any

import boto3


def client(service: str) -> Any:
    """The client of a service at the endpoint that this process's environment names."""
    return _client(service, os.environ["AWS_ENDPOINT_URL"])


@functools.cache
def _client(service: str, endpoint: str) -> Any:
    return boto3.client(service, endpoint_url=endpoint)
