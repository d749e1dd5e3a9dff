"""Every member of CreateTrainingJob, as botocore has it, is reached by a property of a construct."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from tests.job.resolved import resolve
from tests.request.create_training_job_model import input_shape, problems
from tests.request.test_request_members import leaves, model_leaves

import cdk_distributed_training as dt

ARN = "arn:aws:sagemaker:us-east-1:111111111111"
MODEL = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/llama/1.0.0"
RULE = dt.EvaluationRule(
    name="VanishingGradient",
    image_uri="503895931360.dkr.ecr.us-east-1.amazonaws.com/sagemaker-debugger-rules:latest",
    parameters={"rule_to_invoke": "VanishingGradient"},
    instance_type="m5.xlarge",
    volume_size=cdk.Size.gibibytes(10),
    local_path="/opt/ml/processing/output",
    output_uri="s3://bucket/rules",
)
# members of the API's model that nobody asks for: each with the reason
NOT_ASKED_FOR = {
    "TrainingJobName": "each run has a name of its own, which the engine makes from the job's",
    "ResourceConfig.SelectedInstanceType": "an answer: which of the preferences SageMaker has taken",
    "ResourceConfig.SelectedInstanceCount": "an answer: how many of them",
}


def everything(stack, options):
    """Properties that go together."""
    key = kms.Key(stack, "Key")
    corpus = dt.EfsFileSystem(stack, "Corpus", network=options["network"])
    return dt.DistributedTrainingJob(
        stack,
        "Everything",
        instances=dt.Instances(
            "ml.p3.16xlarge",
            count=2,
            volume_size=cdk.Size.gibibytes(100),
            volume_key=key,
            keep_alive=cdk.Duration.hours(1),
            training_plan=f"{ARN}:training-plan/pretraining",
            placement=dt.InstancePlacement(
                enable_multiple_jobs=True, specifications=[dt.PlacementSpecification(count=2, ultra_server_id="us-1")]
            ),
        ),
        channels=[
            dt.Channel.from_augmented_manifest(
                "labels",
                s3.Bucket.from_bucket_name(stack, "Data", "data"),
                key="train.manifest",
                attribute_names=["source-ref", "label"],
                options=dt.ChannelOptions(
                    distribution="ShardedByS3Key",
                    shuffle_seed=7,
                    content_type="text/plain",
                    compression="Gzip",
                    record_wrapper="RecordIO",
                    accept_eula=True,
                    hub_content_arn=MODEL,
                ),
            ),
            dt.Channel.from_dataset("hub", f"{ARN}:hub-content/hub/DataSet/d/1.0.0"),
            corpus.channel("corpus", directory_path="/"),
        ],
        hyperparameters={"lr": 0.1},
        environment={"NAME": "value"},
        encryption_key=key,
        output_compression="NONE",
        checkpoint=dt.CheckpointConfig(),
        max_pending=cdk.Duration.hours(2),
        retry=dt.RetryStrategy(maximum_retry_attempts=3),
        metric_definitions=[dt.MetricDefinition(name="loss", regex="loss=([0-9.]+)")],
        tensor_board=dt.TensorBoardConfig(),
        debugger_hook=dt.DebuggerHook(
            local_path="/opt/ml/output/tensors",
            parameters={"save_interval": "100"},
            collections=[dt.DebuggerCollection(name="losses", parameters={"save_interval": "10"})],
        ),
        debugger_rules=[RULE],
        profiler=dt.Profiler(interval=cdk.Duration.millis(500), parameters={"DataloaderProfilingConfig": "{}"}),
        profiler_rules=[RULE],
        experiment=dt.ExperimentConfig(
            experiment_name="corpus", trial_name="trial", trial_component_display_name="shown", run_name="first"
        ),
        mlflow=dt.MlflowConfig(
            resource_arn=f"{ARN}:mlflow-tracking-server/runs", experiment_name="corpus", run_name="first"
        ),
        model_package=dt.ModelPackageConfig(
            group_arn=f"{ARN}:model-package-group/models", source_arn=f"{ARN}:model-package/models/1"
        ),
        remote_debug=True,
        infra_check=True,
        session_tag_chaining=True,
        **options,
    )


def on_groups(stack, options):
    groups = [
        dt.InstanceGroup(name="data", instance_type="ml.c7i.xlarge"),
        dt.InstanceGroup(name="train", instance_type="ml.p4d.24xlarge"),
    ]
    provider = lambda_.Function.from_function_name(stack, "Login", "login")
    return dt.DistributedTrainingJob(
        stack,
        "Groups",
        instances=dt.Instances.from_groups(groups),
        distribution=dt.OnInstanceGroups(distribution=dt.Torchrun(), groups=["train"]),
        image=dt.TrainingImage.from_private_registry("registry.example.com/t:1", credentials_provider=provider),
        channels=[
            dt.Channel.from_s3_uri("train", "s3://data/v1", options=dt.ChannelOptions(instance_groups=["train"]))
        ],
        spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)),
        **options,
    )


def with_preferences(stack, options):
    return dt.DistributedTrainingJob(
        stack,
        "Preferences",
        instances=dt.Instances.from_preferences(
            [
                dt.InstancePreference(
                    instance_type="p5.48xlarge", count=2, training_plan=f"{ARN}:training-plan/pretraining"
                ),
                dt.InstancePreference(instance_type="p4d.24xlarge", count=4),
            ]
        ),
        image=dt.TrainingImage.from_algorithm("mine"),
        **options,
    )


def tuned(stack, options):
    return dt.ServerlessTrainingJob(
        stack,
        "Tuned",
        serverless=dt.ServerlessJobConfig(
            base_model_arn=MODEL,
            job_type="FineTuning",
            accept_eula=True,
            customization_technique="RLVR",
            peft="LORA",
            evaluator_arn="arn:aws:lambda:us-east-1:111111111111:function:reward",
            sequence_length="8K",
        ),
    )


def evaluated(stack, options):
    return dt.ServerlessTrainingJob(
        stack,
        "Evaluated",
        serverless=dt.ServerlessJobConfig(
            base_model_arn=MODEL, job_type="Evaluation", evaluation_type="BenchmarkEvaluation"
        ),
    )


BUILDERS = [everything, on_groups, with_preferences, tuned, evaluated]


@pytest.fixture(scope="module")
def requests(tmp_path_factory):
    """The request of each job, resolved."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.py").write_text("print('hello')\n")
    env = cdk.Environment(account="111111111111", region="us-east-1")
    stack = cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(folder / "cdk.out")), "Training", env=env)
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
    )
    options = {
        "source": dt.SourceCode.from_directory(folder, entry_script="train.py", exclude=["cdk.out"]),
        "network": dt.TrainingNetwork(stack, "Network", vpc=vpc),
    }
    jobs = [build(stack, options) for build in BUILDERS]
    template = cdk.App.of(stack).synth().get_stack_by_name("Training").template
    return {
        build.__name__: resolve(stack.resolve(job.request), template) for build, job in zip(BUILDERS, jobs, strict=True)
    }


def test_every_member_is_reached(requests):
    reached = {leaf for request in requests.values() for leaf in leaves(request, input_shape())}
    assert reached == set(model_leaves(input_shape())) - set(NOT_ASKED_FOR)


@pytest.mark.parametrize("name", [build.__name__ for build in BUILDERS])
def test_the_request_is_valid(requests, name):
    assert problems({**requests[name], "TrainingJobName": "job-1"}) == []
