"""Every kind of image in every region: account, partition, domain, and what the role may pull.

What a partition is called and which domain it has comes from botocore here, which the library does not ask.
"""

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import aws_iam as iam

import cdk_distributed_training as dt
from cdk_distributed_training.data.tables import deep_learning_containers, image_accounts, model_parallel_containers

REGIONS = sorted(image_accounts())
CONTAINERS = {
    "cpu": dt.Instances("ml.c7i.xlarge"),
    "gpu": dt.Instances("ml.p5.48xlarge"),
    "neuron": dt.Instances("ml.trn1.32xlarge"),
}
PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]


@pytest.fixture(scope="module")
def partitions():
    """Name and domain of each region's partition, by botocore's own rules for regions' names."""
    session = botocore.session.get_session()
    data = session.get_component("data_loader").load_data("endpoints")
    domains = {row["partition"]: row["dnsSuffix"] for row in data["partitions"]}
    names = {region: session.get_partition_for_region(region) for region in REGIONS}
    return {region: (name, domains[name]) for region, name in names.items()}


def resolved(value, partition):
    """A value of a template as the deployment in that partition has it."""
    if isinstance(value, dict):
        ((function, argument),) = value.items()
        if function == "Ref":
            return {"AWS::Partition": partition[0], "AWS::URLSuffix": partition[1]}[argument]
        assert function == "Fn::Join"
        return argument[0].join(resolved(part, partition) for part in argument[1])
    return value


def bound(folder, region, partition, image, instances):
    """The image's address, and what its pull takes."""
    app = cdk.App(analytics_reporting=False, outdir=str(folder))
    stack = cdk.Stack(app, "Training", env=cdk.Environment(region=region))
    policy = iam.ManagedPolicy(stack, "Policy")
    uri = resolved(stack.resolve(image.bind(stack, instances=instances, grantee=policy)), partition)
    statements = stack.resolve(policy.document)["Statement"]
    return uri, [{**row, "Resource": resolved(row["Resource"], partition)} for row in statements]


def check(uri, statements, *, account, region, partition):
    """That one repository is named in both places, and nothing else is allowed."""
    name, domain = partition
    host, _, path = uri.partition("/")
    assert host == f"{account}.dkr.ecr.{region}.{domain}"
    repository = path.split(":")[0]
    assert statements == [
        {"Action": PULL, "Effect": "Allow", "Resource": f"arn:{name}:ecr:{region}:{account}:repository/{repository}"},
        {"Action": "ecr:GetAuthorizationToken", "Effect": "Allow", "Resource": "*"},
    ]
    return repository


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("region", REGIONS)
def test_a_deep_learning_container(tmp_path, partitions, region, kind):
    partition = partitions[region]
    published = {
        row.repository
        for row in deep_learning_containers()
        if row.accelerator == kind and partition[0] in row.partitions
    }
    image = dt.TrainingImage.from_deep_learning_container()
    if not published:
        with pytest.raises(dt.ConfigurationError, match="DT50"):
            bound(tmp_path, region, partition, image, CONTAINERS[kind])
        return
    uri, statements = bound(tmp_path, region, partition, image, CONTAINERS[kind])
    repository = check(uri, statements, account=image_accounts()[region], region=region, partition=partition)
    assert repository in published


@pytest.mark.parametrize("region", REGIONS)
def test_an_image_with_the_model_parallel_library(tmp_path, partitions, region):
    table = model_parallel_containers()
    image, instances = dt.TrainingImage.from_model_parallel_container(), CONTAINERS["gpu"]
    if region not in table.regions:
        with pytest.raises(dt.ConfigurationError, match="DT503"):
            bound(tmp_path, region, partitions[region], image, instances)
        return
    uri, statements = bound(tmp_path, region, partitions[region], image, instances)
    check(uri, statements, account=table.account, region=region, partition=partitions[region])


def test_the_partitions_are_all_there(partitions):
    names = {name for name, _ in partitions.values()}
    assert names >= {"aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-eusc"}
    assert partitions["cn-north-1"] == ("aws-cn", "amazonaws.com.cn")
    assert partitions["us-gov-west-1"] == ("aws-us-gov", "amazonaws.com")
