"""A model of SageMaker's hub that is fine-tuned without a script and without machines of one's own choice."""

import aws_cdk as cdk
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_sns as sns

import cdk_distributed_training as dt

app = cdk.App()
stack = cdk.Stack(app, "Customized", env=cdk.Environment(account="111111111111", region="us-east-1"))
data = s3.Bucket(stack, "Data", enforce_ssl=True, versioned=True)
models = sagemaker.CfnModelPackageGroup(stack, "Models", model_package_group_name="assistants")

job = dt.ServerlessTrainingJob(
    stack,
    "Tune",
    serverless=dt.ServerlessJobConfig(
        base_model_arn="arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/llama",
        job_type="FineTuning",
        customization_technique="SFT",
        peft="LORA",
        accept_eula=True,
    ),
    channels=[dt.Channel.from_bucket("train", data, prefix="conversations/")],
    model_package=dt.ModelPackageConfig(group_arn=models.attr_model_package_group_arn),
    hyperparameters={"learning_rate": 0.0002},
    max_runtime=cdk.Duration.hours(12),
)

# runs are started, heard of and read as those of a job on machines
researchers = iam.Role(stack, "Researchers", assumed_by=iam.AccountRootPrincipal())
for grant in (job.grants.start, job.grants.stop, job.grants.read_logs):
    grant(researchers)
job.on_failed("Failed", target=targets.SnsTopic(sns.Topic(stack, "Failures", enforce_ssl=True)))
app.synth()
