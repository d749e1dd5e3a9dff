"""What only real network hosts can do."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from tests.local.conftest import PATH
from tests.local.processes import eventually, living

from cdk_distributed_training.local.hosts import HostsUnavailableError, NamespaceHosts, available, namespaces

SERVER = """
import socket, time
with socket.create_server(("0.0.0.0", 6000)) as server:
    print("up", flush=True)
    connection, peer = server.accept()
    begin = time.monotonic()
    total = 0
    while chunk := connection.recv(65536):
        total += len(chunk)
    print(peer[0], total, time.monotonic() - begin, flush=True)
"""
CALL = """
import socket
try:
    socket.create_connection(("algo-1", 6000), timeout=1)
    print("in")
except OSError as error:
    print(type(error).__name__)
"""
CLIENT = """
import socket
with socket.create_connection(("algo-1", 6000), timeout=10) as connection:
    connection.sendall(bytes(1_000_000))
"""


def python(hosts: NamespaceHosts, host: str, code: str) -> "subprocess.Popen[bytes]":
    return hosts.start(host, [sys.executable, "-S", "-c", code], PATH)


def text(hosts: NamespaceHosts, script: str, host: str = "algo-1") -> str:
    return hosts.start(host, ["sh", "-c", script], PATH).communicate(timeout=30)[0].decode()


def test_this_machine_can_make_them() -> None:
    assert available() == ""


def test_hosts_talk_by_name_over_their_links(namespaces: NamespaceHosts) -> None:
    server = python(namespaces, "algo-1", SERVER)
    assert server.stdout is not None
    assert server.stdout.readline() == b"up\n"
    assert python(namespaces, "algo-2", CLIENT).wait(30) == 0
    assert server.communicate(timeout=30)[0].startswith(b"10.77.0.12 1000000 ")
    assert 1_000_000 < namespaces.transmitted_bytes("algo-2") < 1_200_000
    assert namespaces.transmitted_bytes("algo-1") < 100_000


def test_each_host_has_a_name_processes_and_folders_of_its_own(namespaces: NamespaceHosts) -> None:
    assert text(namespaces, "hostname", "algo-2") == "algo-2\n"
    assert text(namespaces, "echo $$; ls /sys/class/net; cat /opt/ml/../ml/none 2>/dev/null; pwd").split() == [
        "1", "eth0", "lo", "/opt/ml",
    ]  # fmt: skip
    assert text(namespaces, "ls -A /dev/shm /run | grep -v :; cat /etc/environment").strip() == ""
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        assert Path(file.name).name not in text(namespaces, "ls -A /tmp")
    assert "algo-2" in text(namespaces, "cat /etc/hosts")


def test_what_a_host_writes_outside_opt_ml_stays_there(namespaces: NamespaceHosts, tmp_path: Path) -> None:
    before = Path("/etc/environment").read_bytes()
    text(
        namespaces,
        "for f in /tmp /dev/shm /run; do echo x > $f/planted-by-algo-1; done; echo secret >> /etc/environment",
    )
    assert Path("/etc/environment").read_bytes() == before
    assert not [folder for folder in ("/tmp", "/dev/shm", "/run") if Path(folder, "planted-by-algo-1").exists()]
    assert text(namespaces, "ls /dev/shm", "algo-2") == ""


def test_nothing_is_named_on_the_machine(namespaces: NamespaceHosts) -> None:
    namespaces.start("algo-1", ["sleep", "60"], PATH)
    assert not any(path.name.startswith("algo") for path in Path("/run/netns").glob("*"))
    assert not list(Path("/etc/netns").glob("*"))
    assert "eth0@" not in "".join(path.name for path in Path("/sys/class/net").iterdir())


def test_a_shared_folder_is_read_only(namespaces: NamespaceHosts, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("corpus")
    namespaces.share("algo-1", data, "input/data/train")
    assert "Read-only" in text(namespaces, "touch /opt/ml/input/data/train/x 2>&1")
    assert not list(data.iterdir())


def test_an_unknown_name_fails_at_once(namespaces: NamespaceHosts) -> None:
    code = "import socket\ntry: socket.getaddrinfo('algo-9', 80)\nexcept OSError as e: print('no')"
    assert python(namespaces, "algo-1", code).communicate(timeout=4)[0] == b"no\n"


def test_a_signal_without_handler_does_not_reach_pid_1(namespaces: NamespaceHosts) -> None:
    process = namespaces.start("algo-1", ["sleep", "60"], PATH)
    assert eventually(lambda: namespaces.init_pid("algo-1") is not None)
    assert not namespaces.listens("algo-1", signal.SIGTERM)
    namespaces.signal("algo-1", signal.SIGTERM)
    namespaces.kill("algo-1")
    assert process.wait(30) == 137


def test_killing_the_process_kills_the_host(namespaces: NamespaceHosts) -> None:
    process = namespaces.start("algo-1", ["sleep", "4714.5"], PATH)
    assert eventually(lambda: namespaces.init_pid("algo-1") is not None)
    process.kill()
    assert eventually(lambda: not living("sleep 4714.5"))


def test_a_dropped_link_is_silent_and_comes_back(namespaces: NamespaceHosts) -> None:
    server = python(namespaces, "algo-1", SERVER)
    assert server.stdout is not None
    server.stdout.readline()
    namespaces.drop_link("algo-1")
    assert python(namespaces, "algo-2", CALL).communicate(timeout=30)[0] in (b"TimeoutError\n", b"OSError\n")
    namespaces.restore_link("algo-1")
    assert python(namespaces, "algo-2", CALL).communicate(timeout=30)[0] == b"in\n"


def test_a_shaped_link_keeps_its_rate(namespaces: NamespaceHosts) -> None:
    namespaces.shape("algo-2", "8mbit")
    server = python(namespaces, "algo-1", SERVER)
    assert server.stdout is not None
    server.stdout.readline()
    python(namespaces, "algo-2", CLIENT).wait(60)
    # 1 MB at 1 MB/s, of which the bucket holds 256 kB at first; it may take longer, never less
    assert float(server.communicate(timeout=60)[0].split()[2]) > 0.6
    namespaces.shape("algo-2", None)


def test_hosts_die_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    driver = textwrap.dedent(
        f"""
        import time
        from pathlib import Path
        from cdk_distributed_training.local.hosts import NamespaceHosts
        hosts = NamespaceHosts(["algo-1", "algo-2"], Path({str(tmp_path)!r}), "killed-driver-4715")
        for host in hosts.names:
            hosts.start(host, ["sh", "-c", "(setsid sleep 4715.5 &); exec sleep 4715.6"], {PATH!r})
        print("up", flush=True)
        time.sleep(600)
        """
    )
    with subprocess.Popen([sys.executable, "-c", driver], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert eventually(lambda: len(living("sleep 4715.")) >= 4)
        process.kill()
    assert eventually(lambda: not living("sleep 4715.") and not living("killed-driver-4715"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up rights that an ordinary user has not")
def test_an_ordinary_user_gets_hosts_too() -> None:
    driver = textwrap.dedent(
        f"""
        import os, tempfile
        from pathlib import Path
        from cdk_distributed_training.local.hosts import NamespaceHosts, available
        os.setgroups([]); os.setgid(65534); os.setuid(65534); os.chdir("/")
        print(available() or "available")
        names = ["algo-1", "algo-2"]
        with tempfile.TemporaryDirectory() as folder, NamespaceHosts(names, Path(folder), "user") as hosts:
            shared = Path(folder, "shared"); shared.mkdir(); (shared / "file").write_text("tokens")
            hosts.share("algo-1", shared, "input/data/train")
            script = "hostname; getent hosts algo-2; cd /opt/ml/input/data/train; cat file; touch x || exit 3"
            process = hosts.start("algo-1", ["sh", "-c", script], {PATH!r})
            print(process.communicate(timeout=30)[0].decode(), process.returncode)
        """
    )
    result = subprocess.run([sys.executable, "-c", driver], capture_output=True, text=True, check=False, timeout=60)
    words = result.stdout.split()
    assert words[:5] == ["available", "algo-1", "10.77.0.12", "algo-2", "tokenstouch:"], result.stdout + result.stderr
    assert words[-1] == "3"


@pytest.mark.parametrize(
    ("platform", "path", "said"),
    [
        ("darwin", None, "exist on Linux only, and this is darwin"),
        ("linux", "/nowhere", "install iproute2 and util-linux"),
    ],
)
def test_what_is_missing_is_said(
    platform: str, path: str | None, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    if path is not None:
        monkeypatch.setenv("PATH", path)
        monkeypatch.setattr(namespaces, "_SYSTEM_FOLDERS", path)
    with pytest.raises(HostsUnavailableError, match=said):
        NamespaceHosts(["algo-1"], tmp_path, "test")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up rights that an ordinary user has not")
def test_missing_rights_are_said(tmp_path: Path) -> None:
    driver = "from cdk_distributed_training.local.hosts import available; print(available())"
    result = subprocess.run(
        ["setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", sys.executable, "-c", driver],
        capture_output=True, text=True, check=True, env={**os.environ},
    )  # fmt: skip
    assert "no rights to make network namespaces" in result.stdout
    assert "--hosts loopback needs no rights" in result.stdout
