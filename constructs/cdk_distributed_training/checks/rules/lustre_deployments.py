"""What FSx for Lustre allows for each deployment type: facts, apart from the rules that read them.

Sources, read in 2026-11: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html and
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Allowed storage capacities in GiB: a few fixed ones, and the multiples of a step.

    Attributes:
        step: Every multiple of this is allowed.
        fixed: Also allowed.
    """

    step: int
    fixed: Sequence[int] = ()

    def allow(self, gibibytes: float) -> bool:
        """Whether the capacity is one of them."""
        return gibibytes in self.fixed or (gibibytes > 0 and gibibytes % self.step == 0)

    def near(self, gibibytes: float) -> Sequence[int]:
        """The allowed capacities just below and above."""
        below = int(gibibytes // self.step) * self.step
        around = sorted(size for size in {*self.fixed, below, below + self.step} if size > 0)
        lower = [size for size in around if size < gibibytes][-1:]
        return [*lower, *[size for size in around if size > gibibytes][:1]]

    def __str__(self) -> str:
        """The sizes in words."""
        return ", ".join([*(f"{size:,}" for size in self.fixed), f"multiples of {self.step:,} GiB"])


@dataclass(frozen=True)
class Media:
    """One kind of disk that a deployment type offers.

    Attributes:
        sizes: Allowed capacities by throughput; the key None holds for every throughput without an entry.
        throughputs: Allowed MB/s per TiB, the first being the default; empty if none may be given.
    """

    sizes: dict[int | None, Sizes]
    throughputs: Sequence[int] = ()

    def sizes_at(self, throughput: int | None) -> Sizes | None:
        """Allowed capacities at a throughput, None if that throughput is not offered."""
        return self.sizes.get(throughput, self.sizes.get(None))


@dataclass(frozen=True)
class Deployment:
    """One deployment type.

    Attributes:
        media: The kinds of disk it offers, by FSx's name.
        persistent: Whether data survive the loss of a file server; then backups and a KMS key are possible.
        data_repositories: Whether data repository associations are possible.
        versions: Allowed Lustre versions.
    """

    media: dict[str, Media]
    persistent: bool
    data_repositories: bool = True
    versions: Sequence[str] = ("2.10", "2.12", "2.15")


_BY_2400 = Sizes(2400, (1200,))

DEPLOYMENTS: dict[str, Deployment] = {
    "SCRATCH_1": Deployment({"SSD": Media({None: Sizes(3600, (1200, 2400))})}, False, data_repositories=False),
    "SCRATCH_2": Deployment({"SSD": Media({None: _BY_2400})}, False),
    "PERSISTENT_1": Deployment(
        {
            "SSD": Media({None: _BY_2400}, (50, 100, 200)),
            "HDD": Media({12: Sizes(6000), 40: Sizes(1800)}, (12, 40)),
        },
        True,
    ),
    "PERSISTENT_2": Deployment(
        {"SSD": Media({None: _BY_2400}, (125, 250, 500, 1000))}, True, versions=("2.12", "2.15")
    ),
}
