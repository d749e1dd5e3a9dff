"""mpirun's launch agent: what mpirun runs, in the place of ssh, to start its daemon on another host.

Written into the run directory and called there as ``python3 -S -E launch_agent.py HOST COMMAND…``. It hands the command
to this host's launcher, which passes it over the control channel to the launcher of that host, and ends: how the daemon
fares there is that launcher's to watch. It imports nothing of the launcher.
https://docs.open-mpi.org/en/v5.0.x/launching-apps/ssh.html (``plm_ssh_agent``, in Open MPI 4 ``plm_rsh_agent``)
"""

from __future__ import annotations

import json
import os
import socket
import sys

RUN = os.path.dirname(os.path.abspath(__file__))


def main(words: list[str]) -> None:
    host, command = words[0], " ".join(words[1:])  # quoted for a shell by mpirun, which ssh would also only join
    daemon = next((name for name in ("orted", "prted") if f"{name} " in command), "daemon")
    # no shell stays between the launcher and the daemon, not even where it sets variables first
    start = command.rfind(";", 0, max(command.find(f"{daemon} "), 0)) + 1
    command = f"{command[:start]} exec {command[start:]}"
    event = {"event": "launch", "host": host, "name": daemon, "argv": ["/bin/sh", "-c", command]}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as events:
        events.settimeout(10)
        events.sendto(json.dumps(event).encode(), os.path.join(RUN, "events"))


if __name__ == "__main__":
    main(sys.argv[1:])
