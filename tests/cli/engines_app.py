"""An app with a job, and with everything that can stand around one."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler as scheduler

import cdk_distributed_training as dt

MODEL = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/llama"
IMAGE = "111111111111.dkr.ecr.us-east-1.amazonaws.com/mine:1"
SCRIPT = """import os, sys
print(sys.argv[1:], "rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"])
"""


def synthesize(folder: Path) -> Path:
    """The assembly; the code lies beside it."""
    code = folder / "code"
    code.mkdir(parents=True)
    (code / "train.py").write_text(SCRIPT)
    app = cdk.App(outdir=str(folder / "cdk.out"), analytics_reporting=False)
    stack = cdk.Stack(app, "Training")
    network = dt.TrainingNetwork(stack, "Network")
    network.add_calls(dt.TrainingCall.ECS, dt.TrainingCall.IMAGES, dt.TrainingCall.LOGS)
    bucket = s3.Bucket(stack, "Data", removal_policy=cdk.RemovalPolicy.DESTROY)

    def job(id: str, **options: object) -> dt.DistributedTrainingJob:
        return dt.DistributedTrainingJob(
            stack,
            id,
            source=dt.SourceCode.from_directory(code, entry_script="train.py"),
            instances=dt.Instances("ml.c7i.2xlarge", count=1),
            distribution=dt.Processes(process_count_per_node=1),
            network=network,
            output_bucket=bucket,
            **options,
        )

    own = job("Job", hyperparameters={"lr": 0.5, "epochs": 3})
    inside = job(
        "Inside",
        image=dt.TrainingImage.from_uri(IMAGE, launcher_inside=True),
        hyperparameters={"layers": 4},
        metric_definitions=[dt.MetricDefinition(name="loss", regex="loss=([0-9.]+)")],
    )
    queued = dt.QueuedTrainingJob(stack, "Queued", job=own, queue=dt.TrainingQueue(stack, "Queue", max_instances=8))
    dt.TunedTrainingJob(
        stack,
        "Tuning",
        job=inside,
        objective=dt.TuningObjective("loss"),
        ranges={
            "lr": dt.ContinuousRange(1e-5, 1e-2),
            "layers": dt.IntegerRange(2, 8),
            "optimizer": dt.CategoricalRange(["adam", "sgd"]),
        },
        max_trials=4,
    )
    dt.TrainingPipeline(stack, "Pipeline", job=own)
    dt.MultiNodeParallelJob(stack, "OnEc2", job=own)
    count = cdk.CfnParameter(stack, "Count", type="Number", default=2)
    rate = cdk.CfnParameter(stack, "Rate", default="0.25")
    night = scheduler.ScheduleExpression.cron(hour="2", minute="0")
    dt.TrainingSchedule(
        stack,
        "Nightly",
        job=queued,
        schedule=night,
        hyperparameters={"lr": rate.value_as_string},
        instance_count=count.value_as_number,
    )
    dt.TrainingOnNewData(stack, "OnNewData", job=own, bucket=bucket, prefix="corpus/")
    elsewhere = dt.DistributedTrainingJob.from_state_machine_arn(
        stack, "Old", "arn:aws:states:us-east-1:111111111111:stateMachine:Old", job_name="old"
    )
    dt.TrainingSchedule(stack, "Weekly", job=elsewhere, schedule=night)
    serverless = dt.ServerlessJobConfig(
        base_model_arn=MODEL, job_type="FineTuning", customization_technique="SFT", peft="LORA", accept_eula=True
    )
    dt.ServerlessTrainingJob(
        stack,
        "Tune",
        serverless=serverless,
        channels=[dt.Channel.from_s3_uri("train", "s3://corpus/talks/")],
        hyperparameters={"learning_rate": 1e-4},
    )
    app.synth()
    return folder / "cdk.out"
