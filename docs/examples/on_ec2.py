"""One job on EC2 machines of the account, in reserved capacity, by AWS Batch."""

import aws_cdk as cdk
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns

import cdk_distributed_training as dt

app = cdk.App()
stack = cdk.Stack(app, "OnEc2", env=cdk.Environment(account="111111111111", region="us-east-1"))
instances = dt.Instances("ml.p5.48xlarge", count=16)
network = dt.TrainingNetwork(stack, "Network", availability_zone="us-east-1d", instances=[instances])
# the network is closed: the machines reach Amazon ECS, the image and the log by endpoints
network.add_calls(dt.TrainingCall.ECS, dt.TrainingCall.IMAGES, dt.TrainingCall.LOGS)
corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(4800))

job = dt.DistributedTrainingJob(
    stack,
    "Pretrain",
    source=dt.SourceCode.from_directory("./digits", entry_script="train.py"),
    instances=instances,
    distribution=dt.Torchrun(max_restarts=3),
    # checkpoints are written to the file system: what syncs them with S3 is SageMaker's
    channels=[
        corpus.channel("train", directory_path="/corpus"),
        corpus.channel("checkpoints", directory_path="/checkpoints", access_mode="rw"),
    ],
    max_runtime=cdk.Duration.days(3),
)
on_ec2 = dt.MultiNodeParallelJob(stack, "Machines", job=job, capacity_reservation_id="cr-0123456789abcdef0")

researchers = iam.Role(stack, "Researchers", assumed_by=iam.AccountRootPrincipal())
for grant in (on_ec2.grants.start, on_ec2.grants.stop, on_ec2.grants.read_logs):
    grant(researchers)
on_ec2.on_failed("Failed", target=targets.SnsTopic(sns.Topic(stack, "Failures", enforce_ssl=True)))
# a run by hand, without the state machine
cdk.CfnOutput(
    stack,
    "Submit",
    value=cdk.Fn.join(
        " ",
        [
            "aws batch submit-job --job-name by-hand --job-definition",
            on_ec2.job_definition_arn,
            "--job-queue",
            on_ec2.job_queue_arn,
        ],
    ),
)
app.synth()
