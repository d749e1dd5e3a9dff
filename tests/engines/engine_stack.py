"""One job, started by every engine, in one stack."""

import json

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler as scheduler
from tests.job.resolved import resolve

import cdk_distributed_training as dt

IMAGE = "111111111111.dkr.ecr.us-east-1.amazonaws.com/train:1"


def network(stack):
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
    )
    return dt.TrainingNetwork(stack, "Network", vpc=vpc)


def source(folder):
    folder.mkdir(exist_ok=True)
    (folder / "train.py").write_text("print('loss=1')\n", encoding="utf-8")
    return dt.SourceCode.from_directory(str(folder), entry_script="train.py")


def job(stack, folder, **changes):
    """A job that every engine can run: its image has the launcher inside."""
    options = {
        "source": source(folder),
        "instances": dt.Instances("ml.p4d.24xlarge", count=2),
        "image": dt.TrainingImage.from_uri(IMAGE, launcher_inside=True),
        "network": network(stack),
        "hyperparameters": {"lr": 0.1, "epochs": cdk.Fn.import_value("epochs"), "note": 'a "quoted" {word}'},
        "environment": {"OMP_NUM_THREADS": "1"},
        "metric_definitions": [dt.MetricDefinition(name="loss", regex="loss=([0-9.]+)")],
        "job_name": "digits",
        "tags": {"team": "vision"},
    }
    return dt.DistributedTrainingJob(stack, "Job", **{**options, **changes})


def with_every_engine(stack, folder):
    """The job by a queue, as a tuning job, as a pipeline, every night, and on new data."""
    one = job(stack, folder)
    queue = dt.TrainingQueue(
        stack,
        "Queue",
        max_instances=8,
        shares=[dt.FairShare(name="vision"), dt.FairShare(name="text*", weight=0.5)],
        share_decay=cdk.Duration.days(1),
        compute_reservation=10,
        max_head_time=cdk.Duration.hours(12),
    )
    reserved = dt.TrainingQueue(
        stack,
        "Reserved",
        max_instances=16,
        quota_shares=[
            dt.QuotaShare(name="vision", max_instances={"ml.p4d.24xlarge": 8}, preemption=True),
            dt.QuotaShare(name="text", max_instances={"ml.p4d.24xlarge": 8}, idle="LEND"),
        ],
    )
    queued = dt.QueuedTrainingJob(
        stack,
        "Queued",
        job=one,
        queue=queue,
        share="text1",
        priority=10,
        attempts=3,
        attempt_rules=[
            dt.AttemptRule(reason="*InternalServerError*", action="RETRY"),
            dt.AttemptRule(reason="*", action="EXIT"),
        ],
        attempt_timeout=cdk.Duration.days(1),
    )
    dt.QueuedTrainingJob(stack, "Preemptible", job=one, queue=reserved, share="vision", max_preemptions=3)
    dt.TunedTrainingJob(
        stack,
        "Tuning",
        job=one,
        objective=dt.TuningObjective("loss"),
        ranges={
            "lr": dt.ContinuousRange(1e-5, 1e-2, scaling="Logarithmic"),
            "layers": dt.IntegerRange(2, 8),
            "optimizer": dt.CategoricalRange(["adam", "sgd"]),
        },
        max_trials=20,
        max_parallel_trials=2,
        max_runtime=cdk.Duration.days(2),
        early_stopping=True,
        target=0.1,
        random_seed=7,
    )
    pipeline = dt.TrainingPipeline(stack, "Pipeline", job=one)
    dt.TrainingSchedule(
        stack,
        "Weekly",
        job=pipeline,
        schedule=scheduler.ScheduleExpression.rate(cdk.Duration.days(7)),
        hyperparameters={"lr": 0.3},
        instance_count=4,
        while_running="wait",
    )
    dt.TrainingSchedule(
        stack,
        "Nightly",
        job=queued,
        schedule=scheduler.ScheduleExpression.cron(hour="2", minute="0", time_zone=cdk.TimeZone.EUROPE_BERLIN),
        hyperparameters={"lr": 0.2, "quick": True},
        instance_count=2,
    )
    data = s3.Bucket.from_bucket_name(stack, "Data", "corpus")
    dt.TrainingOnNewData(stack, "OnNewData", job=one, bucket=data, prefix="books/*", suffix="_SUCCESS")
    return one


def definition(template, part):
    """The definition of the state machine whose logical id begins so."""
    _, machine = resource(template, "AWS::StepFunctions::StateMachine", part)
    return json.loads(plausible(machine["Properties"]["DefinitionString"], template))


def plausible(value, template):
    """A value as deployment would have it, with plausible ones for what only deployment knows."""
    if isinstance(value, list):
        return [plausible(item, template) for item in value]
    if not isinstance(value, dict):
        return value
    function = _FUNCTIONS.get(next(iter(value), None)) if len(value) == 1 else None
    if function is None:
        return {name: plausible(item, template) for name, item in value.items()}
    return function(next(iter(value.values())), template)


def _attribute(path, template):
    if path[1] == "GroupId":
        return "sg-0123456789abcdef0"
    kind = template["Resources"][path[0]]["Type"].split("::")[-1].lower()
    return f"arn:aws:iam::111111111111:{kind}/{path[0]}"


def _reference(name, template):
    ours = name in template["Resources"]
    return f"arn:aws:any:us-east-1:111111111111:{name}" if ours else resolve({"Ref": name}, template)


_FUNCTIONS = {
    "Fn::ImportValue": lambda name, template: f"imported-{name}",
    "Fn::GetAtt": _attribute,
    "Ref": _reference,
    "Fn::Join": lambda parts, template: parts[0].join(str(plausible(part, template)) for part in parts[1]),
    "Fn::Sub": lambda text, template: resolve({"Fn::Sub": text}, template),
}


def resource(template, type_, part):
    """The one resource of a type whose logical id begins so."""
    found = [
        (name, given)
        for name, given in template["Resources"].items()
        if given["Type"] == type_ and name.startswith(part)
    ]
    assert len(found) == 1, [name for name, _ in found]
    return found[0]


def statements(template, part):
    """What the role with that managed policy may do, besides logs and tracing, with ARNs as text."""
    _, policy = resource(template, "AWS::IAM::ManagedPolicy", part)
    listed = policy["Properties"]["PolicyDocument"]["Statement"]
    return [
        {name: plausible(value, template) for name, value in statement.items() if name != "Effect"}
        for statement in listed
        if not str(statement["Action"]).startswith(("['logs:", "['xray:"))
    ]
