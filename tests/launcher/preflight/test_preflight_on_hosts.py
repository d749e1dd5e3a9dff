"""The preflight on real network hosts, with what breaks between them broken for real."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable

import pytest
from launcher_job import LauncherJob

from cdk_distributed_training.local.hosts import boot

RUN = ("processes", "--nproc-per-node", "1")
SAY = "print('trained')"


def drop(job: LauncherJob, *, source: str, target: str) -> None:
    """Let the target drop what would open a connection from the source, as a security group without a rule does."""
    address = boot.address(job.names.index(source))
    iptables, nft = (shutil.which(name, path="/usr/sbin:/usr/bin:/sbin") for name in ("iptables", "nft"))
    if iptables:
        rules = [[iptables, "-A", "INPUT", "-p", "tcp", "--syn", "-s", address, "-j", "DROP"]]
    else:
        assert nft, "these tests need iptables or nft"
        rules = [
            [nft, "add table ip t; add chain ip t c { type filter hook input priority 0; }"],
            [nft, f"add rule ip t c ip saddr {address} tcp flags & (syn|ack) == syn drop"],
        ]
    for rule in rules:
        job.hosts._inside(["ip", "netns", "exec", target, *rule])


def failure_of(job: LauncherJob, *arguments: str, code: int = 4) -> str:
    """Run to the failure: one code and one text on all hosts, and the script has not run."""
    outcomes = job.run(*RUN, *arguments, "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {code}, outcomes
    texts = {outcome.failure for outcome in outcomes.values()}
    assert len(texts) == 1, texts
    text = texts.pop()
    assert text
    assert "trained" not in "".join(outcome.text for outcome in outcomes.values())
    return text


def test_good_hosts(make_job: Callable[..., LauncherJob], capsys: pytest.CaptureFixture[str]) -> None:
    job = make_job(3)
    job.source(train__py=SAY)
    outcomes = job.run(*RUN, "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    (line,) = [line for line in outcomes["algo-1"].text.splitlines() if "preflight" in line]
    assert "3 hosts reach each other both ways (6 paths" in line
    with capsys.disabled():
        print(f"\n{line}")
    for host in job.names[1:]:
        assert "preflight" not in outcomes[host].text
    assert "collectives: gloo over TCP (no accelerator)" in outcomes["algo-3"].text


def test_off(job: LauncherJob) -> None:
    job.source(train__py=SAY)
    drop(job, source="algo-1", target="algo-2")
    outcomes = job.run(*RUN, "--preflight", "off", "--", "train.py")
    assert {outcome.code for outcome in outcomes.values()} == {0}
    assert "preflight" not in outcomes["algo-1"].text


def test_a_member_that_the_leader_does_not_reach(job: LauncherJob) -> None:
    """The control channel, which members open, works: only the preflight can know."""
    job.source(train__py=SAY)
    drop(job, source="algo-1", target="algo-2")
    text = failure_of(job)
    assert text.startswith(
        "preflight | host algo-2 | exit code 4 | algo-1 does not reach algo-2 (no answer), though algo-2 reaches "
        "algo-1: packets are dropped on the way: the security group must let"
    )


def test_two_members_that_do_not_reach_each_other(make_job: Callable[..., LauncherJob]) -> None:
    job = make_job(3)
    job.source(train__py=SAY)
    drop(job, source="algo-2", target="algo-3")
    drop(job, source="algo-3", target="algo-2")
    text = failure_of(job)
    assert "algo-2 does not reach algo-3 (no answer), nor the other way round: packets are dropped" in text


def test_an_unreachable_route_is_named(make_job: Callable[..., LauncherJob]) -> None:
    job = make_job(3)
    job.source(train__py=SAY)
    job.hosts._inside(["ip", "-n", "algo-2", "route", "add", "unreachable", f"{boot.address(2)}/32"])
    text = failure_of(job)
    assert "algo-2 does not reach algo-3" in text
    assert "No route to host" in text


@pytest.mark.parametrize(
    ("environment", "config", "words"),
    [
        (
            {},
            {"network_interface_name": "ethwe"},
            "network_interface_name in resourceconfig.json is 'ethwe', but there are lo, eth0",
        ),
        ({"GLOO_SOCKET_IFNAME": "ens99"}, {}, "GLOO_SOCKET_IFNAME names ens99, but there are lo, eth0"),
    ],
)
def test_a_missing_interface(job: LauncherJob, environment: dict[str, str], config: dict[str, str], words: str) -> None:
    job.source(train__py=SAY)
    job.configure(**config)
    outcomes = job.run(*RUN, "--", "train.py", environment=environment)
    assert {outcome.code for outcome in outcomes.values()} == {4}
    for outcome in outcomes.values():
        assert words in (outcome.failure or "")
        assert outcome.failure.startswith("preflight | host algo-")


def test_an_empty_channel_on_one_host(make_job: Callable[..., LauncherJob]) -> None:
    job = make_job(3)
    job.source(train__py=SAY)
    job.write_config("inputdataconfig.json", {"train": {"TrainingInputMode": "File"}, "out": {}})
    for host in job.names:
        (job.opt_ml(host) / "input/data/train").mkdir()
        (job.opt_ml(host) / "input/data/out").mkdir()
    for host in ("algo-1", "algo-3"):
        (job.opt_ml(host) / "input/data/train/part-0").write_text("data")
    text = failure_of(job)
    assert text.startswith(
        "preflight | host algo-2 | exit code 4 | channel train is empty on algo-2, but not on algo-1"
    )


def with_gpus(job: LauncherJob, counts: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each host a /dev of its own with device files that look like GPUs'."""
    start = job.hosts.start

    def start_with_gpus(host: str, argv: list[str], env: dict[str, str]) -> object:
        files = " ".join(f"/tmp/dev/nvidia{number}" for number in range(counts[host]))
        script = (
            f"mkdir /tmp/dev && touch /tmp/dev/null {files} && mount --bind /dev/null /tmp/dev/null "
            '&& mount --rbind /tmp/dev /dev && exec "$@"'
        )
        return start(host, ["/bin/sh", "-c", script, "sh", *argv], env)

    monkeypatch.setattr(job.hosts, "start", start_with_gpus)


def test_different_device_counts(job: LauncherJob, monkeypatch: pytest.MonkeyPatch) -> None:
    job.source(train__py=SAY)
    with_gpus(job, {"algo-1": 2, "algo-2": 1}, monkeypatch)
    outcomes = job.run("processes", "--", "train.py")
    for outcome in outcomes.values():
        assert outcome.code == 3, outcome.text
        assert "algo-2 has 1 GPU, but algo-1 of the same instance type has 2 GPUs" in (outcome.failure or "")


def test_require_efa_ends_at_once_with_what_is_missing(job: LauncherJob, monkeypatch: pytest.MonkeyPatch) -> None:
    job.source(train__py=SAY)
    with_gpus(job, {"algo-1": 1, "algo-2": 1}, monkeypatch)
    text = failure_of(job, "--require-efa", code=3)
    assert text.startswith("EFA missing | host algo-")
    # libfabric may be there: Open MPI of some distributions brings it
    for words in ("an EFA device (/sys/class/infiniband", "security group", "the plug-in aws-ofi-nccl"):
        assert words in text


SHOW = """
import json, os, sys
import training_launcher.torch.backends as ours
import json as standard
print(json.dumps({"file": ours.__file__, "path": sys.path, "told": os.environ[ours.COLLECTIVES_VARIABLE]}))
"""


def test_ranks_can_import_the_helper_and_nothing_of_theirs_is_shadowed(job: LauncherJob) -> None:
    """From the zip: it stands behind the user's folders, and brings one package alone."""
    job.source(train__py=SHOW)
    outcomes = job.run(*RUN, "--", "train.py", environment={"PYTHONPATH": "/users/own"})
    seen = json.loads(outcomes["algo-2"].lines_of("rank 1")[0])
    archive = "/opt/ml/input/data/launcher/0123abcd.zip"
    assert seen["file"] == f"{archive}/training_launcher/torch/backends.py"
    assert seen["path"][:4] == ["/opt/ml/code", "/users/own", "/opt/ml/code", archive]
    assert seen["told"] == "gloo"


@pytest.mark.timeout(240)
def test_collectives_for_real(job: LauncherJob) -> None:
    """gloo in throwaway processes, one for each rank, gone before the script starts."""
    job.source(
        train__py="""
import glob, sys
commands = [open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline")]
assert not [command for command in commands if b"all_reduce" in command]
print("trained", "torch" in sys.modules)
"""
    )
    job.start("processes", "--nproc-per-node", "2", "--preflight", "collectives", "--", "train.py")
    outcomes = job.wait(180)
    assert {outcome.code for outcome in outcomes.values()} == {0}, outcomes
    assert "preflight: gloo over TCP: 4 ranks add up; bus bandwidth of a 1 MiB all-reduce " in outcomes["algo-1"].text
    assert outcomes["algo-2"].lines_of("rank 3") == ["trained False"]


def test_collectives_that_break_on_one_host(job: LauncherJob) -> None:
    """A torch that cannot be imported, here because the user's code hides it, is found on the host where it is."""
    job.source("algo-1", train__py=SAY, torch__py="import time; time.sleep(60)")
    job.source("algo-2", train__py=SAY, torch__py="raise ImportError('libcudart.so.13: cannot open shared object')")
    text = failure_of(job, "--preflight", "collectives", "--preflight-timeout", "30")
    assert text.startswith(
        "preflight | host algo-2 | exit code 4 | gloo over TCP failed between algo-1 and algo-2: rank 1 did not "
        "import torch: exit code 1: ImportError: libcudart.so.13"
    )


def test_a_stop_during_the_trial(job: LauncherJob) -> None:
    """Nothing is left, and nothing has failed."""
    job.source(train__py=SAY, torch__py="import time; time.sleep(60)")
    job.start(*RUN, "--preflight", "collectives", "--", "train.py")
    job.until_said("preflight: trying gloo over TCP in throwaway processes, for at most 120 s", "algo-1")
    job.hosts.signal("algo-2", signal.SIGTERM)
    for outcome in job.wait().values():
        assert (outcome.code, outcome.failure) == (143, None), outcome.text


def test_collectives_that_hang(job: LauncherJob) -> None:
    job.source(train__py=SAY, torch__py="import time; time.sleep(60)")
    text = failure_of(job, "--preflight", "collectives", "--preflight-timeout", "1")
    assert "nothing happened within 1 s (2 ranks failed)" in text
    assert "GLOO_SOCKET_IFNAME" in text
