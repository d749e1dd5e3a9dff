"""Directories of a file system that are linked to S3."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Match, Template

import cdk_distributed_training as dt

Kind = dt.LustreDeploymentType
Event = dt.DataRepositoryEvent


def new_file_system(**props) -> tuple[cdk.Stack, dt.LustreFileSystem]:
    stack = cdk.Stack(cdk.App(), "S")
    network = dt.TrainingNetwork(stack, "Network", interface_endpoints=[], flow_log=False)
    return stack, dt.LustreFileSystem(
        stack, "Corpus", network=network, storage_capacity=cdk.Size.gibibytes(2400), **props
    )


def bucket_in(stack) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, "Bucket", "books")


def rules_of(error: pytest.ExceptionInfo) -> list[str]:
    return [finding.rule for finding in error.value.findings]


def test_by_default_the_bucket_is_read_and_never_written():
    stack, corpus = new_file_system()
    corpus.add_data_repository(bucket_in(stack), prefix="corpus", file_system_path="/corpus")
    Template.from_stack(stack).has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation",
        {
            "FileSystemId": stack.resolve(corpus.file_system_id),
            "FileSystemPath": "/corpus",
            "DataRepositoryPath": "s3://books/corpus/",
            "BatchImportMetaDataOnCreate": True,
            "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}, "AutoExportPolicy": Match.absent()},
        },
    )


def test_everything_said():
    stack, corpus = new_file_system()
    corpus.add_data_repository(
        bucket_in(stack),
        file_system_path="/",
        auto_import=[],
        auto_export=[Event.NEW],
        batch_import=False,
        imported_file_chunk_size=cdk.Size.gibibytes(2),
    )
    (found,) = Template.from_stack(stack).find_resources("AWS::FSx::DataRepositoryAssociation").values()
    assert found["Properties"]["DataRepositoryPath"] == "s3://books/"
    assert found["Properties"]["ImportedFileChunkSize"] == 2048
    assert found["Properties"]["BatchImportMetaDataOnCreate"] is False
    assert found["Properties"]["S3"] == {"AutoExportPolicy": {"Events": ["NEW"]}}


def test_the_buckets_policy_comes_first():
    stack, corpus = new_file_system()
    corpus.add_data_repository(s3.Bucket(stack, "Bucket", enforce_ssl=True), file_system_path="/corpus")
    template = Template.from_stack(stack)
    (policy,) = template.find_resources("AWS::S3::BucketPolicy")
    (found,) = template.find_resources("AWS::FSx::DataRepositoryAssociation").values()
    assert found["DependsOn"] == [policy]


def test_several_side_by_side_and_their_order_changes_no_id():
    def ids(paths):
        stack, corpus = new_file_system()
        bucket = bucket_in(stack)
        for path in paths:
            corpus.add_data_repository(bucket, prefix=path.strip("/"), file_system_path=path)
        return set(Template.from_stack(stack).find_resources("AWS::FSx::DataRepositoryAssociation"))

    assert len(ids(["/a", "/b"])) == 2
    assert ids(["/a", "/b"]) == ids(["/b", "/a"])


def test_tokens():
    stack, corpus = new_file_system()
    path = cdk.CfnParameter(stack, "Path").value_as_string
    for prefix in ("a", "b"):
        corpus.add_data_repository(bucket_in(stack) if prefix == "a" else s3.Bucket(stack, "B"), file_system_path=path)
    Template.from_stack(stack).resource_count_is("AWS::FSx::DataRepositoryAssociation", 2)


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        ({"file_system_path": "corpus"}, ["DT212"]),
        ({"file_system_path": "/a/../b"}, ["DT212"]),
        ({"file_system_path": "/x", "prefix": "/corpus"}, ["DT213"]),
        ({"file_system_path": "/x", "prefix": "s3://books/corpus"}, ["DT213"]),
        ({"file_system_path": "/linked/below", "prefix": "y"}, ["DT214"]),
        ({"file_system_path": "/", "prefix": "y"}, ["DT214"]),
        ({"file_system_path": "/x", "prefix": "linked"}, ["DT215"]),
        ({"file_system_path": "/x", "imported_file_chunk_size": cdk.Size.mebibytes(0)}, ["DT216"]),
        ({"file_system_path": "x", "prefix": "/"}, ["DT213", "DT212"]),
    ],
)
def test_links_that_cannot_work(given, rules):
    stack, corpus = new_file_system()
    bucket = bucket_in(stack)
    corpus.add_data_repository(bucket, prefix="linked/", file_system_path="/linked")
    with pytest.raises(dt.ConfigurationError) as caught:
        corpus.add_data_repository(bucket, **given)
    assert rules_of(caught) == rules


@pytest.mark.parametrize(
    ("props", "rules"),
    [
        ({"deployment_type": Kind.SCRATCH_1}, ["DT210"]),
        ({"deployment_type": Kind.SCRATCH_2, "file_system_type_version": "2.10"}, ["DT210"]),
        ({"automatic_backup_retention": cdk.Duration.days(1)}, ["DT209"]),
    ],
)
def test_file_systems_that_cannot_be_linked(props, rules):
    stack, corpus = new_file_system(**props)
    with pytest.raises(dt.ConfigurationError) as caught:
        corpus.add_data_repository(bucket_in(stack), file_system_path="/corpus")
    assert rules_of(caught) == rules


def test_at_most_eight():
    stack, corpus = new_file_system()
    bucket = bucket_in(stack)
    for number in range(8):
        corpus.add_data_repository(bucket, prefix=f"p{number}", file_system_path=f"/p{number}")
    with pytest.raises(dt.ConfigurationError, match="DT211"):
        corpus.add_data_repository(bucket, prefix="p8", file_system_path="/p8")
