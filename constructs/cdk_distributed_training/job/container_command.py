"""How the launcher's arguments reach the container."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cdk_distributed_training.job.entry_point import ENTRY_POINT
from cdk_distributed_training.request.launcher_arguments import ARGUMENTS_VARIABLE


@dataclass(frozen=True, kw_only=True)
class ContainerCommand:
    """The container's command, and what it finds in its environment.

    Attributes:
        entrypoint: The command; the image's own if empty.
        arguments: What follows it.
        environment: Variables of the launcher.
    """

    entrypoint: Sequence[str] = ()
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def container_command(
    words: Sequence[str], *, launcher_inside: bool, in_environment: bool, as_json: Callable[[list[str]], str]
) -> ContainerCommand:
    """The command for a launcher that comes by a channel, or that the image has for its entry point.

    Args:
        words: The launcher's arguments.
        launcher_inside: Whether the image's entry point is the launcher.
        in_environment: Whether such an image gets them by its environment, since an engine cannot pass arguments.
        as_json: Writes a list as JSON, tokens unharmed.
    """
    if not launcher_inside:
        return ContainerCommand(entrypoint=ENTRY_POINT, arguments=words)
    if in_environment:
        return ContainerCommand(environment={ARGUMENTS_VARIABLE: as_json(list(words))})
    return ContainerCommand(arguments=words)


def encoding_words(hyperparameters: Iterable[str]) -> list[str]:
    """The launcher's option that texts are to be taken as they are, where it could take them for the SDK's.

    The SageMaker Python SDK 2 encodes every value as JSON, and the launcher takes off quotes where all values look so.

    Args:
        hyperparameters: The texts of all values.
    """
    quoted = any(len(value) > 1 and value[0] == value[-1] == '"' for value in hyperparameters)
    return ["--hyperparameter-encoding", "plain"] if quoted else []
