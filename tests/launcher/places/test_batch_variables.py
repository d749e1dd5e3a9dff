"""Where a node of AWS Batch stands, by its variables alone."""

import json

import pytest

from training_launcher.control.channel import job_token
from training_launcher.places.batch import batch_node
from training_launcher.places.interfaces import interface_of
from training_launcher.problems import Problem

CHILD = {
    "AWS_BATCH_JOB_ID": "0123-4567#2",
    "AWS_BATCH_JOB_NODE_INDEX": "2",
    "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
    "AWS_BATCH_JOB_NUM_NODES": "12",
    "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.0.7",
    "TRAINING_INSTANCE_TYPE": "ml.p5.48xlarge",
}


def test_a_child(tmp_path):
    node = batch_node(CHILD, str(tmp_path))
    assert node is not None
    config = node.resource_config()
    assert (config["current_host"], config["hosts"][0], len(config["hosts"])) == ("algo-3", "algo-1", 12)
    assert config["current_instance_type"] == "ml.p5.48xlarge"


def test_the_main_node_leads_whatever_its_index_is(tmp_path):
    hosts = {}
    for index in range(3):
        node = batch_node({**CHILD, "AWS_BATCH_JOB_NODE_INDEX": str(index), "AWS_BATCH_JOB_MAIN_NODE_INDEX": "1",
                           "AWS_BATCH_JOB_NUM_NODES": "3"}, str(tmp_path))  # fmt: skip
        assert node is not None
        hosts[index] = node.host
    assert hosts == {1: "algo-1", 2: "algo-2", 0: "algo-3"}


def test_others_are_no_nodes_of_batch(tmp_path):
    assert batch_node({}, str(tmp_path)) is None
    # SageMaker's own queues are Batch's too
    assert batch_node({"AWS_BATCH_JOB_ID": "0123"}, str(tmp_path)) is None
    assert batch_node({**CHILD, "TRAINING_HOSTS": '["a", "b"]'}, str(tmp_path)) is None


def test_the_file_wins(tmp_path):
    (tmp_path / "resourceconfig.json").write_text(json.dumps({"current_host": "algo-1", "hosts": ["algo-1"]}))
    assert batch_node(CHILD, str(tmp_path)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"AWS_BATCH_JOB_NODE_INDEX": "12"},
        {"AWS_BATCH_JOB_NODE_INDEX": "two"},
        {"AWS_BATCH_JOB_MAIN_NODE_INDEX": "12"},
        {"AWS_BATCH_JOB_NUM_NODES": ""},
        {"AWS_BATCH_JOB_NUM_NODES": "0"},
        {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": ""},
    ],
)
def test_variables_that_contradict_each_other(tmp_path, changes):
    with pytest.raises(Problem, match="AWS_BATCH_JOB_NODE_INDEX=") as caught:
        batch_node({**CHILD, **changes}, str(tmp_path))
    assert caught.value.exit_code == 2


def test_all_nodes_of_a_job_have_one_token_and_another_job_has_another():
    token = job_token(["algo-1"], {"AWS_BATCH_JOB_ID": "a#0"})
    assert token == job_token(["algo-1"], {"AWS_BATCH_JOB_ID": "a#11"})
    assert token != job_token(["algo-1"], {"AWS_BATCH_JOB_ID": "b#0"})


def test_interfaces():
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("192.0.2.1") == ""
    assert interface_of("") == ""
