"""How much is tried before the start."""

from __future__ import annotations

OFF, NETWORK, COLLECTIVES = "off", "network", "collectives"
LEVELS = (OFF, NETWORK, COLLECTIVES)

EXIT_CODE = 4
"""The exit code of every host when the preflight has found something."""
KIND = "preflight"
"""How the failure's text begins then."""


def effective_level(asked: str | None, *, hosts: int, efa: bool) -> str:
    """The level that is carried out.

    Args:
        asked: As on the command line; None when nothing was said: then the collectives are tried where there is an
            Elastic Fabric Adapter, whose faults show in no other way, and else the network.
        hosts: Hosts that run ranks; one alone has nothing to try.
        efa: Whether the hosts will meet over the Elastic Fabric Adapter.
    """
    if hosts < 2:
        return OFF
    return asked or (COLLECTIVES if efa else NETWORK)
