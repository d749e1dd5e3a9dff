"""Version numbers of libraries, as far as they need to be compared."""

from __future__ import annotations

import re
from typing import Optional, Tuple

Version = Optional[Tuple[int, ...]]
"""Such as ``(1, 16, 2)``; None when unknown, as it is for builds from source."""


def parse_version(text: str) -> Version:
    """The first dotted number in a text; None when there is none.

    >>> parse_version("Version: 1.22.0amzn1.0")
    (1, 22, 0)
    """
    found = re.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in found.group().split(".")) if found else None


def older(version: Version, than: Tuple[int, ...]) -> bool:
    """Whether a version is known to be older; an unknown one counts as new, since old ones do say what they are."""
    return version is not None and version < than


def shown(version: Version) -> str:
    """For messages: the number, or that it is unknown."""
    return ".".join(map(str, version)) if version else "of unknown version"
