"""One job for clusters of SageMaker HyperPod: as a batch script for Slurm, and as a PyTorchJob for EKS."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns

import cdk_distributed_training as dt

app = cdk.App()
stack = cdk.Stack(app, "OnHyperPod", env=cdk.Environment(account="111111111111", region="us-east-1"))
# the VPC and the EKS cluster were there before
vpc = ec2.Vpc.from_vpc_attributes(
    stack,
    "Vpc",
    vpc_id="vpc-0123456789abcdef0",
    availability_zones=["us-east-1d"],
    private_subnet_ids=["subnet-0123456789abcdef0"],
)
control_plane = eks.Cluster.from_cluster_attributes(
    stack,
    "ControlPlane",
    cluster_name="training",
    vpc=vpc,
    cluster_security_group_id="sg-0123456789abcdef0",
)
network = dt.TrainingNetwork(stack, "Network", vpc=vpc)
corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800))
workers = dt.HyperPodInstanceGroup(
    name="workers",
    instances=dt.Instances("ml.p5.48xlarge", count=16),
    deep_health_checks=["InstanceStress", "InstanceConnectivity"],
)

job = dt.DistributedTrainingJob(
    stack,
    "Pretrain",
    source=dt.SourceCode.from_directory("./digits", entry_script="train.py"),
    instances=dt.Instances("ml.p5.48xlarge", count=16),
    distribution=dt.Torchrun(max_restarts=3),
    network=network,
    channels=[corpus.channel("train", directory_path="/corpus")],
    checkpoint=dt.CheckpointConfig(),
    max_runtime=cdk.Duration.days(14),
)

slurm = dt.HyperPodCluster(
    stack,
    "Slurm",
    network=network,
    file_system=corpus,
    orchestrator=dt.HyperPodOrchestrator.slurm(controller_group="controller"),
    instance_groups=[
        dt.HyperPodInstanceGroup(name="controller", instances=dt.Instances("ml.m5.2xlarge")),
        workers,
    ],
)
pods = dt.HyperPodCluster(
    stack,
    "Pods",
    network=network,
    file_system=corpus,
    orchestrator=dt.HyperPodOrchestrator.eks(control_plane),
    instance_groups=[workers],
)
on_slurm = dt.HyperPodJob(stack, "OnSlurm", job=job, cluster=slurm, group="workers")
on_eks = dt.HyperPodJob(stack, "OnEks", job=job, cluster=pods, group="workers", service_account="training")

failures = targets.SnsTopic(sns.Topic(stack, "Failures", enforce_ssl=True))
for cluster in (slurm, pods):
    cluster.on_node_health("Ill", target=failures)
# aws s3 cp ... && sbatch ... on the controller; aws s3 cp ... - | kubectl apply -f -
cdk.CfnOutput(stack, "BatchScript", value=on_slurm.file_uri)
cdk.CfnOutput(stack, "Manifest", value=on_eks.file_uri)
app.synth()
