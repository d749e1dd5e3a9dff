"""Where the launcher's arguments come from, when the launcher is an image's entry point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from training_launcher.problems import Problem

VARIABLE = "TRAINING_LAUNCHER_ARGUMENTS"
"""Environment variable with the launcher's arguments, as a JSON list of strings."""

SERVICE_WORD = "train"
"""What SageMaker puts behind an image's entry point when the request has no ``ContainerArguments``."""


def launch_arguments(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The arguments to launch with: those of the command line, else those of the environment.

    SageMaker runs an image as ``docker run IMAGE train`` and thereby replaces its ``CMD``, so that the word alone
    says nothing. Behind other words it may be the user's own, as in ``torchrun -- main.py train``, and stays.
    https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-training-algo-dockerfile.html

    Raises:
        Problem: The variable is needed and does not hold a list of strings, or the word stands alone without it.
    """
    given = list(arguments)
    if given not in ([], [SERVICE_WORD]):
        return given
    text = environment.get(VARIABLE)
    if text is None:
        if given:
            raise Problem(
                f"nothing to launch: say it in the request's ContainerArguments or, as a JSON list, in the environment "
                f'variable {VARIABLE}, as in ["torchrun", "--nproc-per-node", "auto", "--", "train.py"]'
            )
        return given
    try:
        listed = json.loads(text)
    except ValueError as error:
        raise Problem(f"{VARIABLE} must be a JSON list of strings, got {text!r}: {error}") from error
    if not isinstance(listed, list) or not listed or not all(isinstance(word, str) for word in listed):
        raise Problem(f"{VARIABLE} must be a JSON list of strings, got {text!r}")
    return listed
