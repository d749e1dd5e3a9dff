"""What an execution may say, and what it may not; several at once; who is told."""

import json

import boto3
import pytest
from botocore.exceptions import ClientError
from tests.deploy.conftest import Chain, eventually

from cdk_distributed_training.local.aws import executions


def test_hyperparameters_and_counts_can_be_overridden(chain: Chain):
    given = {"hyperparameters": {"steps": 2, "note": "x y"}, "instance_count": 3}
    ended = executions.wait(chain.start("main", "three", given))
    assert (ended.status, ended.cause) == ("SUCCEEDED", "")
    (job,) = chain.jobs("main-three-")
    assert job.request["HyperParameters"] == {"steps": "2", "note": "x y"}
    assert "rank 2 of 3 on algo-3, note 'x y'" in chain.log(job)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"instance_count": 0}, "instance_count must be a whole number >= 1, got 0"),
        ({"instance_count": "2"}, "instance_count must be a whole number >= 1, got string"),
        ({"Instance_Count": 2}, "unknown execution input: Instance_Count"),
        ({"hyperparameters": {"lr": [1]}}, "hyperparameters.lr must be a string, number or boolean, got array"),
        ({"hyperparameters": "lr"}, "hyperparameters must be an object, got string"),
        ([1], "execution input must be an object, got array"),
        ('"text"', "execution input must be an object, got string"),
    ],
)
def test_wrong_input_is_refused_before_anything_starts(chain: Chain, given, words):
    before = len(chain.service.jobs)
    ended = executions.wait(chain.start("main", f"wrong-{abs(hash(words))}", given))
    assert ended.status == "FAILED"
    assert words in ended.cause
    assert len(chain.service.jobs) == before


def test_input_that_is_no_json_starts_nothing(chain: Chain):
    before = len(chain.service.jobs)
    with pytest.raises(ClientError, match="StartExecution"):
        chain.start("main", "no-json", "{")
    assert len(chain.service.jobs) == before


def test_two_executions_at_once_do_not_touch(chain: Chain):
    runs = [chain.start("shared", f"twin-{n}", {"hyperparameters": {"steps": 30, "note": f"twin {n}"}}) for n in (1, 2)]
    assert [executions.wait(run).status for run in runs] == ["SUCCEEDED", "SUCCEEDED"]
    jobs = [*chain.jobs("shared-twin-1-"), *chain.jobs("shared-twin-2-")]
    assert len(jobs) == 2
    spans = [(job.description()["TrainingStartTime"], job.description()["TrainingEndTime"]) for job in jobs]
    assert max(start for start, _ in spans) < min(end for _, end in spans)
    for number, job in enumerate(jobs, start=1):
        log = chain.log(job)
        assert f"twin {number}" in log
        assert f"twin {3 - number}" not in log


def test_events_reach_a_topic_and_a_queue(chain: Chain):
    queue = boto3.resource("sqs").Queue(chain.outputs["QueueUrl"])
    drain(queue)
    chain.run("main", "told", steps=1)
    (job,) = chain.jobs("main-told-")
    events: list[dict] = []

    def complete():
        events.extend(drain(queue))
        return any(event["detail"]["TrainingJobStatus"] == "Completed" for event in events)

    eventually(complete)
    mine = [event for event in events if event["detail"]["TrainingJobName"] == job.name]
    assert {event["detail-type"] for event in mine} == {"SageMaker Training Job State Change"}
    assert {event["source"] for event in mine} == {"aws.sagemaker"}
    assert {event["detail"]["SecondaryStatus"] for event in mine} >= {"Starting", "Training", "Completed"}


def drain(queue):
    found = []
    while messages := queue.receive_messages(MaxNumberOfMessages=10):
        for message in messages:
            found.append(json.loads(message.body))
            message.delete()
    return found
