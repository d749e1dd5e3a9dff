"""What a machine does when it starts, before Amazon ECS gives it a container."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# SageMaker gives a container two minutes to end, and ECS half a minute unless told; and a container has no business
# with the machine's own role: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-config.html
_AGENT = ("ECS_CONTAINER_STOP_TIMEOUT=2m", "ECS_AWSVPC_BLOCK_IMDS=true")


@dataclass(frozen=True, kw_only=True)
class LustreMount:
    """A directory of a file system that is mounted on the machine, and from there into the container.

    Attributes:
        source: As `mount` names it: `<DNS name>@tcp:/<mount name>/<directory>`.
        folder: Where on the machine.
        channel_name: The channel.
        read_only: Whether nothing may be written.
    """

    source: str
    folder: str
    channel_name: str
    read_only: bool


def user_data(mounts: Sequence[LustreMount]) -> str:
    """The machine's user data, in the form that AWS Batch asks for.

    A directory that cannot be mounted ends no machine, which Batch would replace for ever: the container looks for
    itself and says which one is missing.

    Args:
        mounts: What to mount.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html,
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html,
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-filesets.html
    """
    lines = [f"echo {setting} >> /etc/ecs/ecs.config" for setting in _AGENT]
    if mounts:
        lines.append("dnf install -y lustre-client")
    for mount in mounts:
        options = "ro,relatime,flock" if mount.read_only else "relatime,flock"
        lines += [
            f"mkdir -p '{mount.folder}'",
            # a new file system's name may not resolve at once
            f"for pause in 0 5 15 30 60; do sleep $pause; mount -t lustre -o {options} '{mount.source}' "
            f"'{mount.folder}' && break; done",
        ]
    return "\n".join(
        [
            "MIME-Version: 1.0",
            'Content-Type: multipart/mixed; boundary="==BOUNDARY=="',
            "",
            "--==BOUNDARY==",
            'Content-Type: text/x-shellscript; charset="us-ascii"',
            "",
            "#!/bin/bash",
            *lines,
            "--==BOUNDARY==--",
            "",
        ]
    )
