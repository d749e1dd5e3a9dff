"""Variables with names that are none for a shell, such as ``SM_HP_OPTIM.LR`` or ``SM_CHANNEL_MY-DATA``.

Some shells, Debian's among them, drop them from the environment of what they start, and mpirun starts its daemons and
here the rank guard through a shell. So each also travels as the value of a variable with a plain name, from which the
guard restores it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIX = "TRAINING_LAUNCHER_NAME_"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def carried_names(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that carry those with other names, each ``name=value``."""
    others = sorted(name for name in environment if not _PLAIN.fullmatch(name))
    return {f"{PREFIX}{number}": f"{name}={environment[name]}" for number, name in enumerate(others)}
