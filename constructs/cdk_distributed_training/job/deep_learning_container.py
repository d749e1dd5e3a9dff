"""AWS's own training images, chosen by version, accelerator and region."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import region_info
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import raise_errors
from cdk_distributed_training.checks.rules import image as rules
from cdk_distributed_training.data.tables import (
    DeepLearningContainer,
    deep_learning_containers,
    image_accounts,
    instance_types,
)
from cdk_distributed_training.enclosing_stack import enclosing_stack
from cdk_distributed_training.job.container_image import ContainerImage
from cdk_distributed_training.job.registry_image import grant_pull
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known

_ACCOUNTS = "DeepLearningContainerAccounts"


class DeepLearningContainerImage(ContainerImage):
    """An image of AWS's deep learning containers."""

    def __init__(
        self, *, framework_version: str | None, accelerator: str | None, neuron_sdk: str | None = None
    ) -> None:
        """Use `TrainingImage.from_deep_learning_container`."""
        self._neuron_sdk = neuron_sdk
        self._framework_version = framework_version
        self._accelerator = accelerator

    def bind(self, scope: Construct, *, instances: Instances, grantee: iam.IGrantable) -> str:
        """Choose the image, allow the grantee to pull it, and return its address."""
        stack = enclosing_stack(scope)
        region = stack.region
        image = self._choose(scope, instances, region)
        annotate_warnings(
            scope,
            [
                *rules.end_of_patch(image, datetime.datetime.now(tz=datetime.timezone.utc).date()),
                *rules.accelerator_of_machines(image.accelerator, _kinds_of(instances)),
            ],
        )
        account = _account(scope, region)
        grant_pull(grantee, account, region, image.repository)
        return f"{account}.dkr.ecr.{region}.{stack.url_suffix}/{image.repository}:{image.tag}"

    def _choose(self, scope: Construct, instances: Instances, region: str) -> DeepLearningContainer:

        def where() -> str:
            return scope.node.path

        accelerator = self._accelerator
        if accelerator is not None:
            raise_errors(rules.accelerator(accelerator), where=where)
        elif known(instances.instance_type):
            accelerator = _accelerator(instances)
        else:
            raise_errors([rules.undecided_accelerator()], where=where)
        candidates = _published(accelerator, region)
        wanted = self._framework_version
        if wanted is not None:
            versions = list(dict.fromkeys(image.version for image in candidates))
            raise_errors(rules.framework_version(wanted, accelerator or "", versions), where=where)
            candidates = [image for image in candidates if f"{image.version}.".startswith(f"{wanted}.")]
        if self._neuron_sdk is not None:
            raise_errors(rules.neuron_sdk(self._neuron_sdk, [image.neuron_sdk for image in candidates]), where=where)
            candidates = [image for image in candidates if image.neuron_sdk == self._neuron_sdk]
        return max(candidates, key=lambda image: (_numbers(image.version), _numbers(image.neuron_sdk)))


def _kinds_of(instances: Instances) -> dict[str, str]:
    """What each type needs that the job may run on, as far as there are facts."""
    table = instance_types()
    return {name: table[name].accelerator for name in instances.types if name in table}


def _accelerator(instances: Instances) -> str:
    """What the type's images are built for; a type without facts is judged by its family's letter."""
    if instances.facts is not None:
        return instances.facts.accelerator
    family = instances.instance_type.removeprefix("ml.")
    if family.startswith("trn"):
        return "neuron"
    return "gpu" if family.startswith(("p", "g")) else "cpu"


def _published(accelerator: str | None, region: str) -> Sequence[DeepLearningContainer]:
    """The images that the region's partition has; a region that is unknown yet counts as a commercial one."""
    partition = _partition(region) if known(region) else "aws"
    return [
        image
        for image in deep_learning_containers()
        if image.accelerator == accelerator and partition in image.partitions
    ]


@functools.cache
def _partition(region: str) -> str:
    """The partition of a region; one of which CDK has not heard counts as a commercial one."""
    return region_info.RegionInfo.get(region).partition or "aws"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


def _account(scope: Construct, region: str) -> str:
    """The account of AWS's images: from the table, or from a mapping where only deployment knows the region."""
    accounts = image_accounts()
    if known(region):
        raise_errors(rules.region(region, accounts), where=lambda: scope.node.path)
        return accounts[region]
    stack = cdk.Stack.of(scope)
    mapping = stack.node.try_find_child(_ACCOUNTS)
    if mapping is None:
        mapping = cdk.CfnMapping(stack, _ACCOUNTS, mapping={name: {"account": accounts[name]} for name in accounts})
    assert isinstance(mapping, cdk.CfnMapping)  # noqa: S101  nobody else uses this id
    return mapping.find_in_map(cdk.Aws.REGION, "account")
