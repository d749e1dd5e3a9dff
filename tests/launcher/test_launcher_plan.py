"""The plan: exactly what each host would run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from training_launcher.command_line import parse_command_line
from training_launcher.place import find_place
from training_launcher.plan import LaunchPlan, shown
from training_launcher.prepare import prepare
from training_launcher.problems import Problem


def plan_of(
    base: Path,
    *words: str,
    host: str = "algo-1",
    hosts: int = 2,
    environment: dict[str, str] | None = None,
    processes: Sequence[int] = (),
    hyperparameters: dict[str, str] | None = None,
    **resource_config: Any,
) -> LaunchPlan:
    """The plan as every host would make it after all have met."""
    environment = {"TRAINING_JOB_NAME": "job-1", **(environment or {})}
    config = base / "input/config"
    config.mkdir(parents=True, exist_ok=True)
    content = {
        "current_host": host,
        "hosts": sorted(f"algo-{number + 1}" for number in range(hosts)),
        "network_interface_name": "eth0",
        **resource_config,
    }
    (config / "resourceconfig.json").write_text(json.dumps(content))
    (config / "hyperparameters.json").write_text(json.dumps(hyperparameters or {}))
    request = parse_command_line(words, environment)
    place = find_place(str(base), request.options.instance_groups, environment)
    preparation = prepare(request, place, environment)
    return preparation.plan(processes or [preparation.processes] * len(place.world))


def argv_of(plan: LaunchPlan, base: Path) -> list[str]:
    """The only command, with the names of this test run taken out."""
    (command,) = plan.commands
    guard = next(word for word in command.argv if word.endswith("/rank.py"))
    names = {command.argv[0]: "PYTHON", guard: "GUARD", guard.replace("rank.py", "torchrun_agent.py"): "AGENT"}
    return [names.get(word, word) for word in command.argv]


GUARDED = ["--no-python", "PYTHON", "-S", "-E", "GUARD", "PYTHON", "-u"]
RUN = ["PYTHON", "AGENT"]


def test_torchrun_on_several_hosts(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, "torchrun", "--nproc-per-node", "8", "--", "train.py", "--fixed", "a b",
        host="algo-10", hosts=12, hyperparameters={"lr": "0.1"},
    )  # fmt: skip
    assert argv_of(plan, tmp_path) == [
        *RUN, "--after", "algo-1:7777", "--nnodes", "12", "--nproc-per-node", "8", "--max-restarts", "0",
        "--rdzv-id", "job-1", "--node-rank", "9", "--master-addr", "algo-1", "--master-port", "7777",
        *GUARDED, "train.py", "--fixed", "a b", "--lr", "0.1",
    ]  # fmt: skip
    assert (plan.host_rank, plan.first_rank, plan.processes, plan.world_size) == (9, 72, 8, 96)
    assert plan.ports == ()
    assert not plan.restarts
    assert "TORCH_DISABLE_SHARE_RDZV_TCP_STORE" not in plan.environment
    assert plan.environment["TRAINING_WORLD_SIZE"] == "96"


def test_torchrun_that_may_restart(tmp_path: Path) -> None:
    plan = plan_of(
        tmp_path, "torchrun", "--max-restarts", "3", "--rdzv-conf", "timeout=900", "--rdzv-id", "mine",
        "--master-port", "29400", "--torchrun-argument=--numa-binding=node", "--", "-m", "llm.pretrain",
        host="algo-2", processes=[4, 4],
    )  # fmt: skip
    assert argv_of(plan, tmp_path) == [
        *RUN, "--after", "algo-1:29400", "--nnodes", "2", "--nproc-per-node", "4", "--max-restarts", "3",
        "--rdzv-backend", "c10d", "--rdzv-id", "mine", "--rdzv-endpoint", "algo-1:29400",
        "--rdzv-conf", "is_host=0,join_timeout=600,timeout=900", "--numa-binding=node", *GUARDED, "-m", "llm.pretrain",
    ]  # fmt: skip
    assert plan.restarts
    assert plan.environment["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] == "1", "pytorch/pytorch#135712"


def test_torchrun_on_one_host_chooses_a_free_port(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "torchrun", "--max-restarts", "1", "--", "train.py", hosts=1)
    assert argv_of(plan, tmp_path) == [
        *RUN, "--nnodes", "1", "--nproc-per-node", "1", "--max-restarts", "1", "--standalone", *GUARDED, "train.py",
    ]  # fmt: skip
    assert plan.ports == ()
    assert "TORCH_DISABLE_SHARE_RDZV_TCP_STORE" not in plan.environment
    assert "NCCL_SOCKET_IFNAME" not in plan.environment


def test_the_first_host_needs_the_port(tmp_path: Path) -> None:
    assert plan_of(tmp_path, "torchrun", "--", "train.py").ports == (7777,)
    assert plan_of(tmp_path, "torchrun", "--", "train.py", host="algo-2").ports == ()


def test_addresses_instead_of_names(tmp_path: Path) -> None:
    told = {"TRAINING_HOST_ADDRESSES": '{"algo-1": "127.0.0.11", "algo-2": "127.0.0.12"}'}
    argv = argv_of(plan_of(tmp_path, "torchrun", "--", "train.py", host="algo-2", environment=told), tmp_path)
    assert argv[argv.index("--local-addr") + 1] == "127.0.0.12"
    assert argv[argv.index("--master-addr") + 1] == "127.0.0.11"
    wrong = {"TRAINING_HOST_ADDRESSES": '{"algo-1": "127.0.0.11"}'}
    with pytest.raises(Problem, match="an address for each of algo-1, algo-2"):
        plan_of(tmp_path, "torchrun", "--", "train.py", environment=wrong)


def test_processes_over_hosts_of_different_size(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "processes", "--", "train.py", host="algo-2", hosts=3, processes=[8, 2, 4])
    assert [command.rank for command in plan.commands] == [8, 9]
    assert [command.local_rank for command in plan.commands] == [0, 1]
    assert dict(plan.commands[1].environment) == {
        "RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "14", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "1",
        "GROUP_WORLD_SIZE": "3", "MASTER_ADDR": "algo-1", "MASTER_PORT": "7777",
    }  # fmt: skip
    assert plan.commands[1].argv[1:] == ("-u", "train.py")


def test_what_the_user_set_wins(tmp_path: Path) -> None:
    mine = {"NCCL_SOCKET_IFNAME": "ens5", "SM_HOSTS": "mine", "PYTHONUNBUFFERED": "", "PYTHONPATH": "/lib/mine"}
    plan = plan_of(tmp_path, "torchrun", "--", "train.py", environment=mine)
    assert not {"NCCL_SOCKET_IFNAME", "SM_HOSTS", "PYTHONUNBUFFERED"} & set(plan.environment)
    *first, launcher = plan.environment["PYTHONPATH"].split(":")
    assert first == ["/lib/mine", f"{tmp_path}/code"]
    assert (Path(launcher) / "training_launcher").is_dir(), "last, so that it shadows nothing"
    assert plan.environment["GLOO_SOCKET_IFNAME"] == "eth0"


def test_nothing_harmful_is_set(tmp_path: Path) -> None:
    """What existing launchers set for everyone, against the advice of aws-ofi-nccl."""
    plan = plan_of(tmp_path, "torchrun", "--", "train.py")
    assert plan.environment["NCCL_SOCKET_IFNAME"] == "=eth0", "an exact name, not a prefix"
    for name in ("NCCL_PROTO", "NCCL_ALGO", "RDMAV_FORK_SAFE", "NCCL_IB_DISABLE", "NCCL_DEBUG", "OMP_NUM_THREADS"):
        assert name not in plan.environment


def test_a_host_outside_of_the_world_runs_nothing(tmp_path: Path) -> None:
    groups = [
        {"instance_group_name": "a", "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]},
        {"instance_group_name": "b", "instance_type": "ml.p5.48xlarge", "hosts": ["algo-2"]},
    ]
    plan = plan_of(tmp_path, "torchrun", "--instance-group", "b", "--", "train.py", instance_groups=groups)
    assert (plan.commands, plan.host_rank, plan.processes, plan.world) == ((), None, 0, ("algo-2",))


def test_the_printed_plan_hides_credentials(tmp_path: Path) -> None:
    request = parse_command_line(["torchrun", "--", "train.py"], {})
    plan_of(tmp_path, "torchrun", "--", "train.py", hyperparameters={"hf_token": "hf_0123456789", "max_tokens": "512"})
    preparation = prepare(request, find_place(str(tmp_path), [], {}), {})
    printed = json.dumps(preparation.plan([1, 1]).to_json(preparation.mask))
    assert "hf_0123456789" not in printed
    assert '"--hf_token", "***"' in printed
    assert '"--max_tokens", "512"' in printed


def test_a_command_is_shown_on_one_line() -> None:
    assert shown(["python3", "a b", "it's", "two\nlines 'q'"]) == r"""python3 'a b' 'it'"'"'s' $'two\nlines \'q\''"""
