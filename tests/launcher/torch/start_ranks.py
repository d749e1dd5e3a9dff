"""Runs as PID 1 of a host: starts its ranks of a script with the `env://` variables and waits for them."""

import os
import subprocess
import sys


def main():
    first, count = int(os.environ["FIRST_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    ranks = [
        subprocess.Popen(
            [sys.executable, *sys.argv[1:]], env={**os.environ, "RANK": str(first + local), "LOCAL_RANK": str(local)}
        )
        for local in range(count)
    ]
    return max(abs(rank.wait()) for rank in ranks)


if __name__ == "__main__":
    sys.exit(main())
