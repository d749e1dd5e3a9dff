"""Keep credentials out of everything the launcher prints or writes itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_ANYWHERE = re.compile(r"SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE_?KEY|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
_WORDS = {"TOKEN", "KEY", "CREDS"}
_HARMLESS = re.compile(r"true|false|none|null|[-+]?\d{0,5}(\.\d*)?|", re.IGNORECASE)
_SHORTEST = 6
"""Shorter values would also hide innocent text wherever they occur by chance."""

HIDDEN = "***"


def is_secret_name(name: str) -> bool:
    """Whether a variable or hyperparameter of this name probably holds a credential.

    Words count, so ``HF_TOKEN`` is one and ``TOKENIZERS_PARALLELISM`` or ``max_tokens`` is none.
    """
    words = re.split(r"[^A-Za-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name))
    return bool(_ANYWHERE.search(name)) or any(word.upper() in _WORDS for word in words)


class Mask:
    """Replaces the values of secret names by ``***``."""

    def __init__(self, *named_values: Mapping[str, str]) -> None:
        values = {
            value
            for mapping in named_values
            for name, value in mapping.items()
            if is_secret_name(name) and not _HARMLESS.fullmatch(value)
        }
        self._whole = values
        # longest first, so that no value is cut up by another that it contains
        self._parts = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without any secret value in it."""
        if text in self._whole:
            return HIDDEN
        for value in self._parts:
            text = text.replace(value, HIDDEN)
        return text

    def all(self, texts: Iterable[str]) -> list[str]:
        """Each of the texts, masked."""
        return [self(text) for text in texts]
