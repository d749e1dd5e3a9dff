"""The container's image: a value with several makers, which grants the pull where it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cdk_distributed_training.job.algorithm_image import AlgorithmImage
from cdk_distributed_training.job.asset_image import AssetImage, launcher_image
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.job.deep_learning_container import DeepLearningContainerImage
from cdk_distributed_training.job.model_parallel_image import ModelParallelImage
from cdk_distributed_training.job.private_registry_image import PrivateRegistryImage
from cdk_distributed_training.job.registry_image import RepositoryImage, UriImage
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.request.registry_access import RegistryAccess

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_lambda as lambda_
    from constructs import Construct


class TrainingImage:
    """An image for a training job.

    Make one with `from_deep_learning_container`, `from_model_parallel_container`, `from_uri`, `from_ecr_repository`,
    `from_private_registry`, `from_asset`, `from_algorithm` or `with_launcher`.
    """

    def __init__(self, kind: ContainerImage) -> None:
        """Hold an image of any kind; the methods below make those of this library.

        Args:
            kind: The image.
        """
        self._kind = kind

    @staticmethod
    def from_deep_learning_container(
        framework_version: str | None = None,
        *,
        accelerator: Literal["cpu", "gpu", "neuron"] | None = None,
        neuron_sdk: str | None = None,
    ) -> TrainingImage:
        """One of AWS's deep learning containers with PyTorch, from the registry of the stack's region.

        A version past its end of patch gets a warning.
        Source: https://github.com/aws/deep-learning-containers

        Args:
            framework_version: Version of PyTorch, such as `2.13` or `2.13.0`; the newest that this library knows for
                the accelerator and the region's partition unless given.
            accelerator: What the image is built for; chosen by the job's instance type unless given.
            neuron_sdk: Version of the Neuron SDK, such as `2.29.1`, for images for Trainium; the newest with that
                version of PyTorch unless given.
        """
        return TrainingImage(
            DeepLearningContainerImage(
                framework_version=framework_version, accelerator=accelerator, neuron_sdk=neuron_sdk
            )
        )

    @staticmethod
    def from_model_parallel_container(framework_version: str | None = None) -> TrainingImage:
        """AWS's image with the model parallel library, version 2, for the distribution `SMP`.

        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/distributed-model-parallel-support-v2.html

        Args:
            framework_version: Version of PyTorch, such as `2.5.1`; the newest unless given.
        """
        return TrainingImage(ModelParallelImage(framework_version=framework_version))

    @staticmethod
    def from_uri(uri: str, *, launcher_inside: bool = False) -> TrainingImage:
        """Any image by its address.

        The job's role may pull it if the address is one of ECR in plain text; otherwise a warning says so. The
        repository's own policy must allow the role if it belongs to another account.

        Args:
            uri: The address, such as `111122223333.dkr.ecr.us-east-1.amazonaws.com/train:1`.
            launcher_inside: Whether the image's entry point is this library's launcher, as `container/Dockerfile` has
                it; then the job brings none.
        """
        return TrainingImage(UriImage(uri, launcher_inside=launcher_inside))

    @staticmethod
    def from_ecr_repository(
        repository: ecr.IRepository, tag_or_digest: str = "latest", *, launcher_inside: bool = False
    ) -> TrainingImage:
        """An image in an ECR repository; the job's role may pull it.

        Args:
            repository: The repository.
            tag_or_digest: The image's tag, or its digest beginning with `sha256:`.
            launcher_inside: Whether the image's entry point is this library's launcher; then the job brings none.
        """
        return TrainingImage(RepositoryImage(repository, tag_or_digest, launcher_inside=launcher_inside))

    @staticmethod
    def from_private_registry(
        uri: str, *, credentials_provider: lambda_.IFunction | None = None, launcher_inside: bool = False
    ) -> TrainingImage:
        """An image in a registry that the job's network reaches, and that is not ECR.

        SageMaker pulls it through the job's subnet, so the network needs a route to the registry.
        Source: https://docs.aws.amazon.com/sagemaker/latest/dg/docker-containers-adapt-your-own-private-registry.html

        Args:
            uri: The address, such as `registry.example.com/team/train:1`.
            credentials_provider: Function that gives user name and password, which the job's role may call; none for
                a registry that asks for none.
            launcher_inside: Whether the image's entry point is this library's launcher; then the job brings none.
        """
        return TrainingImage(
            PrivateRegistryImage(uri, credentials_provider=credentials_provider, launcher_inside=launcher_inside)
        )

    @staticmethod
    def from_asset(
        directory: str | Path,
        *,
        file: str | None = None,
        build_args: Mapping[str, str] | None = None,
        target: str | None = None,
        exclude: Sequence[str] = (),
        platform: Literal["linux/amd64", "linux/arm64"] | None = None,
        launcher_inside: bool = False,
    ) -> TrainingImage:
        """An image that is built from a Dockerfile when the app is deployed, which takes Docker.

        Args:
            directory: The build context.
            file: The Dockerfile, relative to the directory; `Dockerfile` unless given.
            build_args: Values for the Dockerfile's `ARG` lines.
            target: The stage to build; the last unless given.
            exclude: Patterns of what stays out of the context, as in `.dockerignore`, besides that file's own.
            platform: What the image is for, whatever the building machine is; by the job's instance type unless
                given: `linux/arm64` for Graviton, else `linux/amd64`.
            launcher_inside: Whether the image's entry point is this library's launcher; then the job brings none.

        Raises:
            ConfigurationError: The directory or the Dockerfile is not there.
        """
        return TrainingImage(
            AssetImage(
                Path(directory),
                file=file,
                build_args=build_args,
                target=target,
                exclude=exclude,
                platform=platform,
                launcher_inside=launcher_inside,
            )
        )

    @staticmethod
    def from_algorithm(name_or_arn: str, *, launcher_inside: bool = False) -> TrainingImage:
        """The image that one of SageMaker's algorithm resources names: your own, or one of AWS Marketplace.

        The job's role must be allowed to pull that image, which a warning (DT518) says: only the resource knows it.
        Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AlgorithmSpecification.html

        Args:
            name_or_arn: The algorithm's name in this account and region, or its ARN, which is what AWS Marketplace
                gives to subscribers; at most 170 characters.
            launcher_inside: Whether the image's entry point is this library's launcher; else the job brings it, and
                starts it in place of the image's own entry point.
        """
        return TrainingImage(AlgorithmImage(name_or_arn, launcher_inside=launcher_inside))

    @staticmethod
    def with_launcher(
        base_image: str, *, platform: Literal["linux/amd64", "linux/arm64"] | None = None
    ) -> TrainingImage:
        """Another image with this library's launcher as its entry point, built when the app is deployed.

        The job then brings no launcher, and its command is the launcher's arguments alone.

        Args:
            base_image: Address of the image to add it to, best with its digest: it needs Python 3.9 or newer. Log in
                to its registry before the deployment.
            platform: As for `from_asset`.
        """
        return TrainingImage(launcher_image(base_image, platform=platform))

    @property
    def launcher_inside(self) -> bool:
        """Whether the image's entry point is this library's launcher."""
        return self._kind.launcher_inside

    @property
    def is_algorithm(self) -> bool:
        """Whether what `bind` returns is the name of an algorithm resource, in place of an address."""
        return self._kind.is_algorithm

    @property
    def registry_access(self) -> RegistryAccess | None:
        """How the image is pulled if it is not in ECR."""
        return self._kind.registry_access

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Allow the grantee to pull the image, and return its address.

        Args:
            scope: The job, where findings are reported.
            instances: The machines that run it.
            grantee: The job's role.

        Raises:
            ConfigurationError: There is no such image.
        """
        return self._kind.bind(scope, instances=instances, grantee=grantee)
