"""moto's server on a free port of the loopback interface, and the environment in which everything speaks to it."""

from __future__ import annotations

import logging
import os
import socket
from types import TracebackType
from typing import ClassVar

import requests
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from cdk_distributed_training.local.aws import additions
from cdk_distributed_training.local.aws.additions import executing_machines
from cdk_distributed_training.local.errors import LocalModeError

HOST = "127.0.0.1"
ACCOUNT = "123456789012"
REGION = "us-east-1"

# What would lead a program to a real account, or ask it for one.
_FOREIGN = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
)


class Server:
    """The emulation's endpoint; use it as a context manager, one at a time in a process.

    While it lives, the AWS SDK of this process and of the programs that get `environment` speaks to it alone: neither
    credentials nor profiles of a person are used.

    Args:
        port: Port on the loopback interface; a free one unless given.

    Raises:
        LocalModeError: The port is in use, or another emulation runs in this process.
    """

    _running: ClassVar[bool] = False

    def __init__(self, port: int = 0) -> None:
        """Nothing happens before it is entered."""
        self._asked = port
        self._port = port
        self._before: dict[str, str | None] = {}

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a program gets so that it speaks to the emulation: the environment of this process."""
        return dict(os.environ)

    def __enter__(self) -> Server:
        """Start to listen, with nothing in the account."""
        self._port = _free(self._asked)
        if Server._running:
            raise LocalModeError("an emulation of AWS runs in this process already, and there can be one at a time")
        Server._running = True
        additions.install()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(HOST, self._port, verbose=False)
        self._server.start()
        self._enter_environment()
        try:
            requests.post(f"{self.url}/moto-api/reset", timeout=30).raise_for_status()
        except requests.RequestException as error:
            self.__exit__(type(error), error, None)
            raise LocalModeError(f"the emulation of AWS does not answer on {self.url}: {error}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop listening and give the process its environment back."""
        executing_machines.end_executions()
        self._server.stop()
        Server._running = False
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def _enter_environment(self) -> None:
        ours: dict[str, str | None] = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ENDPOINT_URL_S3": self.url,
            # moto takes template addresses for its own only by this name
            "AWS_ENDPOINT_URL_S3_FOR_CLOUDFORMATION": f"http://localhost:{self._port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "NO_PROXY": "*",
            "MOTO_PORT": str(self._port),
            **dict.fromkeys(_FOREIGN),
        }
        self._before = {name: os.environ.get(name) for name in ours}
        for name, value in ours.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _free(port: int) -> int:
    """The port itself, or a free one for 0."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise LocalModeError(
                f"port {port} on {HOST} cannot be used ({why}): choose another one, or leave the choice to the machine"
            ) from None
        return int(probe.getsockname()[1])
