"""The launcher on real hosts, with ranks that it starts itself: no torch, so each run takes a second."""

import io
import json
import re
import signal
import sys
import zipfile

import pytest
from launcher_job import LauncherJob

TWO = ("processes", "--nproc-per-node", "2", "--", "train.py")

SHOW = """
import json, os, sys
rank = os.environ["RANK"]
names = ("LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "SM_HOSTS", "SM_CURRENT_HOST",
         "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "PYTHONUNBUFFERED", "TRAINING_WORLD_SIZE")
print(json.dumps({"rank": rank, "argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": sys.stdin.read(),
                  **{name: os.environ.get(name) for name in names}}))
print("to stderr", file=sys.stderr)
"""

FAIL = """
import os, signal, sys, time
rank, how = int(os.environ["RANK"]), sys.argv[1]
if rank != int(sys.argv[2]):
    print("waiting"); time.sleep(100)
print("failing")
if how == "chain":
    try:
        {}["learning_rate"]
    except KeyError as error:
        raise RuntimeError("no learning rate for it") from error
if how == "exit": sys.exit(3)
if how == "import": import no_such_module
if how == "segv": import ctypes; ctypes.string_at(0)
os.kill(os.getpid(), getattr(signal, how))
"""


def only_failure(job: LauncherJob, *arguments: str, code: int) -> str:
    """Run to the failure: one code and one text on all hosts."""
    outcomes = job.run(*arguments)
    assert {outcome.code for outcome in outcomes.values()} == {code}, outcomes
    texts = {outcome.failure for outcome in outcomes.values()}
    assert len(texts) == 1, texts
    text = texts.pop()
    assert text
    assert len(text) <= 1024
    return text


def test_ranks_get_their_place_arguments_and_environment(job: LauncherJob) -> None:
    """Byte for byte, through no shell."""
    note = 'it\'s "quoted" $(touch /tmp/pwned) `x`\n\ttwo lines, ünïcödé ☃, back\\slash'
    job.source(train__py=SHOW)
    job.write_config("hyperparameters.json", {"note": note, "lr": "1e-7", "optim.lr": "3", "b-c": '[1, "a"]'})
    outcomes = job.run(*TWO[:-1], "train.py", "--first", "", environment={"NCCL_SOCKET_IFNAME": "mine"})
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    ranks = {}
    for host, number in (("algo-1", 0), ("algo-1", 1), ("algo-2", 2), ("algo-2", 3)):
        lines = outcomes[host].lines_of(f"rank {number}")
        assert "to stderr" in lines
        ranks[number] = json.loads(lines[0])
        assert ranks[number]["rank"] == str(number)
        assert ranks[number]["SM_CURRENT_HOST"] == host
        assert ranks[number]["LOCAL_RANK"] == str(number % 2)
    one = ranks[3]
    assert one["argv"] == ["--first", "", "--b-c", '[1, "a"]', "--lr", "1e-7", "--note", note, "--optim.lr", "3"]
    assert one["cwd"] == "/opt/ml/code"
    assert one["stdin"] == ""
    assert one["WORLD_SIZE"] == one["TRAINING_WORLD_SIZE"] == "4"
    assert one["LOCAL_WORLD_SIZE"] == "2"
    assert (one["MASTER_ADDR"], one["MASTER_PORT"]) == ("algo-1", "7777")
    assert one["SM_HOSTS"] == '["algo-1","algo-2"]'
    assert one["NCCL_SOCKET_IFNAME"] == "mine", "what the user set wins"
    assert one["GLOO_SOCKET_IFNAME"] == "eth0"
    assert one["PYTHONUNBUFFERED"] == "1"
    for host in job.names:
        assert outcomes[host].failure is None
        assert not list((job.hosts.root / host / "tmp").glob("training-launcher-*")), "nothing of the run is left"


@pytest.mark.parametrize("folder", ["/no/such/folder", "/bin/sh", "/tmp/" + "x" * 90])
def test_folders_for_temporary_files_that_are_none(job: LauncherJob, folder: str) -> None:
    """Absent, no folder, too long for the address of a socket in it."""
    for host in job.names:
        (job.hosts.root / host / "tmp" / ("x" * 90)).mkdir()
    job.source(train__py="print('trained')")
    outcomes = job.run(*TWO, environment={"TMPDIR": folder})
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    assert outcomes["algo-2"].lines_of("rank 3") == ["trained"]


@pytest.mark.parametrize(
    ("how", "rank", "code", "first_line"),
    [
        (
            "chain",
            3,
            1,
            "exception | host algo-2 rank 3 (local rank 1) | exit code 1 | RuntimeError: no learning rate for it "
            "(caused by KeyError: 'learning_rate')",
        ),
        ("exit", 0, 3, "exit | host algo-1 rank 0 (local rank 0) | exit code 3 | last line: failing"),
        (
            "import",
            1,
            1,
            "exception | host algo-1 rank 1 (local rank 1) | exit code 1 | "
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("SIGKILL", 2, 137, "signal | host algo-2 rank 2 (local rank 0) | signal SIGKILL | killed from outside"),
        ("SIGABRT", 3, 134, "signal | host algo-2 rank 3 (local rank 1) | signal SIGABRT | aborted itself: "),
        ("segv", 0, 139, "signal | host algo-1 rank 0 (local rank 0) | signal SIGSEGV | segmentation fault: Fatal Py"),
    ],
)
def test_a_failing_rank_ends_all_hosts_with_its_cause(
    job: LauncherJob, how: str, rank: int, code: int, first_line: str
) -> None:
    """Same text and same exit code on every host, whichever host it began on."""
    job.source(train__py=FAIL)
    text = only_failure(job, *TWO, how, str(rank), code=code)
    assert text.splitlines()[0].startswith(first_line), text


def test_the_cause_and_not_a_victim(job: LauncherJob) -> None:
    """Others notice that a rank goes away before it has ended itself; that is a consequence."""
    job.source(
        train__py="""
import os, time
if os.environ["RANK"] == "3":
    time.sleep(1.0)
    raise ValueError("loss is NaN")
time.sleep(0.3)
raise RuntimeError("[gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.12]:13462")
"""
    )
    text = only_failure(job, *TWO, code=1)
    assert text.startswith("exception | host algo-2 rank 3 (local rank 1) | exit code 1 | ValueError: loss is NaN"), (
        text
    )


def test_the_users_own_failure_file_stays(job: LauncherJob) -> None:
    """A script that knows better is believed."""
    job.source(train__py="open('/opt/ml/output/failure', 'w').write('my words'); raise SystemExit(4)")
    outcomes = job.run("processes", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [4, 4]
    assert {outcome.failure for outcome in outcomes.values()} == {"my words"}


def test_credentials_are_in_no_text_of_ours(job: LauncherJob) -> None:
    """Neither in the failure file nor in the launcher's lines."""
    job.source(train__py="import sys; raise ValueError(sys.argv)")
    job.write_config("hyperparameters.json", {"api_token": "hf_abcdef123456", "max_tokens": "2048"})
    outcomes = job.run("processes", "--", "train.py")
    for outcome in outcomes.values():
        assert outcome.failure
        assert "hf_abcdef123456" not in outcome.failure
        assert "2048" in outcome.failure
        assert not [line for line in outcome.text.splitlines() if line.startswith("[launcher") and "hf_abc" in line]


STOP = """
import os, signal, subprocess, sys, time
rank = int(os.environ["RANK"])
def save(*_):
    time.sleep(0.2 * rank)
    open(f"/opt/ml/checkpoints/rank-{rank}", "w").write("saved")
    print("saved", flush=True)
    sys.exit(0 if len(sys.argv) < 2 or rank != 3 else 5)
signal.signal(signal.SIGTERM, save)
# a data loader's worker must live on while the rank saves
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
print("training", flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize(("told", "words", "code"), [("algo-2", (), 0), ("algo-1", ("bad",), 143)])
def test_a_stop_reaches_every_rank_and_lets_it_save(
    job: LauncherJob, told: str, words: tuple[str, ...], code: int
) -> None:
    """Whichever host is told; 0 when every rank ended with 0, else 143, and never a failure file."""
    job.source(train__py=STOP)
    job.start(*TWO, *words)
    job.until(lambda: all(job.output(name).count("training") >= 2 for name in job.names))
    job.hosts.signal(told, signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [code, code]
    for name, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        assert outcomes[name].failure is None
        for rank in ranks:
            assert (job.opt_ml(name) / f"checkpoints/rank-{rank}").read_text() == "saved"


def test_a_stop_reaches_the_process_under_a_shell(job: LauncherJob) -> None:
    """The shell would die of it and take the exit code along."""
    job.source(train__py=STOP, start__sh="echo in the shell\npython3 -u train.py\ncode=$?\necho after\nexit $code\n")
    job.start("processes", "--", "start.sh")
    job.until_said("training")
    job.hosts.signal("algo-1", signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [0, 0]
    assert all("after" in outcome.lines_of(r"rank \d") for outcome in outcomes.values())


def test_grace_has_an_end(job: LauncherJob) -> None:
    """A rank that does not listen is killed."""
    job.source(
        train__py="""
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(100)
"""
    )
    job.start("processes", "--grace", "0.5", "--", "train.py")
    job.until_said("deaf")
    job.hosts.signal("algo-1", signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [143, 143]
    assert "killing rank 0" in outcomes["algo-1"].text
    assert all(outcome.failure is None for outcome in outcomes.values())


def test_a_stop_while_hosts_are_missing(job: LauncherJob) -> None:
    """Nothing runs yet, so nothing needs grace."""
    job.source(train__py="")
    job.start("processes", "--", "train.py", hosts=["algo-2"])
    job.until(lambda: job.hosts.listens("algo-2", signal.SIGTERM))
    job.hosts.signal("algo-2", signal.SIGTERM)
    assert job.wait()["algo-2"].code == 143


def test_a_killed_host_is_named(job: LauncherJob) -> None:
    """The kernel closes its connections."""
    job.source(train__py="import time; print('up', flush=True); time.sleep(100)")
    job.start("processes", "--", "train.py")
    job.until_said("up")
    job.hosts.kill("algo-2")
    outcome = job.wait()["algo-1"]
    assert outcome.code == 1
    assert outcome.failure
    assert outcome.failure.startswith("host lost | host algo-2 | no exit code | it closed the connection"), outcome


def test_a_killed_leader_is_named(job: LauncherJob) -> None:
    """The others cannot be told by anyone then."""
    job.source(train__py="import time; print('up', flush=True); time.sleep(100)")
    job.start("processes", "--", "train.py")
    job.until_said("up")
    job.hosts.kill("algo-1")
    outcome = job.wait()["algo-2"]
    assert outcome.code == 1
    assert outcome.failure
    assert outcome.failure.startswith("host lost | host algo-1"), outcome


def test_a_host_that_goes_silent_is_named(job: LauncherJob) -> None:
    """Nobody closes anything when a cable is pulled."""
    job.source(train__py="import time; print('up', flush=True); time.sleep(100)")
    job.start("processes", "--silent-timeout", "2", "--", "train.py")
    job.until_said("up")
    job.hosts.drop_link("algo-2")
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [1, 1]
    assert "host lost | host algo-2 | no exit code | nothing heard of it" in str(outcomes["algo-1"].failure)


def test_a_late_host_is_waited_for(job: LauncherJob) -> None:
    """Containers of a job start minutes apart."""
    job.source(train__py=SHOW)
    job.start(*TWO, hosts=["algo-2"])
    job.until(lambda: job.hosts.listens("algo-2", signal.SIGTERM))
    job.start(*TWO, hosts=["algo-1"])
    assert [outcome.code for outcome in job.wait().values()] == [0, 0]


def test_a_host_that_never_comes_is_named(job: LauncherJob) -> None:
    """With what to look at."""
    job.source(train__py=SHOW)
    job.start("processes", "--join-timeout", "1", "--", "train.py", hosts=["algo-1"])
    outcome = job.wait()["algo-1"]
    assert outcome.code == 3
    assert str(outcome.failure).startswith("host missing | host algo-2 | exit code 3 | algo-2 not ready after 1 s")
    assert "security group" in str(outcome.failure)


def test_a_leader_that_never_comes_is_named(job: LauncherJob) -> None:
    """From the other side."""
    job.source(train__py=SHOW)
    job.start("processes", "--join-timeout", "1", "--", "train.py", hosts=["algo-2"])
    outcome = job.wait()["algo-2"]
    assert outcome.code == 3
    assert "algo-1 does not answer on port 7775 after 1 s (Connection refused)" in str(outcome.failure)


def test_a_name_that_never_resolves_is_named_on_all_hosts(job: LauncherJob) -> None:
    """One host's resolver is enough to keep all from starting."""
    job.source(train__py=SHOW)
    (job.hosts.root / "algo-1" / "hosts").write_text("127.0.0.1 localhost\n10.77.0.11 algo-1\n")
    outcomes = job.run("processes", "--name-timeout", "0.5", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [3, 3]
    for outcome in outcomes.values():
        assert "name not found | host algo-1 | exit code 3 | host name algo-2 did not resolve" in str(outcome.failure)
        assert "DNS" in str(outcome.failure)


class TestPortInUse:
    """Someone else listens where the hosts are to meet."""

    HOLD = (
        "import socket, subprocess, sys; s = socket.create_server(('', int(sys.argv[1]))); "
        "sys.exit(subprocess.run(sys.argv[2:]).returncode)"
    )

    @pytest.mark.parametrize(("port", "option"), [("7775", "--control-port"), ("7777", "--master-port")])
    def test_names_port_and_host(self, job: LauncherJob, port: str, option: str) -> None:
        job.source(train__py=SHOW)
        host = job.hosts.start(
            "algo-1",
            [sys.executable, "-c", self.HOLD, port, sys.executable, "-u", "/opt/ml/input/data/launcher/0123abcd.zip",
             "processes", "--", "train.py"],
            {"PATH": "/usr/bin:/bin", "TRAINING_JOB_NAME": "job-1"},
        )  # fmt: skip
        job.start("processes", "--join-timeout", "3", "--", "train.py", hosts=["algo-2"])
        assert host.wait(60) == 3
        failure = (job.opt_ml("algo-1") / "output/failure").read_text()
        assert failure.startswith(f"port in use | host algo-1 | exit code 3 | port {port} of algo-1 is in use"), failure
        assert option in failure
        assert job.wait()["algo-2"].code == 3


class TestBadInput:
    """One message with the fix, a failure file, no traceback of ours."""

    def refused(self, job: LauncherJob, *arguments: str) -> str:
        outcomes = job.run(*arguments)
        assert [outcome.code for outcome in outcomes.values()] == [2, 2], outcomes
        for outcome in outcomes.values():
            assert "Traceback" not in outcome.text
            assert outcome.failure
            assert outcome.failure in outcome.text
        return str(outcomes["algo-2"].failure)

    def test_missing_script(self, job: LauncherJob) -> None:
        job.source(other__py="")
        text = self.refused(job, *TWO)
        assert text == (
            "bad input | host algo-1 | exit code 2 | entry script train.py is not in /opt/ml/code, which holds other.py"
        )

    def test_missing_code_channel(self, job: LauncherJob) -> None:
        assert "entry script train.py is not in /opt/ml/code, which holds nothing" in self.refused(job, *TWO)

    def test_broken_hyperparameters(self, job: LauncherJob) -> None:
        job.source(train__py="")
        job.write_config("hyperparameters.json", '{"lr": ')
        text = self.refused(job, *TWO)
        assert "/opt/ml/input/config/hyperparameters.json is not valid JSON" in text

    def test_wrong_option(self, job: LauncherJob) -> None:
        assert "unrecognized arguments: --nprocs 2" in self.refused(job, "processes", "--nprocs", "2", "--", "train.py")

    def test_broken_archive_on_one_host(self, job: LauncherJob) -> None:
        job.source(train__py="")
        (job.opt_ml("algo-2") / "input/data/code/4567cdef.zip").write_bytes(b"PK no zip at all")
        text = self.refused(job, *TWO)
        assert text.startswith(
            "bad input | host algo-2 | exit code 2 | the source code archive /opt/ml/input/data/code"
        )


def test_modules_and_requirements(job: LauncherJob) -> None:
    """A package beside the code is installed, and a module is run from the source folder."""
    wheel = "vendored-1-py3-none-any.whl"
    job.source(
        requirements__txt=f"--no-index\n./{wheel}\n",
        mine___main__py="import vendored, mine.other; print(vendored.NAME, mine.other.NAME, __name__)",
        mine___other__py="NAME = 'other'",
    )
    for name in job.names:
        with zipfile.ZipFile(job.opt_ml(name) / "input/data/code/4567cdef.zip", "a") as archive:
            archive.writestr(wheel, wheel_of("vendored", "NAME = 'vendored'"))
    environment = {"PIP_TARGET": "/tmp/site", "PYTHONPATH": "/tmp/site"}
    outcomes = job.run("processes", "--", "-m", "mine.main", environment=environment)
    for outcome in outcomes.values():
        assert outcome.code == 0, outcome.text
        assert outcome.lines_of(r"rank \d") == ["vendored other __main__"]
        assert "installing requirements.txt" in outcome.text


def wheel_of(name: str, code: str) -> bytes:
    """A package that pip installs without building anything."""
    content = io.BytesIO()
    information = f"{name}-1.dist-info"
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr(f"{name}.py", code)
        wheel.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        wheel.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{information}/RECORD", "")
    return content.getvalue()


def test_requirements_that_cannot_be_installed(job: LauncherJob) -> None:
    """pip's own reason, not its exit code."""
    job.source(train__py="", requirements__txt="--no-index\nno-such-package-at-all\n")
    outcomes = job.run("processes", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [3, 3]
    failure = str(outcomes["algo-1"].failure)
    assert failure.startswith("requirements | host algo-"), failure
    assert "No matching distribution found for no-such-package-at-all" in failure


def test_output_arrives_unharmed(job: LauncherJob) -> None:
    """Bytes that are no text, a line of 10 MB, a progress bar, a last line without an end."""
    job.source(
        train__py=r"""
import os, sys
out = sys.stdout.buffer
out.write(b"bad \xff\xfe bytes\n")
out.write(b"  indented\ttab  \n")
out.write(b"x" * 10_000_000 + b"\n")
out.write(b"\r 10%\r 20%\n")
out.write(b"no end")
"""
    )
    outcomes = job.run("processes", "--", "train.py")
    for name, rank in (("algo-1", 0), ("algo-2", 1)):
        label = f"[{name} rank {rank}] ".encode()
        output = outcomes[name].output
        assert label + b"bad \xff\xfe bytes\n" in output
        assert label + b"  indented\ttab  \n" in output
        assert label + b"x" * 10_000_000 + b"\n" in output
        assert label + b"\r 10%\r 20%\n" in output
        assert label + b"no end\n" in output


def test_orphans_are_reaped_and_nothing_is_left(job: LauncherJob) -> None:
    """Also what a rank has left running in a session of its own."""
    job.source(
        train__py="""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import subprocess, sys; subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(0.2)'], start_new_session=True)"])
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"], start_new_session=True)
time.sleep(1)
states = subprocess.run(["ps", "-eo", "stat,ppid"], capture_output=True, text=True).stdout
print("zombies of the first process:", [l for l in states.splitlines() if l.startswith("Z") and l.split()[1] == "1"])
"""
    )
    outcomes = job.run("processes", "--failure-grace", "0.5", "--", "train.py")
    for outcome in outcomes.values():
        assert outcome.code == 0
        assert "zombies of the first process: []" in outcome.text


def test_other_instance_groups_wait_and_end_with_the_world(make_job: object) -> None:
    """The distribution runs on the named groups only."""
    job: LauncherJob = make_job(3)  # type: ignore[operator]
    job.source(train__py=SHOW)
    job.configure(
        instance_groups=[
            {"instance_group_name": "data", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]},
            {"instance_group_name": "train", "instance_type": "ml.p4d.24xlarge", "hosts": ["algo-3", "algo-2"]},
        ]
    )
    outcomes = job.run("processes", "--instance-group", "train", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [0, 0, 0]
    assert "takes no part; waits for algo-2, algo-3" in outcomes["algo-1"].text
    assert json.loads(outcomes["algo-3"].lines_of("rank 1")[0])["MASTER_ADDR"] == "algo-2"


def test_strangers_are_refused(job: LauncherJob) -> None:
    """A connection that is no launcher, or one of another job, changes nothing."""
    job.source(
        train__py="""
import os, socket, time
if os.environ["RANK"] == "1":
    for data in (b"GET / HTTP/1.1\\r\\n\\r\\n", b"\\x00\\x00\\x00\\x02{}", b'\\x00\\x00\\x00\\x12{"type": "failed"}'):
        with socket.create_connection(("algo-1", 7775)) as stranger:
            stranger.sendall(data)
            time.sleep(0.3)
print("done")
"""
    )
    outcomes = job.run("processes", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [0, 0]


def test_two_jobs_on_one_network_stay_apart(job: LauncherJob) -> None:
    """A host of another job is refused by name."""
    job.source(train__py=SHOW)
    job.start("processes", "--join-timeout", "2", "--", "train.py", hosts=["algo-1"])
    job.start("processes", "--", "train.py", hosts=["algo-2"], environment={"TRAINING_JOB_NAME": "another"})
    outcomes = job.wait()
    assert outcomes["algo-2"].code == 3
    assert "algo-1 refused this host: algo-2 belongs to another job" in str(outcomes["algo-2"].failure)


def test_dry_run_prints_the_plan(job: LauncherJob) -> None:
    """Without the other hosts, without a trace."""
    job.write_config("hyperparameters.json", {"lr": "0.1", "db_password": "hunter2hunter2"})
    job.start("processes", "--nproc-per-node", "2", "--dry-run", "--", "train.py", hosts=["algo-2"])
    outcome = job.wait()["algo-2"]
    assert outcome.code == 0
    plan = json.loads(outcome.text)
    assert (plan["host"], plan["host_rank"], plan["world_size"], plan["first_rank"]) == ("algo-2", 1, 4, 2)
    assert [command["rank"] for command in plan["commands"]] == [2, 3]
    assert re.fullmatch(r".*/python\S*", plan["commands"][0]["argv"][0])
    assert plan["commands"][0]["argv"][1:] == ["-u", "train.py", "--db_password", "***", "--lr", "0.1"]
    assert "hunter2" not in outcome.text
    assert list((job.opt_ml("algo-2") / "code").iterdir()) == []
