"""What clusters of HyperPod refuse or warn of (DT755, DT757, DT759): good, bad and token input by the constructs."""

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_lambda as lambda_
from tests.engines.hyperpod_stack import control_plane, file_system, groups, job, network, slurm_cluster, stack

import cdk_distributed_training as dt

LAYER = "arn:aws:lambda:us-east-1:111111111111:layer:kubectl:1"


def rules_of(make):
    """The rules by which something is refused; none if it is made."""
    try:
        make()
    except dt.ConfigurationError as refused:
        return [finding.rule for finding in refused.findings]
    return []


def control_plane_made_here(scope, of, mode):
    return eks.Cluster(
        scope,
        "ControlPlane",
        version=eks.KubernetesVersion.V1_33,
        kubectl_layer=lambda_.LayerVersion.from_layer_version_arn(scope, "Kubectl", LAYER),
        vpc=of.vpc,
        vpc_subnets=[ec2.SubnetSelection(subnets=[of.subnet])],
        default_capacity=0,
        authentication_mode=mode,
    )


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        (eks.AuthenticationMode.CONFIG_MAP, ["DT755"]),
        (None, ["DT755"]),  # what EKS takes where nothing is said
        (eks.AuthenticationMode.API, []),
        (eks.AuthenticationMode.API_AND_CONFIG_MAP, []),
    ],
)
def test_how_a_control_plane_knows_its_people(tmp_path, mode, found):
    scope = stack(tmp_path)
    of = network(scope)
    orchestrator = dt.HyperPodOrchestrator.eks(control_plane_made_here(scope, of, mode))
    assert rules_of(lambda: slurm_cluster(scope, of, orchestrator=orchestrator, instance_groups=groups()[1:])) == found


def other_vpc(scope, vpc_id):
    return ec2.Vpc.from_vpc_attributes(
        scope,
        "OtherVpc",
        vpc_id=vpc_id,
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef1"],
    )


VPCS = [("vpc-0123456789abcdef0", False), ("vpc-0123456789abcdef1", True), (None, False)]


@pytest.mark.parametrize(("vpc_id", "refused"), VPCS, ids=["own", "other", "token"])
class TestPlaces:
    """The cluster is in vpc-0123456789abcdef0; a VPC that only deployment knows is not judged."""

    def vpc(self, scope, vpc_id):
        return other_vpc(scope, vpc_id or cdk.Fn.import_value("vpc"))

    def test_of_the_control_plane(self, tmp_path, vpc_id, refused):
        scope = stack(tmp_path)
        of = network(scope)
        orchestrator = dt.HyperPodOrchestrator.eks(control_plane(scope, of, self.vpc(scope, vpc_id)))
        found = rules_of(lambda: slurm_cluster(scope, of, orchestrator=orchestrator, instance_groups=groups()[1:]))
        assert found == ["DT755"] * refused

    def test_of_a_group(self, tmp_path, vpc_id, refused):
        scope = stack(tmp_path)
        other = dt.TrainingNetwork(scope, "Other", vpc=self.vpc(scope, vpc_id))
        found = rules_of(lambda: slurm_cluster(scope, network(scope), instance_groups=groups(network=other)))
        assert found == ["DT757"] * refused

    def test_of_the_file_system(self, tmp_path, vpc_id, refused):
        scope = stack(tmp_path)
        elsewhere = file_system(scope, dt.TrainingNetwork(scope, "Other", vpc=self.vpc(scope, vpc_id)))
        found = rules_of(lambda: slurm_cluster(scope, network(scope), file_system=elsewhere))
        assert found == ["DT757"] * refused


@pytest.mark.parametrize(
    ("changes", "warned"),
    [
        ({}, None),
        ({"retry": dt.RetryStrategy(maximum_retry_attempts=2)}, "RetryStrategy"),
        (
            {"retry": dt.RetryStrategy(maximum_retry_attempts=cdk.Token.as_number(cdk.Fn.import_value("attempts")))},
            "RetryStrategy",
        ),
        ({"instances": dt.Instances("ml.p5.48xlarge", count=cdk.Token.as_number(cdk.Fn.import_value("n")))}, None),
    ],
    ids=["nothing", "retries", "retries by a token", "machines by a token"],
)
def test_what_a_cluster_does_without(tmp_path, changes, warned):
    scope = stack(tmp_path / "out")
    of = network(scope)
    on = slurm_cluster(scope, of)
    dt.HyperPodJob(scope, "OnCluster", job=job(scope, tmp_path / "source", of, **changes), cluster=on, group="workers")
    found = assertions.Annotations.from_stack(scope).find_warning(
        "/HyperPod/OnCluster", assertions.Match.string_like_regexp("DT759")
    )
    assert [warned in str(one.entry.data) for one in found] == ([] if warned is None else [True])
