"""Another engine is one other line: what follows it stays as it is, and so does the job."""

import difflib
import itertools
import json
import re

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sns as sns
from aws_cdk.aws_events_targets import SnsTopic
from tests.engines import engine_stack, multi_node_stack
from tests.engines.engine_stack import plausible

import cdk_distributed_training as dt

ENGINES = {
    "state machine": "run = job",
    "queue": 'run = dt.QueuedTrainingJob(stack, "Run", job=job, '
    'queue=dt.TrainingQueue(stack, "Queue", max_instances=8))',
    "pipeline": 'run = dt.TrainingPipeline(stack, "Run", job=job)',
    "tuning": 'run = dt.TunedTrainingJob(stack, "Run", job=job, objective=dt.TuningObjective("loss"), '
    'ranges={"lr": dt.ContinuousRange(0.1, 1)}, max_trials=4)',
}
# a tuning job needs the launcher inside the image, and machines of one's own need it beside: two jobs, one program
ENGINES_OF_ANY_IMAGE = {
    **{engine: line for engine, line in ENGINES.items() if engine != "tuning"},
    "machines of one's own": 'run = dt.MultiNodeParallelJob(stack, "Run", job=job, max_instances=8)',
}
PROGRAM = """
job = {job}(stack, folder)
{engine}
for grant in (run.grants.start, run.grants.read, run.grants.stop, run.grants.read_logs):
    grant(person)
run.on_completed("OnCompleted", target=SnsTopic(topic))
run.on_failed("OnFailed", target=SnsTopic(topic))
run.on_stopped("OnStopped")
run.on_state_change("OnChange", statuses=["InProgress"])
alarm = run.metric_executions_failed().create_alarm(stack, "Failing", threshold=1, evaluation_periods=1)
metrics = [run.metric_executions_started(), run.metric_executions_succeeded(), run.metric_executions_aborted(),
           run.metric_execution_time()]
dt.TrainingSchedule(stack, "Nightly", job=run, schedule=nightly, instance_count=4)
dt.TrainingOnNewData(stack, "OnNewData", job=run, bucket=data, prefix="books/")
"""


def run_program(text, folder):
    app = cdk.App()
    stack = cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))
    names = {
        "dt": dt,
        "engine_stack": engine_stack,
        "multi_node_stack": multi_node_stack,
        "SnsTopic": SnsTopic,
        "stack": stack,
        "folder": folder,
        "person": iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal()),
        "topic": sns.Topic(stack, "Topic"),
        "data": engine_stack.s3.Bucket.from_bucket_name(stack, "Data", "corpus"),
        "nightly": scheduler.ScheduleExpression.cron(hour="2", minute="0"),
    }
    exec(compile(text, "program.py", "exec"), names)
    return app.synth().get_stack_by_name("Training").template


def programs_of(job, engines, folder):
    texts = {engine: PROGRAM.format(job=job, engine=line) for engine, line in engines.items()}
    return {engine: (text, run_program(text, folder)) for engine, text in texts.items()}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return programs_of("engine_stack.job", ENGINES, tmp_path_factory.mktemp("switching") / "code")


@pytest.fixture(scope="module")
def programs_of_any_image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("switching") / "code"
    return programs_of("multi_node_stack.training_job", ENGINES_OF_ANY_IMAGE, folder)


def changed_lines(one, other):
    lines = difflib.ndiff(one[0].splitlines(), other[0].splitlines())
    return [line for line in lines if line.startswith(("- ", "+ "))]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(ENGINES, 2)))
def test_programs_differ_in_one_line(programs, one, other):
    assert changed_lines(programs[one], programs[other]) == [f"- {ENGINES[one]}", f"+ {ENGINES[other]}"]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(ENGINES_OF_ANY_IMAGE, 2)))
def test_programs_of_any_image_differ_in_one_line(programs_of_any_image, one, other):
    lines = [f"- {ENGINES_OF_ANY_IMAGE[one]}", f"+ {ENGINES_OF_ANY_IMAGE[other]}"]
    assert changed_lines(programs_of_any_image[one], programs_of_any_image[other]) == lines


def of_job(template):
    # a tuning job needs the job's role to trust it too, and who listens belongs to the engine
    return {
        name: given
        for name, given in template["Resources"].items()
        if name.startswith("Job") and given["Type"] not in ("AWS::IAM::Role", "AWS::Events::Rule")
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_the_job_stays_as_it_is(programs, engine):
    assert of_job(programs[engine][1]) == of_job(programs["state machine"][1])


@pytest.mark.parametrize("engine", ENGINES_OF_ANY_IMAGE)
def test_a_job_of_any_image_stays_as_it_is(programs_of_any_image, engine):
    stays = of_job(programs_of_any_image["state machine"][1])
    assert stays
    assert of_job(programs_of_any_image[engine][1]) == stays


def test_runs_on_machines_of_ones_own_are_those_of_its_state_machine(programs_of_any_image):
    template = programs_of_any_image["machines of one's own"][1]
    (completed,) = rules(template, "OnCompleted")
    assert (completed["detail-type"], completed["detail"]["status"]) == ([EXECUTIONS[0]], ["SUCCEEDED"])
    (machine,) = completed["detail"]["stateMachineArn"]
    assert re.fullmatch(r"arn:aws:any:us-east-1:111111111111:RunJob[0-9A-Z]+", machine)
    statements = [
        one
        for name, given in template["Resources"].items()
        if given["Type"] == "AWS::IAM::Policy" and name.startswith("Person")
        for one in plausible(given["Properties"]["PolicyDocument"]["Statement"], template)
    ]
    (starting,) = [one for one in statements if one["Action"] == "states:StartExecution"]
    assert starting["Resource"] == machine
    (reading,) = [one for one in statements if "logs:GetLogEvents" in one["Action"]]
    assert "RunNodeLog" in reading["Resource"]  # the nodes' own log, not that of training jobs
    assert not [one for one in statements if "sagemaker:" in json.dumps(one["Action"])]


def rules(template, part):
    return [
        plausible(given["Properties"]["EventPattern"], template)
        for name, given in template["Resources"].items()
        if given["Type"] == "AWS::Events::Rule" and part in name
    ]


EXECUTIONS = ("Step Functions Execution Status Change", "status", ["SUCCEEDED", "FAILED", "TIMED_OUT"])


@pytest.mark.parametrize(
    ("engine", "told", "whose"),
    [
        (
            "state machine",
            ("SageMaker Training Job State Change", "TrainingJobStatus", ["Completed", "Failed"]),
            r"TrainingJobName=\[{'prefix': 'digits-'}\]",
        ),
        ("queue", EXECUTIONS, r"stateMachineArn=\['arn:aws:any:us-east-1:111111111111:RunJob[0-9A-Z]+'\]"),
        ("tuning", EXECUTIONS, r"stateMachineArn=\['arn:aws:any:us-east-1:111111111111:RunJob[0-9A-Z]+'\]"),
        (
            "pipeline",
            (
                "SageMaker Model Building Pipeline Execution Status Change",
                "currentPipelineExecutionStatus",
                ["Succeeded", "Failed"],
            ),
            r"pipelineArn=\['arn:\S+:sagemaker:us-east-1:111111111111:pipeline/training-run-\w+'\]",
        ),
    ],
)
def test_events_are_those_of_who_runs_the_engine(programs, engine, told, whose):
    kind, member, words = told
    template = programs[engine][1]
    (completed,), (failed,) = rules(template, "OnCompleted"), rules(template, "OnFailed")
    assert completed["detail-type"] == failed["detail-type"] == [kind]
    assert completed["detail"][member] + failed["detail"][member] == words
    ((name, value),) = [(name, value) for name, value in completed["detail"].items() if name != member]
    assert re.fullmatch(whose, f"{name}={value}")


@pytest.mark.parametrize(
    ("engine", "streams"),
    [("state machine", ["digits-*"]), ("queue", ["AWSBatch*", "awsbatch*"]), ("tuning", ["digits-*"]),
     ("pipeline", ["pipelines-*"])],
)  # fmt: skip
def test_logs_are_those_of_the_engines_training_jobs(programs, engine, streams):
    template = programs[engine][1]
    policies = [
        plausible(given["Properties"]["PolicyDocument"]["Statement"], template)
        for name, given in template["Resources"].items()
        if given["Type"] == "AWS::IAM::Policy" and name.startswith("Person")
    ]
    (reading,) = [one for policy in policies for one in policy if one["Action"] == "logs:GetLogEvents"]
    found = [reading["Resource"]] if isinstance(reading["Resource"], str) else reading["Resource"]
    assert [one.rpartition(":log-stream:")[2] for one in found] == streams
    (looking,) = [
        one for policy in policies for one in policy if "sagemaker:DescribeTrainingJob" in json.dumps(one["Action"])
    ]
    found = [looking["Resource"]] if isinstance(looking["Resource"], str) else looking["Resource"]
    assert [one.rpartition("/")[2] for one in found] == streams


def test_metrics_are_those_of_who_runs_the_engine(programs):
    def alarm(engine):
        (found,) = [
            given["Properties"]
            for given in programs[engine][1]["Resources"].values()
            if given["Type"] == "AWS::CloudWatch::Alarm"
        ]
        return found["Namespace"], found["MetricName"], [one["Name"] for one in found["Dimensions"]]

    for engine in ("state machine", "queue", "tuning"):
        assert alarm(engine) == ("AWS/States", "ExecutionsFailed", ["StateMachineArn"])
    assert alarm("pipeline") == ("AWS/Sagemaker/ModelBuildingPipeline", "ExecutionFailed", ["PipelineName"])


def test_a_status_that_is_never_told(tmp_path):
    stack = cdk.Stack(cdk.App(), "Training")
    job = engine_stack.job(stack, tmp_path / "code")
    queue = dt.TrainingQueue(stack, "Queue", max_instances=8)
    queued = dt.QueuedTrainingJob(stack, "Queued", job=job, queue=queue)
    with pytest.raises(dt.ConfigurationError, match=r"'Stopping'.*InProgress, Completed, Failed, Stopped;.*DT735"):
        queued.on_state_change("Told", statuses=["Stopping"])
    assert dt.TrainingPipeline(stack, "Pipeline", job=job).on_state_change("Told", statuses=["Stopping"])
