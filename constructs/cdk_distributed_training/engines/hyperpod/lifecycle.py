"""Scripts that run on the nodes of a HyperPod cluster when they start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import aws_cdk as cdk

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import hyperpod as rules

if TYPE_CHECKING:
    from aws_cdk import aws_s3 as s3

_OWN_BUCKETS = "sagemaker-"
_LONGEST_FILE_NAME = 128


@dataclass(frozen=True, kw_only=True)
class HyperPodLifecycle:
    """A folder of scripts, and the one that HyperPod starts on each new node.

    Make one with `from_directory` or `from_bucket`. A group of a Slurm cluster needs none: HyperPod's image sets up
    Slurm, Docker, Enroot and Pyxis, and mounts the file system. On EKS a script is needed; this library has one that
    does nothing but say what the node is.
    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html

    Attributes:
        directory: A folder on this machine; None for scripts that are in S3 already.
        bucket: Bucket with the scripts; None for a folder.
        prefix: Their folder in the bucket.
        on_init_complete: The script that runs after the image has set up the node; Slurm only.
        on_create: The script that runs in place of that: it must set up and start everything itself.
    """

    directory: Path | None = None
    bucket: s3.IBucket | None = None
    prefix: str = ""
    on_init_complete: str | None = None
    on_create: str | None = None

    @classmethod
    def from_directory(
        cls, path: str | Path, *, on_init_complete: str | None = None, on_create: str | None = None
    ) -> HyperPodLifecycle:
        """Scripts of a folder on this machine, which each deployment brings to a bucket of the cluster's.

        Args:
            path: The folder.
            on_init_complete: Name of the script that runs after the image has set up the node; Slurm only.
            on_create: Name of the script that runs in place of that.
        """
        return cls(directory=Path(path).resolve(), on_init_complete=on_init_complete, on_create=on_create)

    @classmethod
    def from_bucket(
        cls,
        bucket: s3.IBucket,
        *,
        prefix: str = "",
        on_init_complete: str | None = None,
        on_create: str | None = None,
    ) -> HyperPodLifecycle:
        """Scripts that are in S3 already.

        Args:
            bucket: The bucket; HyperPod asks for a name that begins with `sagemaker-`.
            prefix: Their folder in it.
            on_init_complete: Name of the script that runs after the image has set up the node; Slurm only.
            on_create: Name of the script that runs in place of that.
        """
        return cls(bucket=bucket, prefix=prefix, on_init_complete=on_init_complete, on_create=on_create)

    def findings(self, *, slurm: bool) -> Iterator[Finding]:
        """What is wrong with them.

        Args:
            slurm: Whether the cluster's orchestrator is Slurm.
        """
        named = [name for name in (self.on_init_complete, self.on_create) if name is not None]
        if len(named) != 1:
            yield from rules.lifecycle(f"{len(named)} scripts to start", "one of on_init_complete and on_create")
        if not slurm and self.on_init_complete is not None:
            yield from rules.lifecycle("on_init_complete on EKS", "on_create: EKS's nodes know no other")
        for name in named:
            if cdk.Token.is_unresolved(name):
                continue
            if not 1 <= len(name) <= _LONGEST_FILE_NAME:
                yield from rules.lifecycle(f"a name of {len(name)} characters", f"1 to {_LONGEST_FILE_NAME}")
            elif self.directory is not None and not (self.directory / name).is_file():
                yield from rules.lifecycle(repr(name), f"the name of a script in {self.directory}")
        if self.bucket is not None:
            bucket_name = self.bucket.bucket_name
            if not cdk.Token.is_unresolved(bucket_name) and not bucket_name.startswith(_OWN_BUCKETS):
                yield from rules.lifecycle(
                    f"a bucket named {bucket_name!r}", f"one whose name begins with {_OWN_BUCKETS}"
                )


def eks_lifecycle() -> HyperPodLifecycle:
    """The script of this library's own for nodes of EKS."""
    return HyperPodLifecycle.from_directory(Path(__file__).with_name("eks_scripts"), on_create="on_create.sh")
