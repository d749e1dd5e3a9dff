"""After which ends a queued job is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import queues as rules
from cdk_distributed_training.checks.words import unknown_words
from cdk_distributed_training.tokens import known

AttemptAction = Literal["RETRY", "EXIT"]


@dataclass(frozen=True, kw_only=True)
class AttemptRule:
    """What Batch does when an attempt has failed for a reason that matches; the first rule that matches counts.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/service-job-retries.html

    Attributes:
        reason: Pattern for the reason, in which `*` stands for any text, such as `*InternalServerError*`.
        action: `RETRY` puts the job into the queue again while attempts are left, `EXIT` lets it fail.
    """

    reason: str
    action: AttemptAction

    def findings(self) -> Iterator[Finding]:
        """What is wrong with it."""
        yield from unknown_words("attempt_rules.action", [self.action], AttemptAction)
        if known(self.reason):
            yield from rules.reason_pattern(self.reason)

    def render(self) -> dict[str, Any]:
        """The rule as the API has it, in the spelling of Step Functions."""
        return {"Action": self.action, "OnStatusReason": self.reason}
