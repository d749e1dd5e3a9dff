"""A job's output in CloudWatch Logs, with SageMaker's names of group and streams.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from cdk_distributed_training.local.aws import clients

GROUP = "/aws/sagemaker/TrainingJobs"


class LogStreams:
    """One stream for each host: `<job>/<host>-<time>`; empty lines are dropped, as CloudWatch refuses them.

    Args:
        job_name: The job's name.
    """

    def __init__(self, job_name: str) -> None:
        """No stream is made before a host has written something."""
        self._job_name = job_name
        self._started = int(time.time())
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._pending: dict[str, list[tuple[int, str]]] = {}
        self._streams: dict[str, str] = {}

    def write(self, host: str, piece: bytes) -> None:
        """Remember a piece of a host's output, to be sent with the next `flush`."""
        text = piece.decode(errors="replace").rstrip("\r\n")
        if text.strip():
            with self._lock:
                self._pending.setdefault(host, []).append((int(time.time() * 1000), text))

    def flush(self) -> None:
        """Send what is pending."""
        with self._sending:
            with self._lock:
                pending, self._pending = self._pending, {}
            if not pending:
                return
            logs = clients.client("logs")
            for host, lines in pending.items():
                events = [{"timestamp": when, "message": text} for when, text in lines]
                logs.put_log_events(logGroupName=GROUP, logStreamName=self._stream(logs, host), logEvents=events)

    def _stream(self, logs: Any, host: str) -> str:
        if host not in self._streams:
            with contextlib.suppress(logs.exceptions.ResourceAlreadyExistsException):
                logs.create_log_group(logGroupName=GROUP)
            self._streams[host] = f"{self._job_name}/{host}-{self._started}"
            logs.create_log_stream(logGroupName=GROUP, logStreamName=self._streams[host])
        return self._streams[host]
