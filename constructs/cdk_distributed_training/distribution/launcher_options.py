"""What the launcher does beside starting processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import launcher_options as rules

if TYPE_CHECKING:
    import aws_cdk as cdk

Preflight = Literal["off", "network", "collectives"]
Collectives = Literal["auto", "nccl", "gloo", "smddp", "neuron", "xla"]
BooleanHyperparameters = Literal["value", "flag"]

_SHORTEST_SILENCE = 60.0
"""Seconds; the imports of a training script may well take half of it without a word."""


@dataclass(frozen=True, kw_only=True)
class LauncherOptions:
    """Options of the launcher that every distribution takes.

    Attributes:
        hang_timeout: End the job when no process on any machine has written anything for this long, and write where
            each process stands; at least a minute, and more than loading, compiling or saving may take in silence.
            Not unless given: a job that hangs runs until its `max_runtime`.
        require_efa: Whether the job ends at its start, saying what is missing, where its machines would have to meet
            over TCP instead of EFA.
        collectives: Backend that `training_launcher.torch` is told to take; the best that works on the machine unless
            given.
        preflight: What several machines try before the start: nothing (`off`), the `network` between them, or a small
            all-reduce besides (`collectives`); the latter where there is EFA, else the network, unless given.
        grace: Time that the processes have to save and end after a stop; 110 seconds unless given, of the 120 that
            SageMaker leaves.
        join_timeout: Time until the launchers of all machines must have met; 20 minutes unless given.
        boolean_hyperparameters: Whether `True` reaches the script as `--name true` (`value`, unless given) or as
            `--name` alone, and `False` then not at all (`flag`).
    """

    hang_timeout: cdk.Duration | None = None
    require_efa: bool = False
    collectives: Collectives | None = None
    preflight: Preflight | None = None
    grace: cdk.Duration | None = None
    join_timeout: cdk.Duration | None = None
    boolean_hyperparameters: BooleanHyperparameters | None = None

    def launcher_arguments(self) -> list[str | int | float]:
        """The options as words of the launcher's command line; numbers may be CDK tokens."""
        arguments: list[str | int | float] = []
        for option, duration in (
            ("--hang-timeout", self.hang_timeout),
            ("--grace", self.grace),
            ("--join-timeout", self.join_timeout),
        ):
            if duration is not None:
                arguments += [option, duration.to_seconds()]
        if self.require_efa:
            arguments.append("--require-efa")
        for option, word in (
            ("--collectives", self.collectives),
            ("--preflight", self.preflight),
            ("--boolean-hyperparameters", self.boolean_hyperparameters),
        ):
            if word is not None:
                arguments += [option, word]
        return arguments

    def findings(self, *, known: Callable[[object], bool]) -> Iterator[Finding]:
        """Words that the launcher does not know, and times that mean nothing.

        Args:
            known: Whether a value can be judged; false for CDK tokens.
        """
        for prop, word, allowed in (
            ("collectives", self.collectives, get_args(Collectives)),
            ("preflight", self.preflight, get_args(Preflight)),
            ("boolean_hyperparameters", self.boolean_hyperparameters, get_args(BooleanHyperparameters)),
        ):
            if word is not None and known(word):
                yield from rules.choice(prop, word, allowed)
        for prop, duration, least in (
            ("hang_timeout", self.hang_timeout, _SHORTEST_SILENCE),
            ("grace", self.grace, 1.0),
            ("join_timeout", self.join_timeout, 1.0),
        ):
            if duration is not None and known(duration.to_seconds(integral=False)):
                yield from rules.seconds(prop, duration.to_seconds(integral=False), least=least)
