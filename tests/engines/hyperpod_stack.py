"""Clusters of HyperPod and jobs on them, in one stack: by Slurm and on EKS."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from tests.engines.engine_stack import IMAGE, source

import cdk_distributed_training as dt

PLAN = "arn:aws:sagemaker:us-east-1:111111111111:training-plan/p5"


def stack(folder, **context):
    app = cdk.App(analytics_reporting=False, outdir=str(folder), context=context or None)
    return cdk.Stack(app, "HyperPod", env=cdk.Environment(account="111111111111", region="us-east-1"))


def network(scope):
    vpc = ec2.Vpc.from_vpc_attributes(
        scope,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
    )
    return dt.TrainingNetwork(scope, "Network", vpc=vpc)


def file_system(scope, of):
    return dt.LustreFileSystem(scope, "Lustre", network=of, storage_capacity=cdk.Size.gibibytes(4800))


def groups(**changes):
    """A controller and workers; changes are the workers'."""
    options = {"name": "workers", "instances": dt.Instances("ml.p5.48xlarge", count=4), **changes}
    return [
        dt.HyperPodInstanceGroup(name="controller", instances=dt.Instances("ml.m5.2xlarge")),
        dt.HyperPodInstanceGroup(**options),
    ]


def slurm_cluster(scope, of, id="Slurm", **changes):
    options = {
        "network": of,
        "instance_groups": groups(),
        "orchestrator": dt.HyperPodOrchestrator.slurm(controller_group="controller"),
    }
    return dt.HyperPodCluster(scope, id, **{**options, **changes})


def control_plane(scope, of, vpc=None):
    return eks.Cluster.from_cluster_attributes(
        scope,
        "ControlPlane",
        cluster_name="training",
        vpc=vpc or of.vpc,
        cluster_security_group_id="sg-0e00e00e00e00e00e",
    )


def job(scope, folder, of, channels=(), id="Job", **changes):
    options = {
        "source": source(folder),
        "instances": dt.Instances("ml.p5.48xlarge", count=2),
        "distribution": dt.Torchrun(),
        "image": dt.TrainingImage.from_uri(IMAGE),
        "network": of,
        "channels": channels,
        "hyperparameters": {"lr": 0.1, "note": 'it\'s "quoted" {word} $HOME'},
        "environment": {"OMP_NUM_THREADS": "1", "NOTE": "it's"},
        "checkpoint": dt.CheckpointConfig(),
        "job_name": "digits",
    }
    return dt.DistributedTrainingJob(scope, id, **{**options, **changes})


def with_both(scope, folder):
    """A Slurm cluster with all that it can have, one on EKS, and a job on each."""
    of = network(scope)
    lustre = file_system(scope, of)
    scripts = folder / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "monitoring.sh").write_text("echo hello\n", encoding="utf-8")
    slurm = slurm_cluster(
        scope,
        of,
        instance_groups=[
            dt.HyperPodInstanceGroup(name="controller", instances=dt.Instances("ml.m5.2xlarge")),
            dt.HyperPodInstanceGroup(name="login", instances=dt.Instances("ml.m5.xlarge")),
            dt.HyperPodInstanceGroup(
                name="workers",
                instances=dt.Instances(
                    "ml.p5.48xlarge", count=4, volume_size=cdk.Size.gibibytes(500), training_plan=PLAN
                ),
                deep_health_checks=["InstanceStress", "InstanceConnectivity"],
                threads_per_core=1,
                partition="gpu",
                lifecycle=dt.HyperPodLifecycle.from_directory(scripts, on_init_complete="monitoring.sh"),
            ),
        ],
        orchestrator=dt.HyperPodOrchestrator.slurm(controller_group="controller", login_group="login"),
        file_system=lustre,
        continuous_provisioning=True,
        cluster_name="pretrain",
    )
    on_eks = dt.HyperPodCluster(
        scope,
        "Eks",
        network=of,
        orchestrator=dt.HyperPodOrchestrator.eks(control_plane(scope, of)),
        instance_groups=[
            dt.HyperPodInstanceGroup(
                name="workers",
                instances=dt.Instances("ml.p5.48xlarge", count=4),
                deep_health_checks=["InstanceStress"],
            )
        ],
        file_system=lustre,
        tiered_storage_percentage=20,
        cluster_name="pods",
    )
    one = job(scope, folder / "source", of, [lustre.channel("train", directory_path="/corpus")])
    dt.HyperPodJob(scope, "OnSlurm", job=one, cluster=slurm, group="workers")
    dt.HyperPodJob(scope, "OnEks", job=one, cluster=on_eks, group="workers", service_account="training")
    slurm.on_state_change("Changed", statuses=["Failed"])
    slurm.on_node_health("Ill")
    dt.HyperPodCluster.from_cluster_name(scope, "Other", "theirs").on_node_health("All", health=None)
    return slurm, on_eks
