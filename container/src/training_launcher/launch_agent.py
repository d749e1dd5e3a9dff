"""mpirun's launch agent: what mpirun runs, in the place of ssh, to start its daemon on another host.

Written into the run directory and called there as ``python3 -S -E launch_agent.py HOST COMMAND…``. It hands the command
to this host's launcher, which passes it over the control channel to the launcher of that host, and ends: how the daemon
fares there is that launcher's to watch. It imports nothing of the launcher.
https://docs.open-mpi.org/en/v5.0.x/launching-apps/ssh.html (``plm_rsh_agent`` in Open MPI 4)
"""

from __future__ import annotations

import json
import os
import socket
import sys

RUN = os.path.dirname(os.path.abspath(__file__))


def main(words: list[str]) -> None:
    host, command = words[0], " ".join(words[1:])  # quoted for a shell by mpirun, which ssh would also only join
    if "=" not in command.split()[0]:
        # no shell between the launcher and the daemon, unless there are variables to set for it
        command = f"exec {command}"
    event = {"event": "launch", "host": host, "name": "orted", "argv": ["/bin/sh", "-c", command]}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as events:
        events.settimeout(10)
        events.sendto(json.dumps(event).encode(), os.path.join(RUN, "events"))


if __name__ == "__main__":
    main(sys.argv[1:])
