"""mpirun on real hosts, which have no ssh: the launcher's own agent starts Open MPI's daemons."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable

import pytest
from launcher_job import LauncherJob, Outcome
from mpi_plans import program
from open_mpi import OpenMpi, on_both_versions

PLAIN = ("mpirun", "--mpi4py", "never")
TWO = (*PLAIN, "--nproc-per-node", "2", "--", "train.py")

SHOW = """
import json, os, sys
names = ("LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "GROUP_RANK", "GROUP_WORLD_SIZE",
         "SM_CURRENT_HOST", "SM_FRAMEWORK_PARAMS", "TRAINING_WORLD_SIZE", "PRIVATE_TOKEN", "OMPI_COMM_WORLD_RANK")
print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": sys.stdin.read(), "host": os.uname().nodename,
                  **{name: os.environ.get(name) for name in ("RANK", *names)}}))
"""


def ranks_of(outcomes: dict[str, Outcome]) -> dict[int, dict[str, str]]:
    """What `SHOW` said, by rank; every host must have ended well."""
    ranks = {}
    for host, outcome in outcomes.items():
        assert outcome.code == 0, outcome.text
        assert outcome.failure is None
        for number in range(8):
            for line in outcome.lines_of(f"rank {number}"):
                ranks[number] = json.loads(line)
                assert ranks[number]["SM_CURRENT_HOST"] == host
    return ranks


@on_both_versions
def test_ranks_get_the_names_that_torch_reads(job: LauncherJob) -> None:
    """Arguments byte for byte, each host's own environment, though only one host has started all."""
    note = 'it\'s "quoted" $(touch /tmp/pwned) `x` *\n\ttwo lines, ünïcödé ☃, back\\slash'
    job.source(train__py=SHOW)
    job.write_config("hyperparameters.json", {"note": note, "lr": "1e-7"})
    outcomes = job.run(*TWO, environment={"PRIVATE_TOKEN": "abcdef-hidden-123456"})
    ranks = ranks_of(outcomes)
    assert sorted(ranks) == [0, 1, 2, 3]
    for number, rank in ranks.items():
        assert rank["RANK"] == rank["OMPI_COMM_WORLD_RANK"] == str(number)
        assert rank["LOCAL_RANK"] == str(number % 2)
        assert rank["WORLD_SIZE"] == rank["TRAINING_WORLD_SIZE"] == "4"
        assert rank["LOCAL_WORLD_SIZE"] == "2"
        assert rank["host"] == rank["SM_CURRENT_HOST"] == f"algo-{1 + number // 2}"
        assert (rank["GROUP_RANK"], rank["GROUP_WORLD_SIZE"]) == (str(number // 2), "2")
        assert (rank["MASTER_ADDR"], rank["MASTER_PORT"]) == ("algo-1", "7777")
        assert rank["argv"] == ["--lr", "1e-7", "--note", note]
        assert rank["cwd"] == "/opt/ml/code"
        assert rank["stdin"] == ""
        assert rank["PRIVATE_TOKEN"] == "abcdef-hidden-123456"
        assert json.loads(rank["SM_FRAMEWORK_PARAMS"])["sagemaker_mpi_num_of_processes_per_host"] == 2
    for host in job.names:
        temporary = job.hosts.root / host / "tmp"
        assert not list(temporary.glob("training-launcher-*")), "nothing of the run is left"
        assert not [*temporary.glob("ompi.*"), *temporary.glob("prte*")], "nor of Open MPI's"


@on_both_versions
def test_hosts_with_different_numbers_of_ranks(make_job: Callable[..., LauncherJob]) -> None:
    """One rank on the first host and two on each other one."""
    job = make_job(3)
    job.source(train__py=SHOW)
    for name, count in (("algo-1", "1"), ("algo-2", "2"), ("algo-3", "2")):
        job.start(*PLAIN, "--nproc-per-node", count, "--", "train.py", hosts=[name])
    ranks = ranks_of(job.wait())
    places = [(rank["host"], rank["LOCAL_RANK"], rank["LOCAL_WORLD_SIZE"]) for _, rank in sorted(ranks.items())]
    assert places == [
        ("algo-1", "0", "1"),
        ("algo-2", "0", "2"),
        ("algo-2", "1", "2"),
        ("algo-3", "0", "2"),
        ("algo-3", "1", "2"),
    ]
    assert {rank["WORLD_SIZE"] for rank in ranks.values()} == {"5"}


@on_both_versions
def test_one_host(make_job: Callable[..., LauncherJob]) -> None:
    """Its name need not resolve."""
    job = make_job(1)
    job.source(train__py=SHOW)
    assert {rank["WORLD_SIZE"] for rank in ranks_of(job.run(*TWO)).values()} == {"2"}


FAIL = """
import os, signal, sys, time
rank, how = int(os.environ["RANK"]), sys.argv[1]
if rank != int(sys.argv[2]):
    print("waiting"); time.sleep(100)
time.sleep(0.5)
if how == "raise":
    try:
        {}["learning_rate"]
    except KeyError as error:
        raise RuntimeError("no learning rate for this rank") from error
if how == "exit": sys.exit(7)
os.kill(os.getpid(), getattr(signal, how))
"""


@on_both_versions
@pytest.mark.parametrize(
    ("how", "rank", "code", "first_line"),
    [
        (
            "raise",
            3,
            1,
            "exception | host algo-2 rank 3 (local rank 1) | exit code 1 | RuntimeError: no learning rate for this "
            "rank (caused by KeyError: 'learning_rate')",
        ),
        ("exit", 0, 7, "exit | host algo-1 rank 0 (local rank 0) | exit code 7 | it wrote nothing"),
        ("SIGKILL", 2, 137, "signal | host algo-2 rank 2 (local rank 0) | signal SIGKILL | killed from outside"),
        (
            "SIGSEGV",
            1,
            139,
            "signal | host algo-1 rank 1 (local rank 1) | signal SIGSEGV | segmentation fault: Fatal Py",
        ),
    ],
)
def test_a_failing_rank_ends_all_hosts_with_its_cause(
    job: LauncherJob, how: str, rank: int, code: int, first_line: str
) -> None:
    """As with every kind: one code and one text on all hosts, and nothing left."""
    job.source(train__py=FAIL)
    outcomes = job.run(*TWO, how, str(rank))
    assert {outcome.code for outcome in outcomes.values()} == {code}, outcomes
    (text,) = {outcome.failure for outcome in outcomes.values()}
    assert str(text).startswith(first_line), text
    for host in job.names:
        temporary = job.hosts.root / host / "tmp"
        assert not [*temporary.glob("ompi.*"), *temporary.glob("prte*")]


def test_the_cause_and_not_a_victim(job: LauncherJob) -> None:
    """mpirun alone would end rank 3 as soon as the others have failed because of it, and its words were lost."""
    job.source(
        train__py="""
import os, time
if os.environ["RANK"] == "3":
    time.sleep(1.0)
    raise ValueError("loss is NaN at step 7")
time.sleep(0.3)
raise RuntimeError("[gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.12]:13462")
"""
    )
    for outcome in job.run(*TWO).values():
        assert outcome.code == 1
        assert str(outcome.failure).startswith(
            "exception | host algo-2 rank 3 (local rank 1) | exit code 1 | ValueError"
        )


STOP = """
import os, signal, sys, time
rank = int(os.environ["RANK"])
def save(*_):
    time.sleep(0.5 * rank)
    open(f"/opt/ml/checkpoints/rank-{rank}", "w").write("saved")
    sys.exit(0 if len(sys.argv) < 2 or rank != 3 else 5)
signal.signal(signal.SIGTERM, save)
print("training", flush=True)
time.sleep(100)
"""


@on_both_versions
@pytest.mark.parametrize(("told", "words", "code"), [("algo-2", (), 0), ("algo-1", ("bad",), 143)])
def test_a_stop_reaches_every_rank_and_lets_it_save(
    job: LauncherJob, told: str, words: tuple[str, ...], code: int
) -> None:
    """Rank 3 needs longest; mpirun, which sees rank 0 end first, does not cut it off."""
    job.source(train__py=STOP)
    job.start(*TWO, *words)
    job.until(lambda: all(job.output(name).count("] training") == 2 for name in job.names))
    job.hosts.signal(told, signal.SIGTERM)
    outcomes = job.wait()
    assert [outcome.code for outcome in outcomes.values()] == [code, code], "\n".join(o.text for o in outcomes.values())
    for name, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        assert outcomes[name].failure is None
        for rank in ranks:
            assert (job.opt_ml(name) / f"checkpoints/rank-{rank}").read_text() == "saved"


@pytest.mark.parametrize(("victim", "survivor"), [("algo-1", "algo-2"), ("algo-2", "algo-1")])
def test_a_killed_host_is_named(job: LauncherJob, victim: str, survivor: str) -> None:
    """The first host takes mpirun along, another one Open MPI's daemon."""
    job.source(train__py="import time; print('up', flush=True); time.sleep(100)")
    job.start(*TWO)
    job.until_said("up")
    job.hosts.kill(victim)
    outcome = job.wait()[survivor]
    assert outcome.code == 1
    assert str(outcome.failure).startswith(f"host lost | host {victim}"), outcome


KILLER = """
import os, pathlib, signal, sys, time
print("up", flush=True)
time.sleep(1)
for path in pathlib.Path("/proc").glob("[0-9]*/comm"):
    if path.exists() and path.read_text().strip() == sys.argv[1]:
        os.kill(int(path.parent.name), signal.SIGKILL)
time.sleep(100)
"""


@on_both_versions
@pytest.mark.parametrize("host", ["algo-1", "algo-2"])
def test_open_mpis_own_programs_may_be_killed(job: LauncherJob, host: str, open_mpi: OpenMpi) -> None:
    """No rank is left without them, and the message names the program."""
    job.source(train__py=KILLER)
    outcomes = job.run(*PLAIN, "--", "train.py", open_mpi.leader_process if host == "algo-1" else open_mpi.daemon)
    assert [outcome.code for outcome in outcomes.values()] == [137, 137]
    program_name = "mpirun" if host == "algo-1" else open_mpi.daemon
    text = f"signal | host {host} | signal SIGKILL | {program_name}: killed from outside"
    assert {str(outcome.failure).splitlines()[0] for outcome in outcomes.values()} == {text}


PROCESSES = """
import json, os, pathlib, time
time.sleep(0.5)
lines = []
for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        lines.append(path.read_bytes().replace(b"\\0", b" ").decode())
    except OSError:
        pass
if os.environ["LOCAL_RANK"] == "0":
    print(json.dumps(lines))
time.sleep(1)
"""


@on_both_versions
def test_no_ssh_and_no_credential_on_any_command_line(job: LauncherJob, open_mpi: OpenMpi) -> None:
    """Looked at on both hosts while the ranks run."""
    job.source(train__py=PROCESSES)
    secret = "AKIA-very-secret-value"
    environment = {"AWS_ACCESS_KEY_ID": secret, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": secret}
    outcomes = job.run(*TWO, environment=environment)
    for host, rank, started in (("algo-1", 0, open_mpi.leader_process), ("algo-2", 2, open_mpi.daemon)):
        assert outcomes[host].code == 0
        lines = json.loads(outcomes[host].lines_of(f"rank {rank}")[0])
        assert [line for line in lines if line.split()[0].rpartition("/")[2] == started], lines
        assert sum("-u train.py" in line for line in lines) >= 4, "guards and ranks"
        for line in lines:
            assert "ssh" not in line.replace("plm_rsh_", "").replace("plm_ssh_", "").replace("plm ssh", "")
            assert secret not in line
            assert "AWS_" not in line
        assert secret not in outcomes[host].text


def test_hosts_that_all_have_the_same_hostname(job: LauncherJob) -> None:
    """Containers may be called otherwise than the job calls their hosts."""
    job.source(train__py=SHOW)
    outcomes = run_wrapped(job, ["/bin/sh", "-c", 'hostname same; exec "$@"', "sh"], *TWO)
    ranks = ranks_of(outcomes)
    assert [rank["SM_CURRENT_HOST"] for _, rank in sorted(ranks.items())] == ["algo-1", "algo-1", "algo-2", "algo-2"]
    assert {rank["host"] for rank in ranks.values()} == {"same"}


@on_both_versions
def test_awss_build_of_open_mpi_need_not_be_on_path(job: LauncherJob, open_mpi: OpenMpi) -> None:
    """Called by its whole path, mpirun sets variables before its daemon's name, which takes a shell."""
    job.source(train__py=SHOW)
    folder = f"/opt/amazon/openmpi{open_mpi.version if open_mpi.version > 4 else ''}"
    install = f"mkdir -p /opt/amazon && ln -s {open_mpi.prefix} {folder} && export PATH=/nowhere"
    ranks = ranks_of(run_wrapped(job, ["/bin/sh", "-c", f'{install}; exec "$@"', "sh"], *TWO))
    assert [rank["SM_CURRENT_HOST"] for _, rank in sorted(ranks.items())] == ["algo-1", "algo-1", "algo-2", "algo-2"]


def run_wrapped(job: LauncherJob, wrapper: list[str], *arguments: str) -> dict[str, Outcome]:
    """Run with another program before the launcher, which execs it."""
    start = job.hosts.start
    job.hosts.start = lambda host, argv, env: start(host, [*wrapper, *argv], env)  # type: ignore[method-assign]
    return job.run(*arguments)


class TestMissing:
    """One message with the fix, before anything starts."""

    def test_open_mpi(self, job: LauncherJob) -> None:
        job.source(train__py="")
        outcomes = run_wrapped(job, ["/bin/sh", "-c", 'export PATH=/nowhere; exec "$@"', "sh"], *TWO)
        assert [outcome.code for outcome in outcomes.values()] == [3, 3], outcomes
        text = str(outcomes["algo-1"].failure)
        assert text == outcomes["algo-2"].failure
        assert text.startswith("not started | host algo-"), text
        assert "is missing on algo-" in text
        assert "(PATH is /nowhere and /opt/amazon/openmpi/bin and /opt/amazon/openmpi5/bin): this launch" in text
        assert "needs Open MPI" in text
        assert "apt-get install openmpi-bin" in text

    def test_the_data_parallel_library(self, job: LauncherJob) -> None:
        job.source(train__py="")
        outcomes = job.run("smdistributed-dataparallel", "--", "train.py")
        assert [outcome.code for outcome in outcomes.values()] == [3, 3]
        text = str(outcomes["algo-1"].failure)
        assert "smdistributed.dataparallel is missing on algo-" in text
        assert "--fallback nccl" in text

    def test_a_rank_program(self, job: LauncherJob) -> None:
        job.source(train__sh="exec no-such-program\n")
        outcomes = job.run("mpirun", "--", "train.sh")
        assert [outcome.code for outcome in outcomes.values()] == [127, 127]
        assert "no-such-program: not found" in str(outcomes["algo-1"].failure) or "not found" in outcomes["algo-1"].text


def test_what_mpirun_itself_says_is_the_cause_where_no_rank_has_one(job: LauncherJob) -> None:
    """An option that it does not know."""
    job.source(train__py=SHOW)
    outcomes = job.run("mpirun", "--mpi-option=--no-such-option", "--", "train.py")
    (text,) = {outcome.failure for outcome in outcomes.values()}
    assert len({outcome.code for outcome in outcomes.values()} - {0}) == 1
    assert str(text).startswith("exit | host algo-1 | exit code "), text
    assert "mpirun: " in str(text)
    assert "no-such-option" in str(text)


def test_a_host_that_mpirun_never_calls_gives_up(job: LauncherJob) -> None:
    """Here mpirun is a program that does nothing."""
    job.source(train__py=SHOW)
    for host in job.names:
        program(job.hosts.root / host / "tmp/bin", "mpirun", "#!/bin/sh\nexec sleep 100\n")
    path = "/tmp/bin:/usr/bin:/bin"
    outcomes = job.run("mpirun", "--launch-timeout", "1", "--", "train.py", environment={"PATH": path})
    assert [outcome.code for outcome in outcomes.values()] == [3, 3]
    (text,) = {outcome.failure for outcome in outcomes.values()}
    assert text == (
        "not started | host algo-2 | exit code 3 | "
        "algo-1 has not sent the command that starts the ranks here within 1 s"
    )


def test_the_port_of_rank_0_must_be_free(job: LauncherJob) -> None:
    """The launcher's own port is in use for sure."""
    job.source(train__py=SHOW)
    outcomes = job.run("mpirun", "--master-port", "7775", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [3, 3]
    assert str(outcomes["algo-2"].failure).startswith(
        "port in use | host algo-1 | exit code 3 | port 7775 of algo-1 is in use"
    )


DDP = """
import hashlib, os, torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
state = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
print(dist.get_rank(), dist.get_world_size(), hashlib.sha256(state).hexdigest(), flush=True)
dist.destroy_process_group()
os._exit(0)  # a gloo thread, which the model keeps, can abort Python's own end
"""


def test_a_plain_ddp_script_trains(job: LauncherJob) -> None:
    """`env://` is all it knows; afterwards every rank has the same parameters."""
    job.source(train__py=DDP)
    job.start(*PLAIN, "--nproc-per-node", "1", "--", "train.py", environment={"OMP_NUM_THREADS": "1"})
    outcomes = job.wait(120)
    said = [outcomes[host].lines_of(f"rank {rank}")[-1].split() for host, rank in (("algo-1", 0), ("algo-2", 1))]
    assert [words[:2] for words in said] == [["0", "2"], ["1", "2"]]
    assert said[0][2] == said[1][2]


def test_pytorchddp_goes_through_smddprun_where_there_is_one(job: LauncherJob) -> None:
    """On every host, with the variables that it reads."""
    show = "import os; print(*(os.environ[name] for name in ('WRAPPED', 'RANK', 'SMDATAPARALLEL_SERVER_ADDR')))"
    job.source(train__py=show)
    for host in job.names:
        program(job.hosts.root / host / "tmp/bin", "smddprun", '#!/bin/sh\nWRAPPED=$0 exec "$@"\n')
    words = ("pytorchddp", "--mpi4py", "never", "--nproc-per-node", "2", "--", "train.py")
    outcomes = job.run(*words, environment={"PATH": "/tmp/bin:/usr/bin:/bin"})
    for host, ranks in (("algo-1", (0, 1)), ("algo-2", (2, 3))):
        assert outcomes[host].code == 0, outcomes[host].text
        for rank in ranks:
            assert outcomes[host].lines_of(f"rank {rank}") == [f"/tmp/bin/smddprun {rank} algo-1"]


def test_the_data_parallel_library_that_is_there(job: LauncherJob) -> None:
    """Found beside the script too."""
    job.source(
        train__py="import os, smdistributed.dataparallel as library; print(library.NAME, os.environ['TRAINING_SMDDP'])",
        smdistributed___dataparallel__py="NAME = 'smddp'",
    )
    outcomes = job.run("smdistributed-dataparallel", "--mpi4py", "never", "--", "train.py")
    assert outcomes["algo-2"].code == 0, outcomes["algo-2"].text
    assert outcomes["algo-2"].lines_of("rank 1") == ["smddp 1"]
