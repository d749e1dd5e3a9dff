"""Ports that a job needs."""

from __future__ import annotations

import errno
import socket

from training_launcher.problems import NOT_STARTED, Problem


def require_free_port(port: int, host: str, address: str) -> None:
    """Make sure that nothing listens on a port that the ranks will meet at.

    Args:
        port: TCP port.
        host: This host's name, for the message.
        address: Address to look at; every address when empty.

    Raises:
        Problem: Something listens there.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise Problem(
                f"port {port} of {host} is in use, and the ranks are to meet there: choose another with --master-port",
                kind="port in use",
                exit_code=NOT_STARTED,
            ) from error
