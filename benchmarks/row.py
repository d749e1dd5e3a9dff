"""One line of the benchmark table."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured, in the same run for both sides.

    Attributes:
        what: What was done.
        unit: Unit of `ours` and `other`, such as `CPU s`.
        ours: Median of this library's measurements.
        other: Median of the other side's.
        ratio: Median of the paired ratios ours / other.
        bar: The ratio that is to be held; None where the row only informs.
        against: What the other side is.
    """

    what: str
    unit: str
    ours: float
    other: float
    ratio: float
    bar: float | None
    against: str

    @property
    def held(self) -> bool | None:
        """Whether the ratio keeps to the bar; None without a bar."""
        return None if self.bar is None else self.ratio <= self.bar

    def as_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return {**asdict(self), "held": self.held}


def row_of(
    what: str, ours: Sequence[float], other: Sequence[float], *, against: str, unit: str, bar: float | None
) -> Row:
    """The row of what both sides measured in the same rounds: medians of the values and of the paired ratios."""
    return Row(
        what=what,
        unit=unit,
        ours=statistics.median(ours),
        other=statistics.median(other),
        ratio=statistics.median(a / b for a, b in zip(ours, other, strict=True)),
        bar=bar,
        against=against,
    )


def paired(
    what: str,
    ours: Callable[[], float],
    other: Callable[[], float],
    *,
    against: str,
    unit: str,
    bar: float | None,
    rounds: int = 5,
) -> Row:
    """Measure both sides in turn, `rounds` times after one warm-up each."""
    ours()
    other()
    pairs = [(ours(), other()) for _ in range(rounds)]
    return row_of(what, [a for a, _ in pairs], [b for _, b in pairs], against=against, unit=unit, bar=bar)
