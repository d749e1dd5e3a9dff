"""What the other engines refuse when an app is synthesized, and what they take."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler as scheduler
from tests.engines.engine_stack import definition, network, plausible, resource

import cdk_distributed_training as dt

REQUEST = {
    "RoleArn": "arn:aws:iam::111111111111:role/train",
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
    },
    "ResourceConfig": {"InstanceType": "ml.p4d.24xlarge", "InstanceCount": 2},
    "HyperParameters": {"lr": "0.1", "a.b": "1"},
}


class Job:
    """What an engine knows of a job."""

    def __init__(self, stack, request=REQUEST, job_name="digits"):
        self.node = stack.node
        self.job_name = job_name
        self.request = request
        self.role = iam.Role.from_role_arn(
            stack, f"Role{len(stack.node.children)}", "arn:aws:iam::111111111111:role/train", mutable=False
        )


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return cdk.App(analytics_reporting=False, outdir=str(tmp_path_factory.mktemp("cdk.out")))


@pytest.fixture
def stack(app, request):
    return cdk.Stack(app, f"S{abs(hash(request.node.name))}", env=cdk.Environment(region="us-east-1"))


def rules(call):
    with pytest.raises(dt.ConfigurationError) as refused:
        call()
    return [(finding.rule, finding.prop) for finding in refused.value.findings]


def queued(stack, queue=None, request=REQUEST, **options):
    queue = queue or dt.TrainingQueue(stack, "Queue", max_instances=8)
    return dt.QueuedTrainingJob(stack, "Queued", job=Job(stack, request), queue=queue, **options)


def tuned(stack, request=REQUEST, **options):
    defaults = {
        "objective": dt.TuningObjective("loss"),
        "ranges": {"lr": dt.ContinuousRange(0, 1)},
        "max_trials": 4,
    }
    return dt.TunedTrainingJob(stack, "Tuning", job=Job(stack, request), **{**defaults, **options})


def pipeline(stack, request=REQUEST, **options):
    return dt.TrainingPipeline(stack, "Pipeline", job=Job(stack, request), **options)


SHARE = dt.FairShare(name="vision")
QUOTA = dt.QuotaShare(name="text", max_instances={"ml.p5.48xlarge": 8})


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"max_instances": 0}, [("DT723", "max_instances")]),
        ({"max_instances": 1.5, "priority": -1}, [("DT723", "max_instances"), ("DT723", "priority")]),
        ({"shares": [SHARE, dt.FairShare(name="vis*")]}, [("DT724", "shares")]),
        ({"shares": [dt.FairShare(name="a-b", weight=1000)]}, [("DT723", "shares.weight"), ("DT724", "shares")]),
        ({"shares": [SHARE], "quota_shares": [QUOTA]}, [("DT724", "shares")]),
        ({"quota_shares": [QUOTA, QUOTA]}, [("DT724", "shares")]),
        ({"quota_shares": [dt.QuotaShare(name="a")]}, [("DT723", "quota_shares.max_instances")]),
        (
            {
                "quota_shares": [
                    dt.QuotaShare(name="a", max_instances={"ml.p5.48xlarge": 8}, idle="LEND", borrow_limit=9)
                ]
            },
            [("DT723", "quota_shares.borrow_limit")],
        ),
        (
            {"quota_shares": [dt.QuotaShare(name="a", max_instances={"ml.p5.48xlarge": 8}, idle="lend")]},
            [("DT901", "quota_shares.idle")],
        ),
        ({"share_decay": cdk.Duration.days(8)}, [("DT723", "share_decay")]),
        ({"compute_reservation": 100}, [("DT723", "compute_reservation")]),
        ({"max_head_time": cdk.Duration.minutes(9)}, [("DT723", "max_head_time")]),
    ],
)
def test_queues(stack, options, found):
    assert rules(lambda: dt.TrainingQueue(stack, "Queue", **{"max_instances": 8, **options})) == found


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"share": "vision"}, [("DT722", "share")]),
        ({"priority": 10000, "attempts": 0}, [("DT723", "priority"), ("DT723", "attempts")]),
        ({"attempts": 11}, [("DT723", "attempts")]),
        ({"attempt_rules": [dt.AttemptRule(reason="x" * 513, action="EXIT")]}, [("DT725", "attempt_rules.reason")]),
        ({"attempt_rules": [dt.AttemptRule(reason="*", action="retry")]}, [("DT901", "attempt_rules.action")]),
        ({"poll_interval": cdk.Duration.millis(500)}, [("DT703", "poll_interval")]),
        ({"max_preemptions": -1}, [("DT723", "max_preemptions")]),
    ],
)
def test_queued_jobs(stack, options, found):
    assert rules(lambda: queued(stack, **options)) == found


def test_a_job_that_never_fits(stack):
    groups = [{"InstanceCount": 5}, {"InstanceCount": 4}]
    request = {**REQUEST, "ResourceConfig": {"InstanceGroups": groups}}
    assert rules(lambda: queued(stack, request=request)) == [("DT721", "job.instances.count")]


@pytest.mark.parametrize(
    ("shared", "counts", "fits"),
    [
        ({}, [{"InstanceCount": 9}, {"InstanceCount": 12}], False),
        ({}, [{"InstanceCount": 16}, {"InstanceCount": 8}], True),
        ({"InstanceCount": 9}, [{}, {}], False),
        ({"InstanceCount": 8}, [{}, {}], True),
    ],
)
def test_of_preferences_one_must_fit(stack, shared, counts, fits):
    request = {**REQUEST, "ResourceConfig": {**shared, "InstancePreferences": counts}}
    if fits:
        queued(stack, request=request)
    else:
        assert rules(lambda: queued(stack, request=request)) == [("DT721", "job.instances.count")]


@pytest.mark.parametrize("share", [None, "speech"])
def test_a_share_that_the_queue_does_not_have(stack, share):
    queue = dt.TrainingQueue(stack, "Queue", max_instances=8, shares=[SHARE])
    assert rules(lambda: queued(stack, queue, share=share)) == [("DT722", "share")]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"objective": dt.TuningObjective("accuracy")}, [("DT730", "objective.metric")]),
        ({"ranges": {"lr": dt.ContinuousRange(0, 1, scaling="log")}}, [("DT901", "ranges['lr'].scaling")]),
        ({"ranges": {"lr": dt.ContinuousRange(0, float("inf"))}}, [("DT732", "ranges['lr']")]),
        ({"ranges": {"lr": dt.IntegerRange(0, float("inf"))}}, [("DT732", "ranges['lr']")]),
        ({"ranges": {"lr": dt.IntegerRange(0.5, 2)}}, [("DT732", "ranges['lr']")]),
        ({"ranges": {"lr": dt.CategoricalRange([1, float("nan")])}}, [("DT732", "ranges['lr']")]),
        ({"target": float("nan")}, [("DT723", "target")]),
        ({"max_trials": float("inf")}, [("DT723", "max_trials")]),
        ({"ranges": {"lr": dt.ContinuousRange(1, 1)}}, [("DT732", "ranges['lr']")]),
        ({"ranges": {}}, [("DT723", "ranges")]),
        ({"max_trials": 0}, [("DT723", "max_trials")]),
        ({"max_parallel_trials": 5}, [("DT723", "max_parallel_trials")]),
        ({"max_runtime": cdk.Duration.minutes(1)}, [("DT723", "max_runtime")]),
        ({"random_seed": -1}, [("DT723", "random_seed")]),
    ],
)
def test_tuning_jobs(stack, options, found):
    assert rules(lambda: tuned(stack, **options)) == found


def test_an_environment_without_room(stack):
    algorithm = {**REQUEST["AlgorithmSpecification"], "ContainerArguments": ["x" * 509]}
    request = {**REQUEST, "AlgorithmSpecification": algorithm, "Environment": {f"N{n}": "" for n in range(47)}}
    found = rules(lambda: tuned(stack, request))
    assert len(found) == 2
    assert all(prop.startswith("environment") for _, prop in found)


def test_an_environment_that_just_fits(stack):
    request = {**REQUEST, "Environment": {f"N{n}": "" for n in range(47)}}
    tuned(stack, request)


def test_members_that_an_engine_cannot_express(stack):
    request = {**REQUEST, "ProfilerConfig": {}, "ExperimentConfig": {}}
    with pytest.raises(dt.ConfigurationError, match=r"ProfilerConfig in the request of a job for a tuning job"):
        tuned(stack, request)
    with pytest.raises(dt.ConfigurationError, match=r"ExperimentConfig in the request of a job for a pipeline"):
        pipeline(stack, request)


def test_a_launcher_that_comes_by_a_channel(stack, tmp_path):
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    job = dt.DistributedTrainingJob(
        stack,
        "Job",
        source=dt.SourceCode.from_directory(str(tmp_path), entry_script="train.py"),
        instances=dt.Instances("ml.c7i.xlarge", count=2),
        network=network(stack),
        metric_definitions=[dt.MetricDefinition(name="loss", regex="loss=(.*)")],
    )
    assert rules(
        lambda: dt.TunedTrainingJob(
            stack,
            "Tuning",
            job=job,
            objective=dt.TuningObjective("loss"),
            ranges={"lr": dt.ContinuousRange(0, 1)},
            max_trials=2,
        )
    ) == [("DT731", "job.image")]


@pytest.mark.parametrize("name", ["momentum", "a.b", "InstanceCount"])
def test_hyperparameters_that_are_no_parameters(stack, name):
    assert rules(lambda: pipeline(stack, parameters=[name])) == [("DT734", "parameters")]


def test_a_schedule_sets_what_the_pipeline_has(stack):
    made = pipeline(stack, parameters=["lr"])
    every_day = scheduler.ScheduleExpression.rate(cdk.Duration.days(1))
    assert rules(
        lambda: dt.TrainingSchedule(stack, "Daily", job=made, schedule=every_day, hyperparameters={"epochs": 3})
    ) == [("DT734", "parameters")]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"instance_count": 0}, [("DT723", "instance_count")]),
        ({"instance_count": 1.5}, [("DT723", "instance_count")]),
        ({"hyperparameters": {"x" * 257: 1}}, [("DT302", "hyperparameters")]),
        ({"hyperparameters": {"lr": "x" * 2501}}, [("DT303", "hyperparameters['lr']")]),
        ({"hyperparameters": {"lr": float("nan")}}, [("DT304", "hyperparameters['lr']")]),
    ],
)
def test_a_schedule_starts_runs_that_can_be(stack, options, found):
    every_day = scheduler.ScheduleExpression.rate(cdk.Duration.days(1))
    assert rules(lambda: dt.TrainingSchedule(stack, "Daily", job=queued(stack), schedule=every_day, **options)) == found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": float("nan")}, "target: got nan; allowed: finite numbers; take"),
        ({"max_trials": 2**31}, "max_trials: got 2147483648; allowed: whole numbers from 1 to 2147483647; take"),
    ],
)
def test_the_words_for_a_range(stack, options, words):
    with pytest.raises(dt.ConfigurationError, match=words):
        tuned(stack, **options)


def test_the_words_for_a_range_without_an_upper_bound(stack):
    every_day = scheduler.ScheduleExpression.rate(cdk.Duration.days(1))
    with pytest.raises(dt.ConfigurationError, match="instance_count: got 0; allowed: whole numbers from 1; take"):
        dt.TrainingSchedule(stack, "Daily", job=queued(stack), schedule=every_day, instance_count=0)


def test_retries_of_a_step(stack):
    retry = dt.StepRetry(errors=["SageMaker.CAPACITY"], max_attempts=0, backoff_rate=0.5)  # type: ignore[list-item]
    assert rules(lambda: pipeline(stack, retries=[retry])) == [
        ("DT901", "retries.errors"),
        ("DT723", "retries.max_attempts"),
        ("DT723", "retries.backoff_rate"),
    ]


def test_tokens_are_never_judged(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    stack = cdk.Stack(app, "Tokens")

    def number(name):
        return cdk.CfnParameter(stack, name, type="Number").value_as_number

    def word(name):
        return cdk.CfnParameter(stack, name).value_as_string

    request = {**REQUEST, "ResourceConfig": {"InstanceType": word("Type"), "InstanceCount": number("Count")}}
    job = Job(stack, request, job_name=word("Name"))
    queue = dt.TrainingQueue(
        stack,
        "Queue",
        max_instances=number("Most"),
        priority=number("QueuePriority"),
        shares=[dt.FairShare(name=word("Share"), weight=number("Weight"))],
        compute_reservation=number("Reserved"),
    )
    run = dt.QueuedTrainingJob(
        stack, "Queued", job=job, queue=queue, share="any", priority=number("Priority"), attempts=number("Attempts")
    )
    dt.TunedTrainingJob(
        stack,
        "Tuning",
        job=job,
        objective=dt.TuningObjective("loss"),
        ranges={
            "lr": dt.ContinuousRange(number("Low"), number("High"), scaling="Logarithmic"),
            "size": dt.CategoricalRange([number("Size"), 8]),
        },
        target=number("Target"),
        strategy=word("Strategy"),
        max_trials=number("Trials"),
        max_parallel_trials=number("Parallel"),
    )
    dt.TrainingPipeline(stack, "Pipeline", job=job, pipeline_name=word("PipelineName"))
    bucket = s3.Bucket(stack, "Bucket")
    dt.TrainingOnNewData(
        stack,
        "OnNewData",
        job=run,
        bucket=bucket,
        prefix=word("Prefix"),
        instance_count=number("Machines"),
        hyperparameters={"rate": number("Rate"), "layers": [number("Layer"), word("Word")]},
    )
    template = app.synth().get_stack_by_name("Tokens").template
    states = resource(template, "AWS::StepFunctions::StateMachine", "QueuedJob")[1]["Properties"]["DefinitionString"]
    # a number stays one where it reaches the API
    (before,) = [part for part in states["Fn::Join"][1] if isinstance(part, str) and '"Attempts":' in part]
    assert before.endswith('"Attempts":')
    tuning = json.dumps(resource(template, "AWS::StepFunctions::StateMachine", "TuningJob")[1])
    assert tuning.count('{"Ref": "Size"}') == 1
    assert "-1.8881545" not in json.dumps(template)  # how CDK hides a number that is a token
    _, made = resource(template, "AWS::S3::Bucket", "Bucket")
    assert made["Properties"]["NotificationConfiguration"] == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}


def test_grants_and_a_queue_that_exists(tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    stack = cdk.Stack(app, "Grants")
    arn = "arn:aws:batch:us-east-1:111111111111:job-queue/theirs"
    queue = dt.TrainingQueue.from_job_queue_arn(arn, max_instances=4, uses_quota_shares=True)
    run = queued(stack, queue, share="vision")
    user = iam.Role(stack, "User", assumed_by=iam.AccountRootPrincipal())
    for engine in (run, tuned(stack), pipeline(stack)):
        for grant in ("start", "read", "stop"):
            getattr(engine.grants, grant)(user)
    assembly = app.synth()
    template = assembly.get_stack_by_name("Grants").template
    submit = definition(template, "QueuedJob")["States"]["Submit"]["Arguments"]
    assert (submit["JobQueue"], submit["QuotaShareName"]) == (arn, "vision")
    granted = resource(template, "AWS::IAM::Policy", "User")[1]["Properties"]["PolicyDocument"]["Statement"]
    actions = {action for statement in granted for action in _listed(statement["Action"])}
    assert actions == {
        "sagemaker:DescribePipeline",
        "sagemaker:DescribePipelineExecution",
        "sagemaker:ListPipelineExecutionSteps",
        "sagemaker:ListPipelineExecutions",
        "sagemaker:ListPipelineParametersForExecution",
        "sagemaker:StartPipelineExecution",
        "sagemaker:StopPipelineExecution",
        "states:DescribeExecution",
        "states:DescribeStateMachine",
        "states:GetExecutionHistory",
        "states:ListExecutions",
        "states:StartExecution",
        "states:StopExecution",
    }
    assert all("*" not in _listed(plausible(statement["Resource"], template)) for statement in granted)


def _listed(value):
    return value if isinstance(value, list) else [value]
