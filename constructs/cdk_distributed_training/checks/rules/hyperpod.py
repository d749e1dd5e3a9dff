"""Rules about clusters of SageMaker HyperPod (DT750 to DT757)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cdk_distributed_training.checks.examples import given
from cdk_distributed_training.checks.findings import Finding
from cdk_distributed_training.checks.rule import rule
from cdk_distributed_training.data.tables import hyperpod_instance_types, instance_type_names, instance_types

_GROUP = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html"
_SLURM = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html"
_SLURM_CHECKS = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html"
)
_EKS = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html"
_LIFECYCLE = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html"
_PLANS = "https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html"
_NAME = re.compile(r"[a-zA-Z0-9](?:-*[a-zA-Z0-9])*")
_PLAN = re.compile(r"arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:training-plan/.+")
_MOST_GROUPS = 100
_LONGEST_NAME = 63


@rule(
    "DT750",
    title="An instance type that HyperPod does not have",
    why="SageMaker refuses to create the cluster.",
    source=_GROUP,
    bad=given(instance_type="ml.p3.16xlarge"),
    good=given(instance_type="ml.p5.48xlarge"),
)
def instance_type(instance_type: str) -> Iterator[Finding]:
    """DT750: a type that training jobs have and clusters have not; one that nobody knows yet is let pass."""
    if instance_type not in hyperpod_instance_types() and instance_type in instance_type_names():
        family = instance_type.rpartition(".")[0]
        same = sorted(name for name in hyperpod_instance_types() if name.startswith(f"{family}."))
        yield Finding(
            rule="DT750",
            prop="instance_groups.instances",
            got=repr(instance_type),
            allowed=" or ".join(same) or "a type of HyperPod's, such as ml.p5.48xlarge",
            fix="take one of these, or run the job by its own state machine",
            source=_GROUP,
        )


@rule(
    "DT751",
    title="Names of a cluster or its groups that SageMaker does not take",
    why="SageMaker refuses to create the cluster.",
    source=_GROUP,
    bad=given(cluster=None, groups=["workers", "workers"]),
    good=given(cluster="pretrain", groups=["controller", "workers"]),
)
def names(cluster: str | None, groups: Sequence[str]) -> Iterator[Finding]:
    """DT751: names, each legal and no group's twice, of 1 to 100 groups.

    Args:
        cluster: The cluster's own name; None where it is made up.
        groups: The groups' names.
    """
    problems = [] if cluster is None else [("cluster_name", cluster)]
    problems += [("instance_groups.name", name) for name in groups]
    for prop, name in problems:
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
            yield _name_finding(prop, repr(name))
    for name in sorted({name for name in groups if groups.count(name) > 1}):
        yield _name_finding("instance_groups.name", f"{name!r} twice")
    if not 1 <= len(groups) <= _MOST_GROUPS:
        yield _name_finding("instance_groups", f"{len(groups)} groups")


def partition(name: str, slurm_node: str | None) -> Iterator[Finding]:
    """DT751: a Slurm partition, which only groups that work have.

    Args:
        name: Its name.
        slurm_node: The group's part in a Slurm cluster; None on EKS.
    """
    if slurm_node != "Compute" or not _NAME.fullmatch(name):
        yield Finding(
            rule="DT751",
            prop="instance_groups.partition",
            got=f"{name!r} on {'EKS' if slurm_node is None else f'the {slurm_node} group'}",
            allowed="letters, digits and, inside, hyphens, on a group of Slurm's that works",
            fix="rename it, or leave it out",
            source=_SLURM,
        )


def _name_finding(prop: str, got: str) -> Finding:
    return Finding(
        rule="DT751",
        prop=prop,
        got=got,
        allowed=f"1 to {_MOST_GROUPS} groups with different names; letters, digits and, inside, hyphens, at most "
        f"{_LONGEST_NAME} characters",
        fix="rename it, or change the groups",
        source=_GROUP,
    )


@rule(
    "DT752",
    title="Groups that make no Slurm cluster",
    why="SageMaker refuses the cluster, or its nodes find no controller.",
    source=_SLURM,
    bad=given(counts={"controller": 2, "workers": 8}, controller="controller", login=None),
    good=given(counts={"controller": 1, "workers": 8}, controller="controller", login=None),
)
def slurm_groups(counts: Mapping[str, float | None], controller: str, login: str | None) -> Iterator[Finding]:
    """DT752: one controller of one machine, at most one group to log in, and at least one that works.

    Args:
        counts: Machines of each group; None where only deployment knows.
        controller: Name of the controller's group.
        login: Name of the group to log in to; None where there is none.
    """
    for prop, name in (("orchestrator.controller_group", controller), ("orchestrator.login_group", login)):
        if name is not None and name not in counts:
            yield _slurm_finding(prop, repr(name), f"the name of a group: {', '.join(map(repr, counts))}")
    if counts.get(controller) not in (None, 1):
        yield _slurm_finding("orchestrator.controller_group", f"{counts[controller]:g} machines", "one machine")
    if controller == login:
        yield _slurm_finding("orchestrator.login_group", repr(login), "another group than the controller's")
    if not counts.keys() - {controller, login}:
        yield _slurm_finding("instance_groups", "no group that works", "at least one besides controller and login")


def _slurm_finding(prop: str, got: str, allowed: str) -> Finding:
    return Finding(
        rule="DT752",
        prop=prop,
        got=got,
        allowed=allowed,
        fix="change the groups or what the orchestrator says of them",
        source=_SLURM,
    )


@rule(
    "DT753",
    title="Deep health checks where HyperPod has none",
    why="SageMaker refuses the group, or starts it without the checks.",
    source=_SLURM_CHECKS,
    bad=given(checks=["InstanceStress"], instance_type="ml.c5.xlarge", slurm_node="Compute"),
    good=given(checks=["InstanceStress"], instance_type="ml.p5.48xlarge", slurm_node="Compute"),
)
def deep_health_checks(checks: Sequence[str], instance_type: str, slurm_node: str | None) -> Iterator[Finding]:
    """DT753: checks against the accelerator and the orchestrator.

    Args:
        checks: The checks.
        instance_type: The group's type; one without a row in the table is let pass.
        slurm_node: The group's part in a Slurm cluster; None on EKS.
    """
    if not checks:
        return
    facts = instance_types().get(instance_type)
    accelerators = ("gpu",) if slurm_node else ("gpu", "neuron")
    known = ("InstanceStress", "InstanceConnectivity", *(() if slurm_node else ("MultiNodeTrainingValidation",)))
    unknown = [check for check in checks if check not in known]
    where = "Slurm" if slurm_node else "EKS"
    if unknown or len(set(checks)) != len(checks):
        yield _check_finding(", ".join(checks), f"each once, on {where}: {', '.join(known)}")
    if slurm_node not in (None, "Compute"):
        yield _check_finding(f"checks on the {slurm_node} group", "checks on groups that work")
    elif facts is not None and facts.accelerator not in accelerators:
        kinds = "GPUs" if slurm_node else "GPUs or Trainium"
        yield _check_finding(
            f"checks on {instance_type}", f"checks on types with {kinds} where Slurm or EKS is {where}"
        )


def _check_finding(got: str, allowed: str) -> Finding:
    return Finding(
        rule="DT753",
        prop="instance_groups.deep_health_checks",
        got=got,
        allowed=allowed,
        fix="leave them out of this group, or take others",
        source=_SLURM_CHECKS,
    )


@rule(
    "DT754",
    title="A training plan that the group's machines cannot come from",
    why="The group gets no machines: a plan's are of one type, in one zone.",
    source=_PLANS,
    bad=given(
        plan="arn:aws:sagemaker:us-east-1:111122223333:training-plan/p5",
        instance_type="ml.p5.48xlarge",
        plan_zone="use1-az4",
        zone="use1-az6",
    ),
    good=given(
        plan="arn:aws:sagemaker:us-east-1:111122223333:training-plan/p5",
        instance_type="ml.p5.48xlarge",
        plan_zone="use1-az4",
        zone="use1-az4",
    ),
)
def training_plan(plan: str, instance_type: str, plan_zone: str | None, zone: str | None) -> Iterator[Finding]:
    """DT754: a plan against what the group is.

    Args:
        plan: The plan's ARN.
        instance_type: The group's type.
        plan_zone: Id of the zone of the plan's machines; None where nobody says it.
        zone: Id of the zone of the group's subnet; None where nobody knows it.
    """
    facts = instance_types().get(instance_type)
    problems = []
    if not _PLAN.fullmatch(plan):
        problems.append((repr(plan), "arn:aws:sagemaker:<region>:<account>:training-plan/<name>"))
    if facts is not None and facts.accelerator == "cpu":
        problems.append((f"a plan for {instance_type}", "a plan for a type with accelerators: plans have no others"))
    if plan_zone is not None and zone is not None and plan_zone != zone:
        problems.append((f"a plan in {plan_zone}", f"a plan in {zone}, where the group's subnet is"))
    for got, allowed in problems:
        yield Finding(
            rule="DT754",
            prop="instance_groups.instances.training_plan",
            got=got,
            allowed=allowed,
            fix="name the plan of these machines, or make the network with availability_zone_id= of the plan",
            source=_PLANS,
        )


@rule(
    "DT755",
    title="An EKS cluster that a HyperPod cluster cannot join",
    why="SageMaker refuses the cluster, or its nodes never reach the control plane.",
    source=_EKS,
    bad=given(vpc="vpc-0123456789abcdef1", network_vpc="vpc-0123456789abcdef0", authentication_mode="API"),
    good=given(vpc="vpc-0123456789abcdef0", network_vpc="vpc-0123456789abcdef0", authentication_mode="API"),
)
def eks_cluster(vpc: str | None, network_vpc: str | None, authentication_mode: str | None) -> Iterator[Finding]:
    """DT755: the control plane's VPC, and how it knows who may do what.

    Args:
        vpc: Id of the control plane's VPC; None where it is not known.
        network_vpc: Id of the nodes' VPC; None where it is not known.
        authentication_mode: Such as `API`; None where it is not known.
    """
    problems = []
    if vpc is not None and network_vpc is not None and vpc != network_vpc:
        problems.append((f"a cluster in {vpc}", f"one in {network_vpc}, the network's VPC"))
    if authentication_mode == "CONFIG_MAP":
        problems.append(("authentication mode CONFIG_MAP", "API or API_AND_CONFIG_MAP"))
    for got, allowed in problems:
        yield Finding(
            rule="DT755",
            prop="orchestrator.cluster",
            got=got,
            allowed=allowed,
            fix="make the TrainingNetwork with vpc=cluster.vpc, and the EKS cluster with authentication_mode=API",
            source=_EKS,
        )


@rule(
    "DT756",
    title="Lifecycle scripts that HyperPod does not run",
    why="SageMaker refuses the cluster, or its nodes fail when they start.",
    source=_LIFECYCLE,
    bad=given(problem="a bucket named 'scripts'", allowed="one whose name begins with sagemaker-"),
)
def lifecycle(problem: str, allowed: str) -> Iterator[Finding]:
    """DT756: what is wrong with a group's scripts, as they themselves say.

    Args:
        problem: What was given.
        allowed: What would be right.
    """
    yield Finding(
        rule="DT756",
        prop="instance_groups.lifecycle",
        got=problem,
        allowed=allowed,
        fix="change the scripts, or leave them out where Slurm needs none",
        source=_LIFECYCLE,
    )


@rule(
    "DT757",
    title="Parts of a cluster in different networks",
    why="Nodes cannot reach each other or the file system.",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html",
    bad=given(prop="file_system", what="a file system", where="vpc-1", network="vpc-0"),
    good=given(prop="file_system", what="a file system", where="vpc-0", network="vpc-0"),
)
def same_network(prop: str, what: str, where: str, network: str) -> Iterator[Finding]:
    """DT757: the VPC of a part, against the cluster's.

    Args:
        prop: The property.
        what: The part, with an article.
        where: Id of its VPC.
        network: Id of the cluster's VPC.
    """
    if where != network:
        yield Finding(
            rule="DT757",
            prop=prop,
            got=f"{what} in {where}",
            allowed=f"one in {network}, where the cluster is",
            fix="take one of the cluster's VPC",
            source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html",
        )
