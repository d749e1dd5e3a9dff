"""The MPI family's command lines and variables, exactly."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from mpi_plans import GUARD, argv_of, plan_of, program

from training_launcher.needs import Program, PythonModule
from training_launcher.problems import Problem

BASE = [
    "--mca", "pml", "ob1",
    "--mca", "btl", "^openib",
    "--mca", "btl_vader_single_copy_mechanism", "none",
    "--mca", "smsc", "^cma",
    "--mca", "orte_abort_on_non_zero_status", "1",
]  # fmt: skip
NETWORK = ["--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0"]
AGENT = [
    "--leave-session-attached",
    "--mca", "plm", "^slurm",
    "--mca", "plm_rsh_agent", "PYTHON -S -E RUN/launch_agent.py",
    "--mca", "plm_rsh_no_tree_spawn", "1",
    "--mca", "plm_ssh_agent", "PYTHON -S -E RUN/launch_agent.py",
    "--mca", "plm_ssh_no_tree_spawn", "1",
]  # fmt: skip
PLACEMENT = ["--bind-to", "none", "--map-by", "slot"]
NEVER = ("--mpi4py", "never")


def test_mpirun_counts_the_ranks_of_all_hosts(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, "mpirun", *NEVER, "--", "train.py", "a b", hosts=3, processes=[1, 2, 4], hyperparameters={"lr": "0.1"}
    )
    assert argv_of(plan) == [
        "mpirun", "--host", "algo-1:1,algo-2:2,algo-3:4", "-np", "7", "--allow-run-as-root",
        *BASE, *NETWORK, *AGENT, *PLACEMENT, *GUARD, "PYTHON", "-u", "train.py", "a b", "--lr", "0.1",
    ]  # fmt: skip
    assert (plan.first_rank, plan.processes, plan.world_size, plan.ports) == (0, 1, 7, (7777,))
    assert plan.environment["MASTER_ADDR"] == "algo-1"
    assert [need.name for need in plan.needs] == ["mpirun"]


def test_other_hosts_run_nothing_of_their_own(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "mpirun", "--launch-timeout", "60", "--", "train.py", host="algo-2", processes=[1, 2])
    assert plan.commands == plan.ports == ()
    assert (plan.first_rank, plan.processes, plan.awaits) == (1, 2, 60.0)
    assert plan.environment["GROUP_RANK"] == "1"
    assert [need.name for need in plan.needs] == ["mpirun"]


def test_one_host_needs_no_network(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "mpirun", *NEVER, "--", "-m", "llm.train", hosts=1, processes=[8])
    assert argv_of(plan) == [
        "mpirun", "--host", "localhost:8", "-np", "8", "--allow-run-as-root",
        *BASE, *PLACEMENT, *GUARD, "PYTHON", "-u", "-m", "llm.train",
    ]  # fmt: skip


def test_what_the_user_sets_replaces_the_launchers_own(tmp_path: Path) -> None:
    """Open MPI would join two values of one parameter to a list."""
    options = ["--mca", "pml", "cm", "--bind-to", "core", "--map-by", "ppr:2:node", "-x", "NAME=a b"]
    plan = plan_of(
        tmp_path, "mpirun", *NEVER, *(f"--mpi-option={word}" for word in options), "--", "train.py",
        environment={"OMPI_MCA_oob_tcp_if_include": "eth1"},
    )  # fmt: skip
    assert argv_of(plan) == [
        "mpirun", "--host", "algo-1:2,algo-2:2", "-np", "4", "--allow-run-as-root",
        *BASE[3:], *NETWORK[:3], *AGENT, *options, *GUARD, "PYTHON", "-u", "train.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (["-mca", "prte_if_include", "eth1", "-map-by", "node"], {}),
        (["--prtemca", "prte_if_include", "eth1", "--map-by", "node"], {}),
        (["--map-by", "node"], {"PRTE_MCA_prte_if_include": "eth1"}),
    ],
)
def test_open_mpi_5_gets_two_dashes_and_no_second_name_of_a_parameter(
    tmp_path: Path, options: list[str], environment: dict[str, str]
) -> None:
    """It takes `-map-by` for a program, and gives what follows `-mca` to the ranks alone."""
    words = [f"--mpi-option={word}" for word in options]
    argv = argv_of(plan_of(tmp_path, "mpirun", *NEVER, *words, "--", "train.py", environment=environment))
    given = [{"-mca": "--mca", "-map-by": "--map-by"}.get(word, word) for word in options]
    assert argv[6 : argv.index("/bin/sh")] == [*BASE, *NETWORK[:3], *AGENT, *PLACEMENT[:2], *given]


@pytest.mark.parametrize(
    ("mpi4py", "entry", "words"),
    [
        ("always", ["train.py"], ["PYTHON", "-u", "-m", "mpi4py", "train.py"]),
        ("always", ["-m", "llm.train"], ["PYTHON", "-u", "-m", "mpi4py", "-m", "llm.train"]),
        ("always", ["start.sh"], ["/bin/bash", "start.sh"]),
        ("auto", ["train.py"], ["PYTHON", "-u", "-m", "mpi4py", "train.py"]),
        ("never", ["train.py"], ["PYTHON", "-u", "train.py"]),
    ],
)
def test_python_scripts_run_by_mpi4py(tmp_path: Path, mpi4py: str, entry: list[str], words: list[str]) -> None:
    (tmp_path / "code/mpi4py").mkdir(parents=True)
    (tmp_path / "code/mpi4py/__init__.py").write_text("")
    plan = plan_of(tmp_path, "mpirun", "--mpi4py", mpi4py, "--", *entry)
    argv = argv_of(plan)
    assert argv[argv.index("PYTHON") + 1 :] == words
    assert ("mpi4py" in [need.name for need in plan.needs]) == (mpi4py == "always")


def test_aws_build_of_open_mpi_is_found_without_path(tmp_path: Path) -> None:
    program(tmp_path / "amazon", "mpirun")
    mpirun = Program("mpirun", "install it", [str(tmp_path / "amazon")])
    assert mpirun.word({"PATH": "/nowhere"}) == str(tmp_path / "amazon/mpirun")
    assert mpirun.missing({"PATH": "/nowhere"}, "/") == ""
    missing = Program("no-such-program", "install it", ["/elsewhere"])
    with pytest.raises(
        Problem, match=r"no-such-program is missing on algo-2 \(PATH is /nowhere and /elsewhere\): inst"
    ):
        missing.require("algo-2", {"PATH": "/nowhere"}, "/")


def test_modules_are_found_without_an_import(tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    (tmp_path / "top/__init__.py").write_text("raise RuntimeError")
    (tmp_path / "top/below.py").write_text("raise RuntimeError")
    assert PythonModule("top.below", "").found(str(tmp_path))
    assert not PythonModule("top.other", "").found(str(tmp_path))
    assert not PythonModule("top.below.deeper", "").found(str(tmp_path))
    assert not PythonModule("nothing.below", "").found(str(tmp_path))
    (tmp_path / "shared/part").mkdir(parents=True)
    (tmp_path / "shared/part/module.py").write_text("")
    assert PythonModule("shared.part.module", "").found(str(tmp_path))
    assert not PythonModule("shared.other", "").found(str(tmp_path))


def test_a_folder_that_mpirun_would_cut_up_is_refused(tmp_path: Path) -> None:
    # not in `tmp_path`, whose length can be too much for a socket's address
    with tempfile.TemporaryDirectory(prefix="a b") as folder, pytest.raises(Problem, match="no space, colon or comma"):
        plan_of(tmp_path, "mpirun", "--", "train.py", environment={"TMPDIR": folder})


class TestDataParallel:
    """pytorchddp and smdistributed-dataparallel."""

    def test_pytorchddp(self, tmp_path: Path) -> None:
        program(tmp_path / "bin", "smddprun")
        environment = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
        plan = plan_of(tmp_path, "pytorchddp", *NEVER, "--", "train.py", environment=environment)
        assert argv_of(plan) == [
            "mpirun", "--host", "algo-1:2,algo-2:2", "-np", "4", "--allow-run-as-root",
            *BASE, *NETWORK, *AGENT, *PLACEMENT, "--oversubscribe", *GUARD, "smddprun", "PYTHON", "-u", "train.py",
        ]  # fmt: skip
        variables = {name: plan.environment.get(name) for name in plan.environment if name.startswith("SMDATA")}
        assert variables == {
            "SMDATAPARALLEL_USE_HOMOGENEOUS": "1",
            "SMDATAPARALLEL_SERVER_ADDR": "algo-1",
            "SMDATAPARALLEL_SERVER_PORT": "7592",
        }
        assert plan.environment["SAGEMAKER_INSTANCE_TYPE"] == "ml.p4d.24xlarge"
        assert "NCCL_PROTO" not in plan.environment
        assert "RDMAV_FORK_SAFE" not in plan.environment

    def test_one_host_without_smddprun(self, tmp_path: Path) -> None:
        plan = plan_of(tmp_path, "pytorchddp", *NEVER, "--", "train.py", hosts=1, processes=[8])
        assert argv_of(plan)[-3:] == ["PYTHON", "-u", "train.py"]
        assert "smddprun" not in argv_of(plan)
        assert plan.environment["SMDATAPARALLEL_USE_SINGLENODE"] == "1"

    def test_the_library_is_needed_unless_there_is_a_fallback(self, tmp_path: Path) -> None:
        strict = plan_of(tmp_path, "smdistributed-dataparallel", "--", "train.py")
        assert [need.name for need in strict.needs] == ["mpirun", "smdistributed.dataparallel"]
        loose = plan_of(tmp_path, "smdistributed-dataparallel", "--fallback", "nccl", "--", "train.py")
        assert [need.name for need in loose.needs] == ["mpirun"]
        assert loose.environment["TRAINING_SMDDP"] == "0"
        parameters = json.loads(loose.environment["SM_FRAMEWORK_PARAMS"])
        assert parameters["sagemaker_distributed_dataparallel_enabled"] is True


class TestModelParallel:
    """smp and smp-v1: parameters where both versions of the library look for them."""

    def test_version_2_is_torchrun_with_parameters(self, tmp_path: Path) -> None:
        plan = plan_of(
            tmp_path, "smp", "--nproc-per-node", "2", "--parameter", "tensor_parallel_degree", "4",
            "--parameter", "sm_activation_offloading", "true", "--parameter", "name", "a=b", "--", "train.py",
            hyperparameters={"lr": "0.1", "mp_parameters": '{"hybrid_shard_degree": 8, "tensor_parallel_degree": 2}'},
        )  # fmt: skip
        expected = {
            "hybrid_shard_degree": 8,
            "tensor_parallel_degree": 4,
            "sm_activation_offloading": True,
            "name": "a=b",
        }
        argv = argv_of(plan)
        assert argv[1].endswith("/torchrun_agent.py")
        assert argv[-5:-1] == ["train.py", "--lr", "0.1", "--mp_parameters"]
        assert json.loads(argv[-1]) == expected
        assert json.loads(plan.environment["SM_HP_MP_PARAMETERS"]) == expected
        assert json.loads(plan.environment["SM_HPS"])["mp_parameters"] == expected
        assert json.loads(plan.environment["SM_FRAMEWORK_PARAMS"]) == {"sagemaker_torch_distributed_enabled": True}

    @pytest.mark.parametrize(("backend", "wrapped"), [(None, True), ("auto", True), ("nccl", False)])
    def test_version_1_is_mpirun_and_smddpmprun(self, tmp_path: Path, backend: str | None, wrapped: bool) -> None:
        program(tmp_path / "bin", "smddpmprun")
        words = ["--parameter", "ddp_dist_backend", backend] if backend else []
        plan = plan_of(
            tmp_path, "smp-v1", *NEVER, "--parameter", "partitions", "2", *words, "--", "train.py",
            environment={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"},
        )  # fmt: skip
        argv = argv_of(plan)
        before = argv[argv.index("PYTHON") + 1 : argv.index("train.py")]
        wrapper = ["smddpmprun", "-i", "ml.p4d.24xlarge", "--allow-bypass"] if wrapped else []
        assert before == [*wrapper, "PYTHON", "-u"]
        assert json.loads(plan.environment["SM_FRAMEWORK_PARAMS"])["sagemaker_mpi_enabled"] is True
        assert json.loads(plan.environment["SM_HP_MP_PARAMETERS"])["partitions"] == 2
        assert [need.name for need in plan.needs] == ["mpirun", "smdistributed.modelparallel"]

    def test_a_parameter_without_a_value_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(Problem, match="argument --parameter: expected 2 arguments"):
            plan_of(tmp_path, "smp", "--parameter", "partitions", "--", "train.py")

    @pytest.mark.parametrize("text", ["[1]", "{", "partitions=2"])
    def test_a_hyperparameter_that_is_no_object_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(Problem, match="mp_parameters must be a JSON object"):
            plan_of(tmp_path, "smp", "--", "train.py", hyperparameters={"mp_parameters": text, "plain": "text"})
