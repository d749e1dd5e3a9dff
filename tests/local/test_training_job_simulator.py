"""A simulated job goes through SageMaker's states."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.local.conftest import PATH
from tests.local.handmade_app import request
from tests.local.processes import eventually, living

from cdk_distributed_training.local import training_job
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import Hosts
from cdk_distributed_training.local.job_observer import JobObserver
from cdk_distributed_training.local.statuses import Transition, training_job_status
from cdk_distributed_training.local.training_job import Outcome, SimulatedTrainingJob

CD = """cd "${SAGEMAKER_BASE_DIR:-/opt/ml}"
me=$(sed 's/.*current_host": "\\([^"]*\\).*/\\1/' input/config/resourceconfig.json)
"""


class Recorder(JobObserver):
    def __init__(self) -> None:
        self.states: list[str] = []
        self.lines: dict[str, bytes] = {}
        self.seen = threading.Event()  # both hosts have written something

    def on_status(self, transition: Transition) -> None:
        self.states.append(transition.status)

    def on_output(self, host: str, piece: bytes) -> None:
        self.lines[host] = self.lines.get(host, b"") + piece
        if len(self.lines) == 2:
            self.seen.set()


def job(hosts: Hosts, script: str, recorder: Recorder | None = None, **options: Any) -> SimulatedTrainingJob:
    members = options.pop("members", {})
    return SimulatedTrainingJob(
        request=request(["sh", "-c", CD + script], **members),
        hosts=hosts,
        channels={},
        environment=PATH,
        observer=recorder,
        **options,
    )


def run_and_stop(one: SimulatedTrainingJob, recorder: Recorder) -> Outcome:
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(one.run()))
    thread.start()
    assert recorder.seen.wait(30)
    one.stop()
    thread.join(60)
    return outcomes[0]


def test_success(hosts: Hosts) -> None:
    recorder = Recorder()
    outcome = job(hosts, "echo hello from $me; echo x > model/$me", recorder).run()
    assert outcome.succeeded
    assert recorder.states == ["Starting", "Downloading", "Training", "Uploading", "Completed"]
    assert [one.status for one in outcome.transitions] == recorder.states
    assert recorder.lines == {host: f"hello from {host}\n".encode() for host in hosts.names}
    assert outcome.exit_codes == {"algo-1": 0, "algo-2": 0}
    config = json.loads((hosts.opt_ml("algo-2") / "input/config/resourceconfig.json").read_text())
    assert config["network_interface_name"] == hosts.interface


def test_failure_carries_the_failure_file_of_the_host_that_failed(hosts: Hosts) -> None:
    script = "[ $me = algo-1 ] && exec sleep 1; printf 'loss is NaN' > output/failure; exit 9"
    outcome = job(hosts, script).run()
    assert outcome.status == "Failed"
    assert outcome.failed_host == "algo-2"
    assert outcome.failure_reason == "AlgorithmError: loss is NaN, exit code: 9"
    assert outcome.exit_codes == {"algo-1": 0, "algo-2": 9}


def test_a_long_failure_text_keeps_the_exit_code(hosts: Hosts) -> None:
    outcome = job(hosts, "head -c 5000 /dev/zero | tr '\\0' x > output/failure; exit 3").run()
    assert len(outcome.failure_reason) == 1024
    assert outcome.failure_reason.endswith("xxx, exit code: 3")


def test_a_killed_entrypoint_gives_137(hosts: Hosts) -> None:
    one = job(hosts, "echo up; exec sleep 60", recorder := Recorder())
    thread = threading.Thread(target=lambda: (recorder.seen.wait(30), [hosts.kill(host) for host in hosts.names]))
    thread.start()
    outcome = one.run()
    thread.join()
    assert outcome.failure_reason == "AlgorithmError: , exit code: 137"


def test_the_others_are_ended_after_one_has_failed(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_job, "FAILURE_GRACE", 0.2)
    outcome = job(hosts, "[ $me = algo-1 ] && exec sleep 600; exit 4").run()
    assert outcome.failed_host == "algo-2"
    assert outcome.exit_codes == {"algo-1": 137, "algo-2": 4}


def test_stop_is_sigterm_and_no_failure(hosts: Hosts) -> None:
    recorder = Recorder()
    script = "trap 'echo saved > checkpoints/$me; exit 0' TERM; echo up; while :; do sleep 0.1; done"
    outcome = run_and_stop(job(hosts, script, recorder), recorder)
    assert (outcome.status, outcome.failure_reason, outcome.failed_host) == ("Stopped", "", None)
    assert recorder.states == ["Starting", "Downloading", "Training", "Stopping", "Uploading", "Stopped"]
    assert all((hosts.opt_ml(host) / "checkpoints" / host).exists() for host in hosts.names)


def test_who_does_not_stop_is_killed_after_the_grace(hosts: Hosts) -> None:
    recorder = Recorder()
    script = "trap '' TERM; echo up; while :; do sleep 0.1; done"
    outcome = run_and_stop(job(hosts, script, recorder, stop_grace=0.3), recorder)
    assert outcome.status == "Stopped"
    assert set(outcome.exit_codes.values()) == {137}


def test_stopped_twice_is_killed(hosts: Hosts) -> None:
    recorder = Recorder()
    one = job(hosts, "trap '' TERM; echo up; while :; do sleep 0.1; done", recorder)
    thread = threading.Thread(target=one.run)
    thread.start()
    assert recorder.seen.wait(30)
    one.stop()
    one.stop()
    thread.join(30)
    assert recorder.states[-1] == "Stopped"


def test_stopped_before_the_start(hosts: Hosts) -> None:
    one = job(hosts, "exec sleep 4720.5")
    one.stop()
    outcome = one.run()
    assert (outcome.status, dict(outcome.exit_codes)) == ("Stopped", {})
    assert not living("sleep 4720.5")


def test_the_longest_runtime_ends_the_job(hosts: Hosts) -> None:
    script = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
    outcome = job(hosts, script, members={"StoppingCondition": {"MaxRuntimeInSeconds": 1}}).run()
    assert outcome.status == "MaxRuntimeExceeded"
    assert training_job_status(outcome.status) == "Stopped"


def test_checkpoints_of_an_earlier_run_are_there(hosts: Hosts, tmp_path_factory: pytest.TempPathFactory) -> None:
    earlier = tmp_path_factory.mktemp("earlier")
    (earlier / "step-5").write_text("state")
    recorder = Recorder()
    job(hosts, "cat checkpoints/step-5", recorder, checkpoints=earlier).run()
    assert recorder.lines == {"algo-1": b"state", "algo-2": b"state"}


def test_hosts_must_be_those_of_the_request(hosts: Hosts) -> None:
    with pytest.raises(ValueError, match=r"needs the hosts \('algo-1',\)"):
        job(hosts, "true", members={"ResourceConfig": {"InstanceCount": 1, "InstanceType": "ml.c5.xlarge"}})


def test_an_entrypoint_left_to_the_image_is_refused(hosts: Hosts) -> None:
    one = SimulatedTrainingJob(request=request([]), hosts=hosts, channels={}, environment={})
    with pytest.raises(LocalModeError, match="entrypoint to its image"):
        one.run()


def test_output_that_no_one_ends_is_shown_and_kept(hosts: Hosts) -> None:
    recorder = Recorder()
    script = "[ $me = algo-1 ] || exit 0; printf 'half'; sleep 1.5; echo ' whole'; printf '\\377\\n10%%\\r20%%\\r'"
    job(hosts, script, recorder).run()
    assert recorder.lines["algo-1"] == b"half whole\n\xff\n10%\r20%\r"


def test_nothing_is_left_when_a_job_ends(hosts: Hosts, tmp_path: Path) -> None:
    job(hosts, "(setsid sleep 4721.5 >/dev/null 2>&1 &); exit 0").run()
    assert eventually(lambda: not living("sleep 4721.5"))
