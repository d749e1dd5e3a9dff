"""What two runs leave on file systems, and checkpoints at a place of the user's choice."""

import boto3
import pytest
from tests.deploy.conftest import Chain

FILES = ("results/rank-0", "results/rank-1")


@pytest.fixture(scope="module")
def ended(deployed: Chain):
    deployed.clear_checkpoints()
    boto3.client("s3").put_object(Bucket=deployed.outputs["Bucket"], Key="results/old", Body=b"old")
    first = deployed.run("leaving", "leaves", steps=4, note="first")
    told = [deployed.read(key) for key in FILES]
    return first, told, deployed.run("leaving", "goes-on", steps=6, note="second")


def test_the_runs_go_well(ended):
    assert [(one.status, one.cause) for one in (ended[0], ended[2])] == [("SUCCEEDED", "")] * 2


def test_new_and_changed_files_are_exported_to_the_linked_prefix(chain: Chain, ended):
    assert ended[1] == [b"first", b"first"]
    assert [chain.read(key) for key in FILES] == [b"second", b"second"]


def test_deleted_files_are_deleted_there(chain: Chain, ended):
    listed = boto3.client("s3").list_objects_v2(Bucket=chain.outputs["Bucket"], Prefix="results/")
    assert [one["Key"] for one in listed["Contents"]] == list(FILES)


def test_what_is_linked_without_export_stays_where_it_is(chain: Chain, ended):
    listed = boto3.client("s3").list_objects_v2(Bucket=chain.outputs["Bucket"], Prefix="corpus/")
    assert [one["Key"] for one in listed["Contents"]] == ["corpus/deeper/part-1.txt", "corpus/part-0.txt"]


def test_an_elastic_file_system_is_mounted(chain: Chain, ended):
    home = chain.service.elastic_file_systems.folder(chain.outputs["ElasticFileSystem"])
    assert sorted(path.name for path in home.iterdir()) == ["rank-0", "rank-1"]
    assert chain.service.elastic_file_systems.lifecycle("fs-unknown") == ""


def test_checkpoints_are_at_the_place_that_was_chosen(chain: Chain, ended):
    (job,) = chain.jobs("leaving-goes-on-")
    assert job.request["CheckpointConfig"]["LocalPath"] == "/tmp/state"
    assert "resumed at step 4" in chain.log(job)
