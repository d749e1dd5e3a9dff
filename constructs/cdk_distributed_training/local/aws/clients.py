"""Clients of the emulation's APIs; making one takes as long as many calls."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from typing import Any

import boto3
from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.exceptions import HTTPClientError

from cdk_distributed_training.local.errors import LocalModeError


def client(service: str) -> Any:
    """The client of a service at the endpoint that this process's environment names."""
    return _client(service, os.environ["AWS_ENDPOINT_URL"])


@functools.cache
def _client(service: str, endpoint: str) -> Any:
    return boto3.client(service, endpoint_url=endpoint)


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """For calls whose failure to reach the emulation is to be told in words.

    Raises:
        LocalModeError: Nobody answers at the endpoint.
    """
    try:
        yield
    except (HTTPClientError, NoConnectionError) as error:
        raise LocalModeError(
            f"the emulation of AWS does not answer on {os.environ['AWS_ENDPOINT_URL']} ({error}): is its process gone?"
        ) from None
