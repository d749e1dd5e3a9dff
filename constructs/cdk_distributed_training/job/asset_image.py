"""Images that are built when the app is deployed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import image_folder
from cdk_distributed_training.job.container_folder import container_folder
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.request.instances import Instances

Platform = Literal["linux/amd64", "linux/arm64"]

_ARCHITECTURES = {"amd64": "linux/amd64", "arm64": "linux/arm64"}


class AssetImage(ContainerImage):
    """An image from a Dockerfile; several jobs of one app that use it build it once."""

    def __init__(
        self,
        directory: Path,
        *,
        file: str | None,
        build_args: Mapping[str, str] | None,
        target: str | None,
        exclude: Sequence[str],
        platform: Platform | None,
        launcher_inside: bool,
    ) -> None:
        """Use `TrainingImage.from_asset`."""
        raise_errors(_findings(directory, file or "Dockerfile", platform))
        self._directory = directory
        self._file = file
        self._build_args = build_args
        self._target = target
        self._exclude = exclude
        self._platform = platform
        self.launcher_inside = launcher_inside

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Build the image for the machines, allow the grantee to pull it, and return its address."""
        from aws_cdk import aws_ecr_assets as ecr_assets  # noqa: PLC0415  other kinds of images do without it

        facts = instances.facts
        # an ARM laptop would build for itself, and the machines could not run it
        platform = self._platform or _ARCHITECTURES["amd64" if facts is None else facts.architecture]
        asset = ecr_assets.DockerImageAsset(
            scope,
            "Image",
            directory=str(self._directory.resolve()),
            file=self._file,
            build_args=None if self._build_args is None else dict(self._build_args),
            target=self._target,
            exclude=list(self._exclude),
            platform=ecr_assets.Platform.custom(platform),
        )
        asset.repository.grant_pull(grantee)
        return asset.image_uri


def launcher_image(base_image: str, *, platform: Platform | None) -> AssetImage:
    """The Dockerfile of `container/` over another image."""
    return AssetImage(
        container_folder(where="TrainingImage.with_launcher"),
        file=None,
        build_args={"BASE_IMAGE": base_image},
        target=None,
        exclude=("**/__pycache__", "**/*.pyc", "**/*.egg-info"),
        platform=platform,
        launcher_inside=True,
    )


def _findings(directory: Path, file: str, platform: str | None) -> Iterator[Finding]:
    path = directory / file
    yield from image_folder.dockerfile(str(path), exists=path.is_file(), folder_exists=directory.is_dir())
    yield from image_folder.platform(platform, known=list(_ARCHITECTURES.values()))
