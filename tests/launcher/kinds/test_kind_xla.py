"""Trainium: what is started there with which variables; and what it comes to on a CPU."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kind_situation import CPU, TRN1, launch_of
from launcher_job import SOURCE, LauncherJob

from training_launcher import neuron
from training_launcher.command_line import parse_command_line
from training_launcher.control.agreement import agree
from training_launcher.devices import Devices
from training_launcher.failure import Failure
from training_launcher.problems import Problem

EFA = {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1", "FI_EFA_FORK_SAFE": "1", "CCOM_SOCKET_IFNAME": "eth0"}
XLA = {"PJRT_DEVICE": "NEURON", "MALLOC_ARENA_MAX": "64", "NEURON_RT_ROOT_COMM_ID": "algo-1:62182"}


def test_torchrun_on_trainium() -> None:
    words = ("--max-restarts", "2", "--", "train.py", "--steps", "9")
    launch = launch_of("xla", *words, devices=TRN1, host="algo-2")
    assert launch.commands == launch_of("torchrun", *words, devices=TRN1, host="algo-2").commands
    argv = launch.commands[0].argv
    assert argv[argv.index("--nproc-per-node") + 1] == "32"
    assert launch.environment == {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", **EFA, **XLA}
    assert launch.restarts
    assert launch.notes == ()


def test_the_launchers_own_processes_on_trainium() -> None:
    launch = launch_of("xla", "--agent", "processes", "--", "train.py", devices=TRN1)
    assert len(launch.commands) == 32
    assert launch.commands[31].environment["LOCAL_RANK"] == "31"
    assert launch.environment == {"TORCHELASTIC_RUN_ID": "job-1", **EFA, **XLA}
    assert launch.ports == (7777,)


def test_the_native_backend_has_no_variables_of_pytorch_xla() -> None:
    trn2 = Devices(gpus=0, neuron_cores=64, cpus=192, efa=True)
    launch = launch_of("xla", "--backend", "neuron", "--agent", "processes", "--", "train.py", devices=trn2)
    assert len(launch.commands) == 64
    assert launch.environment == {"TORCHELASTIC_RUN_ID": "job-1", **EFA}


def test_one_host_needs_no_network() -> None:
    launch = launch_of("xla", "--agent", "processes", "--", "train.py", devices=TRN1, hosts=1)
    assert launch.environment == {
        "TORCHELASTIC_RUN_ID": "job-1", "PJRT_DEVICE": "NEURON", "MALLOC_ARENA_MAX": "64"
    }  # fmt: skip


def test_without_efa_nothing_asks_for_it() -> None:
    small = TRN1._replace(efa=False, neuron_cores=2)
    assert not any(name.startswith("FI_") for name in launch_of("xla", "--", "x.py", devices=small).environment)


def test_without_neuron_cores_it_says_what_that_means() -> None:
    launch = launch_of("xla", "--", "train.py", devices=CPU)
    assert launch.environment == {"PJRT_DEVICE": "CPU"}
    assert "its collectives do nothing and say nothing; between processes use gloo" in launch.notes[0]


SECOND_OF_THREE = {
    "XLA_USE_SPMD": "1",
    "NEURON_PJRT_PROCESSES_NUM_DEVICES": "32,32,32",
    "NEURON_PJRT_PROCESS_INDEX": "1",
}


class TestSpmd:
    """One process on each host, which has all its cores."""

    def test_by_torchrun(self) -> None:
        launch = launch_of("xla", "--spmd", "--", "train.py", devices=TRN1, host="algo-2", hosts=3)
        argv = launch.commands[0].argv
        assert argv[argv.index("--nproc-per-node") + 1] == "1"
        assert launch.environment == {**EFA, **XLA, **SECOND_OF_THREE}

    def test_by_the_launcher_itself(self) -> None:
        words = ("--spmd", "--agent", "processes", "--nproc-per-node", "1", "--", "train.py")
        launch = launch_of("xla", *words, devices=TRN1, host="algo-2", hosts=3)
        (command,) = launch.commands
        assert (command.environment["RANK"], command.environment["WORLD_SIZE"]) == ("1", "3")
        assert launch.environment == {"TORCHELASTIC_RUN_ID": "job-1", **EFA, **XLA, **SECOND_OF_THREE}

    def test_one_host_is_asked_for_nothing_but_the_mode(self) -> None:
        launch = launch_of("xla", "--spmd", "--", "train.py", devices=TRN1, hosts=1)
        assert launch.environment == {"PJRT_DEVICE": "NEURON", "MALLOC_ARENA_MAX": "64", "XLA_USE_SPMD": "1"}

    def test_without_cores_there_are_none_to_share_out(self) -> None:
        launch = launch_of("xla", "--spmd", "--", "train.py", devices=CPU)
        assert launch.environment == {"PJRT_DEVICE": "CPU", "XLA_USE_SPMD": "1"}

    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (("--nproc-per-node", "32"), "--spmd starts one process on each host, got --nproc-per-node 32: leave it"),
            (("--backend", "neuron"), "--spmd needs --backend xla, got neuron, which has no such mode"),
        ],
    )
    def test_what_does_not_go_with_it(self, words: tuple[str, ...], text: str) -> None:
        with pytest.raises(Problem, match=text):
            launch_of("xla", "--spmd", *words, "--", "train.py", devices=TRN1)

    @pytest.mark.parametrize(("mode", "differ"), [(True, True), (False, False)])
    def test_every_host_must_have_the_same_cores(self, mode: bool, differ: bool) -> None:
        """Of whatever type they are; without the mode only those of one type."""
        request = parse_command_line(["xla", *(["--spmd"] if mode else []), "--", "train.py"], {})
        report = {
            "kind": "xla", "processes": 1, "automatic": True, "alike": request.launcher.alike(request.options),
        }  # fmt: skip
        reports = {
            "algo-1": {**report, "devices": "32 Neuron cores", "instance_type": "ml.trn1.32xlarge"},
            "algo-2": {**report, "devices": "64 Neuron cores", "instance_type": "ml.trn2.48xlarge"},
        }
        agreed = agree(("algo-1", "algo-2"), reports)
        if differ:
            assert isinstance(agreed, Failure)
            assert agreed.summary == (
                "algo-2 has 64 Neuron cores, but algo-1 has 32 Neuron cores: with --spmd every host must have the same"
            )
        else:
            assert agreed == (1, 1)


class TestCompileCache:
    @pytest.fixture(autouse=True)
    def versions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "training_launcher.launchers.xla.installed_versions", lambda: "neuronx-cc-2.21_torch-neuronx-2.9"
        )

    @pytest.mark.parametrize(
        ("words", "variables"),
        [
            (
                ("--compile-cache", "s3://bucket/graphs/"),
                {"NEURON_COMPILE_CACHE_URL": "s3://bucket/graphs/neuronx-cc-2.21_torch-neuronx-2.9"},
            ),
            (
                ("--compile-cache", "/fsx/graphs", "--compile-cache-key", "llama"),
                {"NEURON_COMPILE_CACHE_URL": "/fsx/graphs/llama"},
            ),
            (
                ("--compile-cache", "/fsx/graphs", "--compile-cache-key", ""),
                {"NEURON_COMPILE_CACHE_URL": "/fsx/graphs"},
            ),
            (
                ("--compile-cache", "/fsx/graphs", "--backend", "neuron"),
                {"TORCH_NEURONX_NEFF_CACHE_DIR": "/fsx/graphs/neuronx-cc-2.21_torch-neuronx-2.9"},
            ),
        ],
    )
    def test_where_graphs_are_kept(self, words: tuple[str, ...], variables: dict[str, str]) -> None:
        environment = launch_of("xla", *words, "--", "train.py", devices=TRN1).environment
        assert {name: value for name, value in environment.items() if "CACHE" in name} == variables

    def test_the_native_backend_has_no_cache_in_s3(self) -> None:
        with pytest.raises(Problem, match="must be a folder with --backend neuron, got 's3://bucket'"):
            launch_of("xla", "--backend", "neuron", "--compile-cache", "s3://bucket", "--", "x.py", devices=TRN1)


def test_the_key_names_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert neuron.installed_versions() == ""
    for name, version in (("neuronx_cc", "2.21.18209.0+043b1bf7"), ("torch_neuronx", "2.9.0.2.11")):
        folder = tmp_path / f"{name}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: {name.replace('_', '-')}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert neuron.installed_versions() == "neuronx-cc-2.21.18209.0-043b1bf7_torch-neuronx-2.9.0.2.11"


def test_compiling_ahead_wraps_the_agent() -> None:
    plain = launch_of("xla", "--", "train.py", devices=TRN1)
    ahead = launch_of("xla", "--precompile", "only", "--", "train.py", devices=TRN1)
    (command,) = ahead.commands
    assert command.argv[:5] == ("python3", "-S", "-E", "/tmp/run/precompile.py", "only")
    assert "timeout=86400,join_timeout=86400" in command.argv, "a host may compile for long while another is ready"
    assert [word for word in command.argv[5:] if word not in ("--rdzv-conf", "timeout=86400,join_timeout=86400")] == [
        *plain.commands[0].argv
    ]
    assert command.closing_words
    assert [need.name for need in ahead.needs] == ["neuron_parallel_compile"]
    assert ahead.environment == plain.environment


@pytest.mark.parametrize("words", [("--agent", "processes"), ("--backend", "neuron")])
def test_compiling_ahead_where_the_tool_does_not_serve(words: tuple[str, ...]) -> None:
    with pytest.raises(Problem, match=f"--precompile needs {words[0]}"):
        launch_of("xla", "--precompile", "first", *words, "--", "train.py", devices=TRN1)


def test_restarts_need_torchrun() -> None:
    with pytest.raises(Problem, match="--max-restarts needs --agent torchrun, got processes"):
        launch_of("xla", "--agent", "processes", "--max-restarts", "1", "--", "train.py", devices=TRN1)


SUMMARY = """
echo "INFO ||NEURON_PARALLEL_COMPILE||: Total graphs: 3"
echo "INFO ||NEURON_PARALLEL_COMPILE||: Total successful compilations: $((3 - FAILED))"
echo "INFO ||NEURON_PARALLEL_COMPILE||: Total failed compilations: $FAILED"
"""
# as the real tool: a run that collects graphs, then the compilation
TOOL = f'#!/bin/sh\nNEURON_EXTRACT_GRAPHS_ONLY=1 "$@" || exit $?\nFAILED=${{FAILED:-0}}\n{SUMMARY}'


class TestPrecompile:
    """The program between launcher and tool, with a stand-in for the tool."""

    def run(self, folder: Path, then: str, *command: str, failed: int = 0, tool: str = TOOL) -> tuple[int, list[str]]:
        (folder / "neuron_parallel_compile").write_text(tool)
        (folder / "neuron_parallel_compile").chmod(0o755)
        program = SOURCE / "training_launcher/precompile.py"
        done = subprocess.run(
            [sys.executable, "-S", "-E", str(program), then, *command],
            env={"PATH": f"{folder}:/usr/bin:/bin", "FAILED": str(failed)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout.splitlines()

    def test_only(self, tmp_path: Path) -> None:
        code, lines = self.run(tmp_path, "only", "printenv", "NEURON_EXTRACT_GRAPHS_ONLY")
        assert code == 0
        assert lines[0] == "1"
        assert lines[-1] == ("compiled ahead: 3 graphs; nothing was trained: start the job again without --precompile")

    def test_first(self, tmp_path: Path) -> None:
        code, lines = self.run(tmp_path, "first", "sh", "-c", 'echo "${NEURON_EXTRACT_GRAPHS_ONLY:-training}"')
        assert code == 0
        assert (lines[0], lines[-2:]) == ("1", ["compiled ahead: 3 graphs; now the training", "training"])

    def test_graphs_that_cannot_be_compiled(self, tmp_path: Path) -> None:
        """Although the tool ends well."""
        code, lines = self.run(tmp_path, "first", "echo", "run", failed=2)
        assert code == 1
        assert lines.count("run") == 1
        assert lines[-1] == "compiling ahead failed: 2 of 3 graphs cannot be compiled"

    def test_a_script_that_fails(self, tmp_path: Path) -> None:
        code, lines = self.run(tmp_path, "only", "sh", "-c", "exit 7")
        assert (code, lines) == (7, ["compiling ahead failed: neuron_parallel_compile ended with exit code 7"])

    def test_a_tool_that_dies(self, tmp_path: Path) -> None:
        code, lines = self.run(tmp_path, "only", "true", tool="#!/bin/sh\nkill -9 $$\n")
        assert (code, lines) == (137, ["compiling ahead failed: neuron_parallel_compile ended with signal 9"])

    def test_a_tool_that_reports_nothing(self, tmp_path: Path) -> None:
        code, lines = self.run(tmp_path, "only", "true", tool="#!/bin/sh\n")
        assert code == 0
        assert lines[0].startswith("compiled ahead: no graphs were reported; nothing was trained")


TRAIN = """
import json, os
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
names = ("NEURON_EXTRACT_GRAPHS_ONLY", "PJRT_DEVICE", "NEURON_COMPILE_CACHE_URL", "MALLOC_ARENA_MAX")
print(json.dumps([total.item(), *(os.environ.get(name) for name in names)]), flush=True)
dist.destroy_process_group()
"""


@pytest.mark.timeout(250)
def test_compiling_and_training_on_two_hosts(job: LauncherJob) -> None:
    """Both phases are real torchrun worlds; only the compiler is a stand-in. What the user sets wins."""
    job.source(train__py=TRAIN)
    for host in job.names:
        tool = job.opt_ml(host) / "code/neuron_parallel_compile"
        tool.write_text(TOOL)
        tool.chmod(0o755)
    binary = str(Path(sys.executable).parent)
    job.start(
        "xla", "--precompile", "first", "--compile-cache", "/fsx/graphs", "--compile-cache-key", "k1", "--", "train.py",
        environment={"MALLOC_ARENA_MAX": "8", "PATH": f"/opt/ml/code:{binary}:/usr/sbin:/usr/bin:/sbin:/bin"},
    )  # fmt: skip
    outcomes = job.wait(200)
    assert [outcome.code for outcome in outcomes.values()] == [0, 0], outcomes
    for number, host in enumerate(job.names):
        said = [json.loads(line) for line in outcomes[host].lines_of(f"rank {number}") if line.startswith("[2.0")]
        cache = "/fsx/graphs/k1"
        assert said == [[2.0, "1", "CPU", cache, "8"], [2.0, None, "CPU", cache, "8"]]
        assert "compiled ahead: 3 graphs; now the training" in outcomes[host].lines_of("torchrun")


def test_a_missing_compiler_is_named(job: LauncherJob) -> None:
    job.source(train__py="")
    outcomes = job.run("xla", "--precompile", "only", "--", "train.py")
    assert [outcome.code for outcome in outcomes.values()] == [3, 3]
    assert "neuron_parallel_compile is missing on algo-" in str(outcomes["algo-2"].failure)


# what is compiled takes long, and ends well although it is told to end
SLOW_TOOL = """#!/bin/sh
NEURON_EXTRACT_GRAPHS_ONLY=1 "$@" || exit $?
trap 'echo told; exit 0' TERM
echo compiling
sleep 100 & wait
"""
SAVES_WHEN_STOPPED = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
graphs = os.environ.get("NEURON_EXTRACT_GRAPHS_ONLY")
print("graphs" if graphs else "training", flush=True)
time.sleep(0 if graphs == os.environ["QUICK"] else 100)
"""


@pytest.mark.timeout(250)
@pytest.mark.parametrize(("phase", "quick"), [("] graphs", "0"), ("] compiling", "1")])
@pytest.mark.parametrize("then", ["only", "first"])
def test_a_stop_while_graphs_are_compiled(job: LauncherJob, then: str, phase: str, quick: str) -> None:
    """Nothing was trained, so that ranks that end with 0 are no success; and no training begins."""
    job.source(train__py=SAVES_WHEN_STOPPED)
    for host in job.names:
        tool = job.opt_ml(host) / "code/neuron_parallel_compile"
        tool.write_text(SLOW_TOOL)
        tool.chmod(0o755)
    binary = str(Path(sys.executable).parent)
    job.start(
        "xla", "--precompile", then, "--grace", "60", "--", "train.py",
        environment={"PATH": f"/opt/ml/code:{binary}:/usr/sbin:/usr/bin:/sbin:/bin", "QUICK": quick},
    )  # fmt: skip
    job.until_said(phase, seconds=150)
    job.hosts.signal("algo-2", signal.SIGTERM)
    outcomes = job.wait(120)
    assert [outcome.code for outcome in outcomes.values()] == [143, 143], outcomes
    assert [outcome.failure for outcome in outcomes.values()] == [None, None]
    assert not any("] training" in outcome.text for outcome in outcomes.values())
