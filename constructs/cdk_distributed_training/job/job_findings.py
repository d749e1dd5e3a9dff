"""What is wrong with a job's properties, all of it at once; tokens are never judged."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rules import distribution as machine_rules
from cdk_distributed_training.checks.rules import job as job_rules
from cdk_distributed_training.checks.rules import keywords as keyword_rules
from cdk_distributed_training.checks.rules import launcher_options as option_rules
from cdk_distributed_training.checks.rules import library_support as library_rules
from cdk_distributed_training.checks.rules import network as network_rules
from cdk_distributed_training.checks.rules import request as request_rules
from cdk_distributed_training.checks.rules import state_machine as state_machine_rules
from cdk_distributed_training.data.tables import instance_type_names, instance_types
from cdk_distributed_training.distribution.distribution import Distribution
from cdk_distributed_training.distribution.launcher_options import LauncherOptions
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.network.region_findings import region_findings
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.channels import HYPERPARAMETER_CHANNEL, RESERVED_CHANNEL_NAMES, TrainingChannel
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known


def of_machines(instances: Instances, distribution: Distribution) -> Iterator[Finding]:
    """The machines, and the processes on them."""
    types = [name for name in instances.types if known(name)]
    for name in types:
        yield from machine_rules.instance_type(name, instance_type_names())
    if known(instances.count):
        yield from machine_rules.instance_count(instances.count)
    yield from distribution.findings(instances, known=known)


def of_efa(instances: Instances, options: LauncherOptions) -> Iterator[Finding]:
    """EFA where it is demanded."""
    if options.require_efa and known([instances.count, *instances.types]) and instances.count > 1:
        facts = {name: instance_types().get(name) for name in instances.types}
        yield from option_rules.machines_without_efa(
            {name: None if row is None else row.efa_interfaces for name, row in facts.items()}
        )


def of_library(distribution: Distribution, image_uri: str) -> Iterator[Finding]:
    """The library that the distribution starts, in the image."""
    kind, *options = distribution.launcher_arguments()
    # what the image lacks, such a job does without
    falls_back = "--fallback" in options
    if known(kind) and not falls_back:
        yield from library_rules.library_in_image(str(kind), _without_tokens(image_uri))
        yield from library_rules.framework_in_image(str(kind), _without_tokens(image_uri))


def _without_tokens(text: str) -> str:
    """Text with tokens, such as a region's, as words that mean nothing."""
    return re.sub(r"[$#]\{Token\[[^\]]*\]\}", "token", text)


def of_names(job_name: str, channels: Sequence[TrainingChannel], *, has_file: bool = False) -> Iterator[Finding]:
    """The names of the job and of its channels, among them perhaps the file of hyperparameters."""
    if known(job_name):
        yield from job_rules.job_name(job_name)
    names = [channel.channel_name for channel in channels if known(channel.channel_name)]
    reserved = (*RESERVED_CHANNEL_NAMES, HYPERPARAMETER_CHANNEL) if has_file else RESERVED_CHANNEL_NAMES
    yield from request_rules.channel_names(names, reserved)


def of_times(runtime: float, wait: float | None, poll: float) -> Iterator[Finding]:
    """Times, in seconds."""
    if known(runtime):
        yield from job_rules.max_runtime(runtime)
    if wait is not None and known(wait) and known(runtime):
        yield from job_rules.max_wait(wait, runtime)
    # the engine computes with it at synthesis, so that a token is no use either
    yield from state_machine_rules.poll_interval(poll)


def of_places(
    channels: Sequence[TrainingChannel], network: ITrainingNetwork | None, *, region: str
) -> Iterator[Finding]:
    """Where the network and the channels' buckets are made."""
    yield from region_findings(network, region=region)
    for channel in channels:
        bucket = getattr(channel, "bucket", None)
        # CDK supposes that a bucket known by its name alone is where it is named
        there = _region_of(bucket) if isinstance(bucket, s3.Bucket) else region
        if known([there, region]):
            yield from network_rules.same_region(f"channels[{channel.channel_name!r}]", there=there, here=region)


@functools.cache
def _region_of(bucket: s3.Bucket) -> str:
    return bucket.env.region  # which crosses into Node.js


def of_network(channels: Sequence[TrainingChannel], network: ITrainingNetwork | None) -> Iterator[Finding]:
    """The networks of the channels and of the job."""
    networks: dict[str, ITrainingNetwork] = {
        channel.channel_name: channel.network for channel in channels if channel.network is not None
    }
    if not networks:
        return  # to ask for the job's subnet crosses into Node.js
    subnets = {name: _subnet(reached) for name, reached in networks.items()}
    job_subnet = None if network is None else _subnet(network)
    if network is None or job_subnet is not None:
        yield from job_rules.one_network({name: at for name, at in subnets.items() if at is not None}, job_subnet)


def of_texts(
    hyperparameters: Mapping[str, str], environment: Mapping[str, str], words: Sequence[str]
) -> Iterator[Finding]:
    """Hyperparameters, environment variables and the container's command line."""
    yield from keyword_rules.unsettled_name("hyperparameters", hyperparameters)
    yield from keyword_rules.unsettled_name("environment", environment)
    script = words.index("--") if words else 0
    yield from keyword_rules.unsettled_list("distribution", words[:script])
    yield from keyword_rules.unsettled_list("source.arguments", words[script:])
    literal_hyperparameters, literal_environment = _literal(hyperparameters), _literal(environment)
    yield from request_rules.entries("hyperparameters", literal_hyperparameters, limits.HYPERPARAMETERS)
    yield from request_rules.entries("environment", literal_environment, limits.ENVIRONMENT_OF_JOB)
    yield from state_machine_rules.reserved_variable(environment)
    yield from request_rules.container_words("source.arguments", [word for word in words if known(word)])
    yield from state_machine_rules.no_expressions("hyperparameters", literal_hyperparameters)
    yield from state_machine_rules.no_expressions("environment", literal_environment)
    yield from state_machine_rules.no_expressions("source.arguments", [word for word in words if known(word)])


def _subnet(network: ITrainingNetwork) -> str | None:
    """The network's subnet in words that tell it from others; `None` if another token may mean the same subnet."""
    subnet_id = network.subnet.subnet_id
    if known(subnet_id):
        return subnet_id
    token = cdk.Tokenization.reverse(subnet_id)
    if isinstance(token, cdk.Reference) and isinstance(token.target, ec2.CfnSubnet):
        return f"the subnet {token.target.node.path}"
    return None


def _literal(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if known(name) and known(value)}
