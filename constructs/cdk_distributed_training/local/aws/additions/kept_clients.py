"""moto makes a new client of the AWS SDK for each call of a state machine, which takes longer than the call.

Hundreds of executions that look at their jobs would do little else. A client may be used by many threads; only making
one must not happen in two at once. Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_aws_sdk,
    state_task_service_unsupported,
)
from moto.stepfunctions.parser.asl.utils import boto_client


def install() -> None:
    """Keep a client for each region, service and server."""
    make = boto_client.boto_client_for
    lock = threading.Lock()

    @functools.cache
    def make_once(region: str, service: str, port: str) -> Any:
        del port
        return make(region=region, service=service)

    def kept(region: str, service: str, state_credentials: Any = None) -> Any:
        del state_credentials  # the emulation knows no permissions, and moto uses none either
        with lock:
            return make_once(region, service, str(boto_client.moto_server_port()))

    for user in (state_task_service_aws_sdk, state_task_service_unsupported):
        user.boto_client_for = kept
