"""A job in an account that others govern: their VPC, role and key, and guardrails around whoever starts jobs."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

import cdk_distributed_training as dt

ACCOUNT = "111111111111"

app = cdk.App()
stack = cdk.Stack(app, "Training", env=cdk.Environment(account=ACCOUNT, region="us-east-1"))

# the network team's VPC, in which nothing leads outside
network = dt.TrainingNetwork.from_attributes(
    stack,
    "Network",
    vpc=ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0a1b2c3d", availability_zones=["us-east-1d"]),
    subnet=ec2.Subnet.from_subnet_attributes(
        stack, "Subnet", subnet_id="subnet-0a1b2c3d", availability_zone="us-east-1d"
    ),
    node_security_group=ec2.SecurityGroup.from_security_group_id(stack, "Nodes", "sg-0a1b2c3d"),
)

# the security team's role and key, which no app may change: a warning lists what the role must be allowed
role = iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{ACCOUNT}:role/training", mutable=False)
key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/11111111-1111-1111-1111-111111111111")

job = dt.DistributedTrainingJob(
    stack,
    "Job",
    source=dt.SourceCode.from_directory("./digits", entry_script="train.py"),
    instances=dt.Instances("ml.c7i.8xlarge", count=4),
    network=network,
    role=role,
    output_bucket=s3.Bucket.from_bucket_name(stack, "Models", "models-of-the-company"),
    encryption_key=key,
    network_isolation=True,
    encrypt_inter_container_traffic=True,
    permissions_boundary=iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "training-boundary"),
)
print(f"the role must be allowed {len(job.required_statements)} statements")

# whoever starts jobs by other ways than this one's state machine stays within the same bounds
developers = iam.Group.from_group_name(stack, "Developers", "developers")
job.guardrails.managed_policy.attach_to_group(developers)
app.synth()
