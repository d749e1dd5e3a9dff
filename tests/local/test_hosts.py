"""What both kinds of hosts promise."""

import signal
import sys
from pathlib import Path

import pytest
from tests.local.conftest import PATH
from tests.local.processes import eventually, living

from cdk_distributed_training.local.hosts import Hosts, LoopbackHosts, NamespaceHosts, choose


def output(hosts: Hosts, script: str, host: str = "algo-1") -> tuple[str, int]:
    process = hosts.start(host, ["sh", "-c", script], PATH)
    return process.communicate(timeout=30)[0].decode(), process.returncode


def test_entrypoint_sees_its_opt_ml_and_both_output_streams(hosts: Hosts) -> None:
    text, code = output(hosts, 'cd "${SAGEMAKER_BASE_DIR:-/opt/ml}"; ls; echo done >&2; echo x > model/weights; exit 7')
    assert text.split() == ["checkpoints", "code", "input", "model", "output", "done"]
    assert code == 7
    assert (hosts.opt_ml("algo-1") / "model/weights").read_text() == "x\n"
    assert not (hosts.opt_ml("algo-2") / "model/weights").exists()


def test_arguments_and_variables_arrive_byte_for_byte(hosts: Hosts) -> None:
    strange = 'it\'s "quoted" $HOME {x} \n ü'
    process = hosts.start(
        "algo-1", ["sh", "-c", 'printf "%s|%s" "$1" "$NOTE"', "sh", strange], {**PATH, "NOTE": strange}
    )
    assert process.communicate(timeout=30)[0].decode() == f"{strange}|{strange}"


def test_nothing_of_this_process_environment_leaks(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    assert "hidden" not in output(hosts, "env")[0]


def test_standard_input_is_empty(hosts: Hosts) -> None:
    assert output(hosts, "cat; echo end") == ("end\n", 0)


def test_an_entrypoint_that_does_not_exist_is_said(hosts: Hosts) -> None:
    process = hosts.start("algo-1", ["/no/such/program"], PATH)
    text = process.communicate(timeout=30)[0].decode()
    assert process.returncode == 127
    assert "/no/such/program" in text


def test_a_signal_reaches_the_entrypoint(hosts: Hosts) -> None:
    script = (
        "import signal,sys,time; signal.signal(15, lambda *a: sys.exit(5)); print('up', flush=True); time.sleep(60)"
    )
    process = hosts.start("algo-2", [sys.executable, "-c", script], PATH)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    assert hosts.listens("algo-2", signal.SIGTERM)
    assert hosts.signal("algo-2", signal.SIGTERM)
    assert process.wait(30) == 5
    assert not hosts.signal("algo-2", signal.SIGTERM)
    assert not hosts.listens("algo-2", signal.SIGTERM)


def test_a_killed_host_takes_all_its_processes_along_and_can_start_again(hosts: Hosts) -> None:
    process = hosts.start("algo-1", ["sh", "-c", "(setsid sleep 4711.1 &) ; exec sleep 4711.2"], PATH)
    assert eventually(lambda: len(living("sleep 4711.")) >= 2)
    hosts.kill("algo-1")
    assert process.wait(30) == 137
    assert eventually(lambda: not living("sleep 4711."))
    assert output(hosts, "echo again") == ("again\n", 0)


def test_an_orphan_does_not_outlive_the_entrypoint(hosts: Hosts) -> None:
    assert output(hosts, "(setsid sleep 4712.1 >/dev/null 2>&1 &); exit 3")[1] == 3
    assert eventually(lambda: not living("sleep 4712."))


def test_close_ends_everything(hosts: Hosts) -> None:
    processes = [hosts.start(host, ["sleep", "4713.5"], PATH) for host in hosts.names]
    assert eventually(lambda: bool(living("sleep 4713.5")))
    hosts.close()
    hosts.close()
    assert all(process.poll() is not None for process in processes)
    assert eventually(lambda: not living("sleep 4713.5"))
    assert sorted(path.name for path in hosts.root.glob("algo-1/*")) == ["ml"]


def test_a_shared_folder_appears_on_each_host(hosts: Hosts, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("corpus")
    (data / "part").write_text("tokens")
    for host in hosts.names:
        hosts.share(host, data, "input/data/train")
        assert output(hosts, 'cat "${SAGEMAKER_BASE_DIR:-/opt/ml}/input/data/train/part"', host) == ("tokens", 0)


def test_a_host_runs_one_entrypoint_at_a_time(hosts: Hosts) -> None:
    hosts.start("algo-1", ["sleep", "60"], PATH)
    with pytest.raises(RuntimeError, match="algo-1 is already running"):
        hosts.start("algo-1", ["true"], PATH)


def test_an_unknown_host_is_named(hosts: Hosts) -> None:
    with pytest.raises(KeyError, match="algo-9"):
        hosts.start("algo-9", ["true"], PATH)
    with pytest.raises(ValueError, match="differ"):
        type(hosts)(["a", "a"], hosts.root, "twice")


def test_namespaces_are_chosen_where_they_are_possible() -> None:
    assert choose().kind == NamespaceHosts.kind
    assert choose().reason == ""
    assert choose("loopback").kind == LoopbackHosts.kind
    with pytest.raises(ValueError, match="namespaces, loopback"):
        choose("docker")


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    with (
        NamespaceHosts(["algo-1"], tmp_path / "a", "one") as one,
        NamespaceHosts(["algo-1"], tmp_path / "b", "two") as two,
    ):
        first = one.start("algo-1", ["sh", "-c", "cat /etc/hosts"], PATH).communicate(timeout=30)[0]
        second = two.start("algo-1", ["sh", "-c", "cat /etc/hosts"], PATH).communicate(timeout=30)[0]
        assert first == second
