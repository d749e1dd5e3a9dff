"""The command `dtrain`: one command, one file."""

from __future__ import annotations

import errno
import os
import sys


def main() -> None:
    """Run the command line; every mistake of the person at the terminal is one message and a non-zero exit."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> None:
    # here, since an import of the package must stay cheap, and an interrupt of this one quiet
    from cdk_distributed_training.cli.app import app  # noqa: PLC0415
    from cdk_distributed_training.local.errors import LocalModeError  # noqa: PLC0415
    from cdk_distributed_training.local.hosts import HostsUnavailableError  # noqa: PLC0415

    try:
        app()
    except (LocalModeError, HostsUnavailableError) as error:
        print(f"dtrain: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"dtrain: {_in_words(error)}", file=sys.stderr)
        sys.exit(2)


def _in_words(error: OSError) -> str:
    """What the machine refuses, where, and what helps."""
    what = error.strerror or str(error)
    where = f": {os.fsdecode(error.filename)}" if isinstance(error.filename, (str, bytes)) else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{what}{where}; free some space, or choose another place with --output"
    return f"{what}{where}"
