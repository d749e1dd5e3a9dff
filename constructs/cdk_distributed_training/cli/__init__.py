"""The command `dtrain`: one command, one file."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; every mistake of the person at the terminal is one message and a non-zero exit."""
    from cdk_distributed_training.cli.app import app  # noqa: PLC0415  an import of the package must stay cheap
    from cdk_distributed_training.local.errors import LocalModeError  # noqa: PLC0415
    from cdk_distributed_training.local.hosts import HostsUnavailableError  # noqa: PLC0415

    try:
        app()
    except (LocalModeError, HostsUnavailableError) as error:
        print(f"dtrain: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
