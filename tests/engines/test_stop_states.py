"""The state machine that stops a job, run with scripted answers in place of SageMaker."""

from tests.engines.state_runner import EXECUTION, run_states

from cdk_distributed_training.engines.stop_states import stop_definition

GIVEN = {"execution_arn": EXECUTION["Id"], "execution_name": EXECUTION["Name"]}
OURS = {"TrainingJobStatus": "InProgress", "Environment": {"TRAINING_EXECUTION_ARN": EXECUTION["Id"]}}
OTHERS = {"TrainingJobStatus": "InProgress", "Environment": {"TRAINING_EXECUTION_ARN": EXECUTION["Id"] + "0"}}
ENDED = {**OURS, "TrainingJobStatus": "Failed"}
REFUSED = {"error": "SageMaker.SageMakerException", "cause": "AccessDeniedException"}


def listed(*names, token=None):
    page = {"TrainingJobSummaries": [{"TrainingJobName": name} for name in names]}
    return {"result": page if token is None else {**page, "NextToken": token}}


def run(*, listing, describe=(), stop=({"result": {}},)):
    return run_states(
        stop_definition(partition="aws", job_name="digits"),
        answers={
            "listTrainingJobs": list(listing),
            "describeTrainingJob": list(describe),
            "stopTrainingJob": list(stop),
        },
        given=GIVEN,
    )


def calls(outcome, api):
    return [arguments for called, arguments in outcome["calls"] if called == api]


def test_our_job_is_stopped():
    outcome = run(listing=[listed("digits-my-run-1-aaaa"), listed()], describe=[{"result": OURS}])
    assert outcome["status"] == "SUCCEEDED"
    assert calls(outcome, "stopTrainingJob") == [{"TrainingJobName": "digits-my-run-1-aaaa"}]
    assert (
        calls(outcome, "listTrainingJobs")
        == [{"NameContains": "digits-my-run-1", "StatusEquals": "InProgress", "MaxResults": 100}] * 2
    )


def test_a_job_that_is_listed_late_is_stopped():
    outcome = run(listing=[listed(), listed("digits-my-run-1-aaaa")], describe=[{"result": OURS}])
    assert len(calls(outcome, "stopTrainingJob")) == 1
    assert outcome["waited"] >= 60


def test_jobs_of_other_executions_are_left_alone():
    outcome = run(
        listing=[listed("digits-my-run-1-aaaa", "digits-my-run-10-bbbb"), listed()],
        describe=[{"result": OTHERS}, {"result": {"TrainingJobStatus": "InProgress"}}],
    )
    assert outcome["status"] == "SUCCEEDED"
    assert calls(outcome, "stopTrainingJob") == []


def test_all_pages_are_searched():
    outcome = run(
        listing=[listed("digits-my-run-1-aaaa", token="next"), listed("digits-my-run-1-bbbb"), listed()],
        describe=[{"result": OTHERS}, {"result": OURS}],
    )
    assert calls(outcome, "listTrainingJobs")[1]["NextToken"] == "next"
    assert "NextToken" not in calls(outcome, "listTrainingJobs")[2]
    assert calls(outcome, "stopTrainingJob") == [{"TrainingJobName": "digits-my-run-1-bbbb"}]


def test_nothing_to_stop():
    outcome = run(listing=[listed()])
    assert outcome["status"] == "SUCCEEDED"
    assert calls(outcome, "describeTrainingJob") == []


def test_a_job_that_ends_meanwhile_is_no_failure():
    outcome = run(
        listing=[listed("digits-my-run-1-aaaa"), listed()],
        describe=[{"result": OURS}, {"result": ENDED}],
        stop=[REFUSED],
    )
    assert outcome["status"] == "SUCCEEDED"


def test_a_job_that_cannot_be_stopped_is_a_failure():
    outcome = run(listing=[listed("digits-my-run-1-aaaa")], describe=[{"result": OURS}], stop=[REFUSED])
    assert outcome["error"] == "TrainingJobNotStopped"
    assert outcome["cause"] == "SageMaker.SageMakerException: AccessDeniedException"


TAG = {"Key": "distributed-training:execution", "Value": EXECUTION["Id"]}
RUNNING = {"TrainingJobStatus": "InProgress", "TrainingJobArn": "arn:job"}


def run_by_tag(*, tags, describe=RUNNING, execution=EXECUTION["Id"]):
    return run_states(
        stop_definition(partition="aws", job_name="tune", by_tag=True),
        answers={
            "listTrainingJobs": [listed("tune-my-run-1-aaaa"), listed()],
            "describeTrainingJob": [{"result": describe}],
            "listTags": [{"result": {"Tags": tags}}],
            "stopTrainingJob": [{"result": {}}],
        },
        given={**GIVEN, "execution_arn": execution},
    )


def test_a_job_that_carries_the_execution_as_a_tag_is_stopped():
    outcome = run_by_tag(tags=[{"Key": "team", "Value": "speech"}, TAG])
    assert calls(outcome, "listTags") == [{"ResourceArn": "arn:job", "MaxResults": 100}]
    assert calls(outcome, "stopTrainingJob") == [{"TrainingJobName": "tune-my-run-1-aaaa"}]


def test_characters_that_a_tag_cannot_hold_are_replaced_on_both_sides():
    outcome = run_by_tag(tags=[{**TAG, "Value": f"{EXECUTION['Id']}__x_"}], execution=f"{EXECUTION['Id']}(!x)")
    assert len(calls(outcome, "stopTrainingJob")) == 1


def test_jobs_without_the_tag_or_at_their_end_are_left_alone():
    for tags in ([], [{**TAG, "Value": f"{TAG['Value']}0"}], [{**TAG, "Key": "other"}]):
        assert calls(run_by_tag(tags=tags), "stopTrainingJob") == []
    assert calls(run_by_tag(tags=[TAG], describe={**RUNNING, "TrainingJobStatus": "Failed"}), "stopTrainingJob") == []
