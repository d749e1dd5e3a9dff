"""The end of the control channel that belongs to this host."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from training_launcher.control.channel import Channel, job_token
from training_launcher.framing import Message
from training_launcher.place import Place
from training_launcher.reactor import Reactor


def join(
    reactor: Reactor,
    place: Place,
    options: argparse.Namespace,
    environment: Mapping[str, str],
    *,
    on_order: Callable[[Message], None],
    say: Callable[[str], None],
) -> Channel:
    """The leader's end on the first host of the world, else a member's; not opened yet."""
    leader = place.world[0]
    token = job_token(place.cluster.hosts, environment)
    # a host reads the file of its own end only
    if place.host == leader:
        from training_launcher.control.leader import Leader  # noqa: PLC0415

        return Leader(
            reactor,
            host=place.host,
            hosts=place.cluster.hosts,
            world=place.world,
            address=place.own_address,
            port=int(options.control_port),
            token=token,
            silent_timeout=options.silent_timeout,
            join_timeout=options.join_timeout,
            on_order=on_order,
            say=say,
        )
    from training_launcher.control.member import Member  # noqa: PLC0415

    return Member(
        reactor,
        host=place.host,
        leader=leader,
        port=int(options.control_port),
        token=token,
        silent_timeout=options.silent_timeout,
        join_timeout=options.join_timeout,
        on_order=on_order,
        say=say,
    )
