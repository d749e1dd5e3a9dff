"""Runs that new data in a file system's data repository starts."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from tests.engines.engine_stack import network, plausible, resource, source

import cdk_distributed_training as dt


def corpus(stack):
    return dt.LustreFileSystem(stack, "Corpus", network=network(stack), storage_capacity=cdk.Size.gibibytes(1200))


def job(stack, folder, files):
    return dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source(folder),
        instances=dt.Instances("ml.p4d.24xlarge", count=2),
        channels=[files.channel("train", directory_path="/corpus")],
    )


def started(folder, **options):
    app = cdk.App()
    stack = cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))
    files = corpus(stack)
    bucket = s3.Bucket(stack, "Bucket")
    link = files.add_data_repository(bucket, prefix=options.pop("linked"), file_system_path="/corpus")
    one = job(stack, folder, files)
    dt.TrainingOnNewData(stack, "OnNewData", job=one, repository=link, **options)
    return app.synth().get_stack_by_name("Training").template


@pytest.mark.parametrize(
    ("linked", "given", "key"),
    [
        ("corpus", {}, {"prefix": "corpus/"}),
        ("corpus/", {"prefix": "new/"}, {"prefix": "corpus/new/"}),
        ("corpus/", {"suffix": "_SUCCESS"}, {"wildcard": "corpus/*_SUCCESS"}),
        ("", {"suffix": "_SUCCESS"}, {"suffix": "_SUCCESS"}),
    ],
)
def test_its_bucket_and_prefix_are_watched(tmp_path, linked, given, key):
    template = started(tmp_path / "code", linked=linked, **given)
    _, rule = resource(template, "AWS::Events::Rule", "OnNewDataRule")
    detail = plausible(rule["Properties"]["EventPattern"]["detail"], template)
    assert detail["object"] == {"key": [key]}
    (name,) = detail["bucket"]["name"]
    assert name.endswith(next(name for name in template["Resources"] if name.startswith("Bucket")))
    _, bucket = resource(template, "AWS::S3::Bucket", "Bucket")
    notified = bucket["Properties"]["NotificationConfiguration"]
    assert notified == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    _, guard = resource(template, "AWS::StepFunctions::StateMachine", "OnNewDataGuardMachine")
    assert guard


def test_a_whole_bucket_is_watched(tmp_path):
    template = started(tmp_path / "code", linked="")
    _, rule = resource(template, "AWS::Events::Rule", "OnNewDataRule")
    assert "object" not in rule["Properties"]["EventPattern"]["detail"]


def test_a_repository_that_imports_nothing_new(tmp_path):
    stack = cdk.Stack(cdk.App(), "Training")
    files = corpus(stack)
    changed = [dt.DataRepositoryEvent.CHANGED]
    link = files.add_data_repository(s3.Bucket(stack, "Bucket"), file_system_path="/corpus", auto_import=changed)
    one = job(stack, tmp_path / "code", files)
    with pytest.raises(dt.ConfigurationError, match=r"imports no new objects.*DT737"):
        dt.TrainingOnNewData(stack, "OnNewData", job=one, repository=link)


@pytest.mark.parametrize(("both", "got"), [(True, "both"), (False, "neither")])
def test_one_place_is_watched(tmp_path, both, got):
    stack = cdk.Stack(cdk.App(), "Training")
    files = corpus(stack)
    bucket = s3.Bucket(stack, "Bucket")
    places = {"bucket": bucket, "repository": files.add_data_repository(bucket, file_system_path="/corpus")}
    one = job(stack, tmp_path / "code", files)
    with pytest.raises(dt.ConfigurationError, match=rf"got {got}.*DT736"):
        dt.TrainingOnNewData(stack, "OnNewData", job=one, **(places if both else {}))
