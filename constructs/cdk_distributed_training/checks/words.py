"""Words of which there is a fixed choice, in value classes that are judged with all else of their construct."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules.keywords import wrong_word
from cdk_distributed_training.tokens import known


def unknown_words(prop: str, given: Sequence[str], choice: Any) -> Iterator[Finding]:
    """DT901 for words that are none of a `Literal`'s; tokens are not judged.

    Args:
        prop: The property.
        given: The words.
        choice: The `Literal`.
    """
    words = get_args(choice)
    wrong = [word for word in given if known(word) and word not in words]
    if wrong:
        yield wrong_word(prop, value=wrong[0] if len(wrong) == 1 else wrong, words=words, wrong=wrong)
