"""A job among other people's constructs: permissions, metrics, events, imports, aspects, mixins, injectors."""

import inspect
import json
import re
import typing

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import assertions
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn

import cdk_distributed_training as dt

MACHINE = "arn:aws:states:us-east-1:111111111111:stateMachine:pretrain"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.py").touch()
    return dt.SourceCode.from_directory(folder, entry_script="train.py")


@pytest.fixture
def stack(tmp_path):
    return make_stack(tmp_path)


def make_stack(folder, **props):
    app = cdk.App(analytics_reporting=False, outdir=str(folder))
    return cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"), **props)


def make(scope, source, id="Job", **props):
    return dt.DistributedTrainingJob(scope, id, source=source, instances=dt.Instances("ml.c7i.xlarge"), **props)


class TestImportedJob:
    @pytest.fixture
    def job(self, stack):
        return dt.DistributedTrainingJob.from_state_machine_arn(stack, "Job", MACHINE, job_name="pretrain")

    def test_attributes(self, job):
        assert job.state_machine.state_machine_arn == MACHINE
        assert job.job_name == "pretrain"

    def test_grants(self, job, stack):
        people = iam.ManagedPolicy(stack, "People")
        for grant in (job.grants.start, job.grants.stop, job.grants.read, job.grants.read_logs):
            assert grant(people).success
        policy = json.dumps(stack.resolve(people.document))
        assert '"states:StartExecution"' in policy
        assert "execution:pretrain:*" in policy
        assert "log-stream:pretrain-*" in policy
        assert "training-job/pretrain-*" in policy

    def test_events_and_metrics(self, job, stack):
        job.on_failed("Failed")
        assertions.Template.from_stack(stack).has_resource_properties(
            "AWS::Events::Rule",
            {
                "EventPattern": {
                    "detail": {"TrainingJobName": [{"prefix": "pretrain-"}], "TrainingJobStatus": ["Failed"]}
                }
            },
        )
        metric = job.metric_executions_failed()
        assert (metric.namespace, metric.metric_name) == ("AWS/States", "ExecutionsFailed")
        assert metric.dimensions == {"StateMachineArn": MACHINE}

    def test_arn_as_a_token(self, stack):
        arn = cdk.CfnParameter(stack, "Arn").value_as_string
        job = dt.DistributedTrainingJob.from_state_machine_arn(stack, "Job", arn, job_name="pretrain")
        people = iam.ManagedPolicy(stack, "People")
        job.grants.stop(people)
        assert "Fn::Split" in json.dumps(stack.resolve(people.document))


def test_logs_of_the_jobs_runs_and_of_no_others(stack, source):
    job = make(stack, source, job_name="pretrain")
    people = iam.ManagedPolicy(stack, "People")
    job.grants.read_logs(people)
    group = ["arn:", {"Ref": "AWS::Partition"}, ":logs:us-east-1:111111111111:log-group:/aws/sagemaker/TrainingJobs"]

    def arn(*parts, end):
        return {"Fn::Join": ["", [*parts[:-1], parts[-1] + end]]}

    jobs = ("arn:", {"Ref": "AWS::Partition"}, ":sagemaker:us-east-1:111111111111:training-job/pretrain-*")
    assert stack.resolve(people.document)["Statement"] == [
        {"Action": "logs:DescribeLogStreams", "Effect": "Allow", "Resource": arn(*group, end=":*")},
        {"Action": "logs:GetLogEvents", "Effect": "Allow", "Resource": arn(*group, end=":log-stream:pretrain-*")},
        {"Action": "sagemaker:DescribeTrainingJob", "Effect": "Allow", "Resource": arn(*jobs, end="")},
    ]


METRICS = {
    "metric_executions_started": ("AWS/States", "ExecutionsStarted", "Sum"),
    "metric_executions_succeeded": ("AWS/States", "ExecutionsSucceeded", "Sum"),
    "metric_executions_failed": ("AWS/States", "ExecutionsFailed", "Sum"),
    "metric_executions_aborted": ("AWS/States", "ExecutionsAborted", "Sum"),
    "metric_execution_time": ("AWS/States", "ExecutionTime", "Average"),
    "metric_cpu_utilization": ("/aws/sagemaker/TrainingJobs", "CPUUtilization", "Average"),
    "metric_memory_utilization": ("/aws/sagemaker/TrainingJobs", "MemoryUtilization", "Average"),
    "metric_gpu_utilization": ("/aws/sagemaker/TrainingJobs", "GPUUtilization", "Average"),
    "metric_gpu_memory_utilization": ("/aws/sagemaker/TrainingJobs", "GPUMemoryUtilization", "Average"),
    "metric_disk_utilization": ("/aws/sagemaker/TrainingJobs", "DiskUtilization", "Average"),
}


def test_metrics_have_the_services_names(stack, source):
    job = make(stack, source)
    for method, (namespace, name, statistic) in METRICS.items():
        arguments = ("job-1-0123abcd",) if namespace.startswith("/") else ()
        metric = getattr(job, method)(*arguments)
        assert (metric.namespace, metric.metric_name, metric.statistic) == (namespace, name, statistic)
        if arguments:
            assert metric.dimensions == {"Host": "job-1-0123abcd/algo-1"}
    assert job.metric_gpu_utilization("run", host="algo-3").dimensions == {"Host": "run/algo-3"}
    loss = job.metric_of_training("loss", "run", statistic="Minimum")
    assert (loss.metric_name, loss.dimensions, loss.statistic) == ("loss", {"TrainingJobName": "run"}, "Minimum")


@pytest.mark.parametrize(
    ("method", "status"), [("on_completed", "Completed"), ("on_failed", "Failed"), ("on_stopped", "Stopped")]
)
def test_events_with_a_target(method, status, stack, source):
    queue = sqs.Queue(stack, "Queue")
    getattr(make(stack, source), method)("Rule", target=targets.SqsQueue(queue))
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::Events::Rule",
        {
            "EventPattern": {"detail": {"TrainingJobStatus": [status]}},
            "Targets": [assertions.Match.object_like({"Arn": stack.resolve(queue.queue_arn)})],
        },
    )


@jsii.implements(cdk.IAspect)
class _Retain:
    seen: typing.ClassVar[list] = []

    def visit(self, node):
        self.seen.append(type(node).__name__)
        if isinstance(node, s3.CfnBucket):
            node.apply_removal_policy(cdk.RemovalPolicy.DESTROY)


def test_aspects(stack, source):
    make(stack, source)
    cdk.Aspects.of(stack).add(_Retain())
    template = assertions.Template.from_stack(stack)
    template.has_resource("AWS::S3::Bucket", {"DeletionPolicy": "Delete"})
    assert "DistributedTrainingJob" in _Retain.seen


class _Frozen(cdk.Mixin):
    def supports(self, construct):
        return isinstance(construct, dt.DistributedTrainingJob)

    def apply_to(self, construct):
        cdk.Tags.of(construct).add("frozen", "yes")


def test_mixins(stack, source):
    job = make(stack, source).with_(_Frozen())
    assert isinstance(job, dt.DistributedTrainingJob)
    definitions = assertions.Template.from_stack(stack).find_resources("AWS::StepFunctions::StateMachine")
    assert "frozen" in json.dumps(definitions), "the runs' training jobs have the tag too"


@jsii.implements(cdk.IPropertyInjector)
class _Named:
    @property
    def construct_unique_id(self):
        return s3.Bucket.PROPERTY_INJECTION_ID

    def inject(self, original_props, *, id, scope):
        return {**original_props, "bucketName": "models-of-the-company"}


def test_property_injectors(source, tmp_path):
    stack = make_stack(tmp_path, property_injectors=[_Named()])
    make(stack, source)
    assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::S3::Bucket", {"BucketName": "models-of-the-company"}
    )


@pytest.mark.parametrize("job_first", [True, False])
@pytest.mark.parametrize("regions", [("us-east-1", "us-east-1"), ("us-east-1", "eu-west-1")])
def test_what_uses_a_job_may_live_in_another_stack(regions, job_first, source, tmp_path):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path))
    pairs = list(zip(("Training", "People"), regions, strict=True))
    stacks = {
        name: cdk.Stack(
            app, name, env=cdk.Environment(account="111111111111", region=region), cross_region_references=True
        )
        for name, region in (pairs if job_first else reversed(pairs))
    }
    job = make(stacks["Training"], source)
    people = iam.Role(stacks["People"], "People", assumed_by=iam.AccountRootPrincipal())
    job.grants.start(people)
    job.grants.stop(people)
    job.output_bucket.grant_read(people)
    app.synth()
    assert stacks["Training"] in stacks["People"].dependencies
    assert stacks["People"] not in stacks["Training"].dependencies


def test_jobs_share_a_network_and_its_groups(stack, source):
    network = dt.TrainingNetwork(stack, "Network")
    corpus = dt.LustreFileSystem(stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(1200))
    for number in range(3):
        make(stack, source, f"Job{number}", channels=[corpus.channel("train")])
    groups = assertions.Template.from_stack(stack).find_resources("AWS::EC2::SecurityGroup").values()
    # nodes, file system, endpoints: none for a job
    assert len(groups) == 3


def test_removal_policies_are_said_from_outside(stack, source):
    job = make(stack, source)
    cdk.RemovalPolicies.of(job).destroy()
    assertions.Template.from_stack(stack).has_resource("AWS::S3::Bucket", {"DeletionPolicy": "Delete"})


def test_the_state_machine_is_of_cdk(stack, source):
    assert isinstance(make(stack, source).state_machine, sfn.StateMachine)


# what the library's own constructs ask these values for
RENDERED = {"FairShare.render", "LustreMetadata.render", "LustreReadCache.render"}


def _members():
    for name in dt.__all__:
        value = getattr(dt, name)
        if not inspect.isclass(value):
            continue
        yield f"{name}.__init__", value.__init__
        for base in value.__mro__:
            if not base.__module__.startswith("cdk_distributed_training"):
                continue
            for attribute, member in vars(base).items():
                if attribute.startswith("_"):
                    continue
                function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
                if inspect.isfunction(function):
                    yield f"{name}.{attribute}", function


def test_no_public_signature_has_types_of_cloudformations_own():
    bad = {}
    walked = 0
    for name, function in _members():
        walked += 1
        if name in RENDERED:
            continue
        annotations = " ".join(str(value) for value in getattr(function, "__annotations__", {}).values())
        if re.search(r"\bCfn[A-Z]", annotations):
            bad[name] = annotations
    assert walked > 200
    assert bad == {}
