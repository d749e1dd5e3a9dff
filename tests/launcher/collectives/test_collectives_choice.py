"""Which way the collectives go, from machines that are folders here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from training_launcher.collectives.choose import BACKENDS, Choice, choose
from training_launcher.collectives.facts import Facts, detect_facts
from training_launcher.devices import detect_devices
from training_launcher.problems import Problem
from training_launcher.torch.backends import BACKENDS as TORCH_BACKENDS
from training_launcher.torch.backends import COLLECTIVES_VARIABLE

Machine = Callable[..., Facts]


def write(path: Path, text: str | bytes = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Make a machine of files, and look at it as the launcher does."""

    def make(
        *,
        gpus: int = 0,
        neurons: int = 0,
        family: str = "",
        efa: int = 0,
        openable: bool = True,
        rate: str = "100 Gb/sec (4X EDR)",
        mellanox: bool = False,
        plugin: str | None = None,
        plugin_path: str = "/opt/amazon/ofi-nccl/lib64/libnccl-net.so",
        libfabric: str | None = None,
        packages: tuple[str, ...] = (),
        hosts: int = 2,
        instance_type: str = "ml.p5.48xlarge",
        environment: Mapping[str, str] | None = None,
    ) -> Facts:
        for number in range(gpus):
            write(tmp_path / f"dev/nvidia{number}")
        for number in range(neurons):
            write(tmp_path / f"dev/neuron{number}")
        if family:
            write(tmp_path / "sys/class/neuron_device/neuron0/info/architecture/instance_type", family)
        for number in range(efa):
            device = tmp_path / f"sys/class/infiniband/rdmap{16 + number}s27"
            write(device / "device/vendor", "0x1d0f\n")
            write(device / "ports/1/rate", f"{rate}\n")
        if mellanox:
            write(tmp_path / "sys/class/infiniband/rocep1/device/vendor", "0x15b3\n")
            write(tmp_path / "sys/class/infiniband/rocep1/ports/1/rate", "400 Gb/sec (4X NDR)\n")
        if efa and openable:
            write(tmp_path / "dev/infiniband/uverbs0")
        if plugin is not None:
            marker = f"NET/OFI Initializing aws-ofi-nccl {plugin}\0".encode()
            write(tmp_path / plugin_path.lstrip("/"), b"\x7fELF\0\0" + marker + b"\0AWS Libfabric\0")
        if libfabric is not None:
            write(tmp_path / "opt/amazon/efa/lib64/libfabric.so.1")
            if libfabric:
                write(tmp_path / "opt/amazon/efa/lib64/pkgconfig/libfabric.pc", f"Name: x\nVersion: {libfabric}\n")
        site = tmp_path / "site"
        for name in packages:
            write(site / name)
        (site / "other").mkdir(parents=True, exist_ok=True)
        return detect_facts(
            environment or {},
            detect_devices(environment or {}, str(tmp_path)),
            hosts=hosts,
            instance_type=instance_type,
            root=str(tmp_path),
            search_path=[str(tmp_path / "nothing"), str(site)],
        )

    return make


NEW = {"gpus": 8, "efa": 32, "plugin": "1.16.2", "libfabric": "2.1.0amzn3.0"}
SMDDP = ("smdistributed/dataparallel/__init__.py", "smdistributed/dataparallel/lib/libsmddp.so.1")


@pytest.mark.parametrize(
    ("facts", "backend", "label", "variables"),
    [
        pytest.param(NEW, "nccl", "nccl over EFA", {}, id="new software needs no variable"),
        pytest.param(
            {**NEW, "plugin": "git-1f0a976", "libfabric": ""},
            "nccl",
            "nccl over EFA",
            {},
            id="unknown is new",
        ),
        pytest.param(
            {**NEW, "plugin": "1.5.0-aws", "libfabric": "1.17.1", "instance_type": "ml.p4d.24xlarge", "efa": 4},
            "nccl",
            "nccl over EFA",
            {"FI_PROVIDER": "efa", "NCCL_PROTO": "simple", "FI_EFA_USE_DEVICE_RDMA": "1"},
            id="plug-in 1.5 where EFA reads remote memory",
        ),
        pytest.param(
            {**NEW, "plugin": "1.5.0", "libfabric": "1.17.1", "instance_type": "ml.g4dn.8xlarge"},
            "nccl",
            "nccl over EFA",
            {"FI_PROVIDER": "efa", "NCCL_PROTO": "simple"},
            id="plug-in 1.5 elsewhere",
        ),
        pytest.param(
            {**NEW, "plugin": "1.6.0", "libfabric": "1.18.0", "instance_type": "ml.p4de.24xlarge"},
            "nccl",
            "nccl over EFA",
            {"FI_EFA_USE_DEVICE_RDMA": "1"},
            id="plug-in 1.6",
        ),
        pytest.param(
            {**NEW, "plugin_path": "/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so"},
            "nccl",
            "nccl over EFA",
            {"NCCL_NET_PLUGIN": "ofi"},
            id="a plug-in whose name NCCL does not try",
        ),
        pytest.param({**NEW, "hosts": 1}, "nccl", "nccl within the host", {}, id="one host"),
        pytest.param({"gpus": 1, "hosts": 1}, "nccl", "nccl within the host", {}, id="one GPU"),
        pytest.param({"gpus": 4}, "nccl", "nccl over TCP", {}, id="no EFA"),
        pytest.param(
            {"gpus": 8, "plugin": "1.16.2", "hosts": 1},
            "nccl",
            "nccl within the host",
            {"NCCL_NET_PLUGIN": "none"},
            id="a plug-in without its device must not start",
        ),
        pytest.param(
            {"gpus": 8, "plugin": "1.16.2"}, "nccl", "nccl over TCP", {"NCCL_NET_PLUGIN": "none"}, id="nor on two hosts"
        ),
        pytest.param({"gpus": 8, "mellanox": True}, "nccl", "nccl over InfiniBand or TCP", {}, id="another's fabric"),
        pytest.param({**NEW, "plugin": None}, "nccl", "nccl over TCP", {}, id="EFA without plug-in"),
        pytest.param({**NEW, "openable": False}, "nccl", "nccl over TCP", {}, id="EFA that cannot be opened"),
        pytest.param(
            {**NEW, "packages": SMDDP, "instance_type": "ml.p4d.24xlarge"}, "smddp", "smddp", {}, id="SMDDP's own type"
        ),
        pytest.param({**NEW, "packages": SMDDP}, "nccl", "nccl over EFA", {}, id="SMDDP on another type"),
        pytest.param(
            {**NEW, "packages": SMDDP[:1], "instance_type": "ml.p4d.24xlarge"},
            "nccl",
            "nccl over EFA",
            {},
            id="SMDDP without its shared library",
        ),
        pytest.param(
            {"neurons": 16, "family": "trn1.32xlarge", "efa": 8, "packages": ("torch_xla/__init__.py",)},
            "xla",
            "xla over EFA",
            {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1", "FI_EFA_FORK_SAFE": "1"},
            id="Trainium1",
        ),
        pytest.param(
            {"neurons": 1, "family": "trn1.2xlarge", "hosts": 1, "packages": ("torch_xla/__init__.py",)},
            "xla",
            "xla",
            {},
            id="one Trainium1",
        ),
        pytest.param(
            {"neurons": 16, "family": "trn2.48xlarge", "hosts": 1, "packages": ("torch_neuronx/__init__.py",)},
            "neuron",
            "neuron",
            {},
            id="Trainium2, native",
        ),
        pytest.param(
            {
                "neurons": 16,
                "family": "trn2.48xlarge",
                "hosts": 1,
                "packages": ("torch_neuronx/__init__.py", "torch_xla/__init__.py"),
            },
            "xla",
            "xla",
            {},
            id="Trainium2 with torch_xla",
        ),
        pytest.param({"neurons": 16, "family": "trn1.32xlarge"}, "gloo", "gloo over TCP", {}, id="no Neuron package"),
        pytest.param({}, "gloo", "gloo over TCP", {}, id="CPU"),
        pytest.param({"hosts": 1}, "gloo", "gloo", {}, id="one CPU host"),
        pytest.param(
            {**NEW, "environment": {"CUDA_VISIBLE_DEVICES": ""}}, "gloo", "gloo over TCP", {}, id="hidden GPUs"
        ),
    ],
)
def test_the_best_way_that_works_here(
    machine: Machine, facts: dict[str, object], backend: str, label: str, variables: dict[str, str]
) -> None:
    """Each with exactly the variables that its versions need, and never what the cheat sheet says not to set."""
    choice = choose(machine(**facts))
    assert (choice.backend, choice.label) == (backend, label), choice.line
    environment = dict(choice.environment)
    environment.pop("LD_LIBRARY_PATH", None)
    assert environment.pop("TRAINING_COLLECTIVES") == backend
    assert environment == variables
    assert "\n" not in choice.line
    assert not [name for name in choice.environment if name.startswith("RDMAV_") or name == "NCCL_ALGO"]


def test_the_line_says_why(machine: Machine) -> None:
    choice = choose(machine(**NEW))
    assert choice.line == (
        "collectives: nccl over EFA (8 GPUs, 32 EFA devices, libfabric 2.1.0, aws-ofi-nccl 1.16.2); "
        "sets LD_LIBRARY_PATH=/opt/amazon/ofi-nccl/lib64:/opt/amazon/efa/lib64"
    )
    assert choice.fabric_gigabits == 3200
    assert choice.over_efa


def test_without_the_plugin_the_line_says_so(machine: Machine) -> None:
    choice = choose(machine(gpus=8, efa=1, libfabric="2.1"))
    assert "EFA lacks the plug-in aws-ofi-nccl (libnccl-net.so in /opt/amazon/ofi-nccl" in choice.line
    assert any("training will be slow" in warning for warning in choice.warnings)
    assert not choice.over_efa


@pytest.mark.parametrize("known", ["LD_LIBRARY_PATH", "ld.so.conf"])
def test_the_loader_is_told_of_folders_only_where_it_does_not_know_them(
    machine: Machine, tmp_path: Path, known: str
) -> None:
    folders = ["/opt/amazon/ofi-nccl/lib64", "/opt/amazon/efa/lib64"]
    environment = {}
    if known == "ld.so.conf":
        write(tmp_path / "etc/ld.so.conf.d/efa.conf", "\n".join(folders))
    else:
        environment["LD_LIBRARY_PATH"] = ":".join(["/mine", *folders])
    assert "LD_LIBRARY_PATH" not in choose(machine(**NEW, environment=environment)).environment


def test_folders_are_added_behind_the_users_own(machine: Machine) -> None:
    choice = choose(machine(**NEW, environment={"LD_LIBRARY_PATH": "/mine:/yours"}))
    expected = "/mine:/yours:/opt/amazon/ofi-nccl/lib64:/opt/amazon/efa/lib64"
    assert choice.environment["LD_LIBRARY_PATH"] == expected


@pytest.mark.parametrize("name", ["FI_PROVIDER", "NCCL_PROTO", "FI_EFA_USE_DEVICE_RDMA"])
def test_what_the_user_set_wins(machine: Machine, name: str) -> None:
    old = {**NEW, "plugin": "1.5.0", "libfabric": "1.17.1", "instance_type": "ml.p4d.24xlarge"}
    assert name in choose(machine(**old)).environment
    assert name not in choose(machine(**old, environment={name: "mine"})).environment


def test_a_users_plugin_is_looked_at_where_it_is(machine: Machine) -> None:
    path = "/opt/mine/libnccl-net-ofi.so"
    choice = choose(machine(**{**NEW, "plugin": "1.14.0"}, plugin_path=path, environment={"NCCL_NET_PLUGIN": path}))
    assert "aws-ofi-nccl 1.14.0" in choice.reason
    assert "NCCL_NET_PLUGIN" not in choice.environment


def test_another_vendors_plugin_is_none(machine: Machine, tmp_path: Path) -> None:
    write(tmp_path / "opt/amazon/ofi-nccl/lib64/libnccl-net.so", b"\x7fELF nccl-rdma-sharp-plugins")
    assert machine(gpus=8).plugin is None


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"NCCL_PROTO": "simple"}, "NCCL_PROTO set by you: aws-ofi-nccl does not load its tuner"),
        ({"NCCL_ALGO": "ring", "NCCL_PROTO": "simple"}, "NCCL_ALGO and NCCL_PROTO"),
        ({"RDMAV_FORK_SAFE": "1"}, "RDMAV_FORK_SAFE"),
    ],
)
def test_harmful_variables_of_the_user_are_kept_and_named(
    machine: Machine, environment: dict[str, str], words: str
) -> None:
    (warning,) = choose(machine(**NEW, environment=environment)).warnings
    assert words in warning


def test_old_software_needs_the_protocol_and_no_warning(machine: Machine) -> None:
    facts = machine(**{**NEW, "plugin": "1.4.0"}, environment={"NCCL_PROTO": "simple"})
    assert not choose(facts).warnings


@pytest.mark.parametrize(
    ("facts", "missing", "there"),
    [
        ({"gpus": 8, "plugin": "1.16.2", "libfabric": "2.1"}, ["an EFA device", "security group"], ["libfabric.so.1"]),
        ({**NEW, "openable": False}, ["/dev/infiniband/uverbs"], ["plug-in"]),
        ({**NEW, "libfabric": None}, ["libfabric.so.1 in /opt/amazon/efa"], ["plug-in", "an EFA device"]),
        ({**NEW, "plugin": None}, ["libnccl-net.so in /opt/amazon/ofi-nccl"], ["libfabric.so.1", "an EFA device"]),
        ({}, ["an EFA device", "libfabric.so.1", "the plug-in aws-ofi-nccl"], []),
    ],
)
def test_require_efa_says_exactly_what_is_missing(
    machine: Machine, facts: dict[str, object], missing: list[str], there: list[str]
) -> None:
    with pytest.raises(Problem) as caught:
        choose(machine(**facts), require_efa=True)
    assert caught.value.kind == "EFA missing"
    for words in missing:
        assert words in caught.value.message
    for words in there:
        assert words not in caught.value.message


def test_require_efa_keeps_nccl_from_falling_back(machine: Machine) -> None:
    """The plug-in answers to this name in every version; NCCL then fails instead of taking sockets."""
    assert choose(machine(**NEW), require_efa=True).environment["NCCL_NET"] == "AWS Libfabric"
    assert "NCCL_NET" not in choose(machine(**NEW)).environment


def test_require_efa_on_trainium_asks_for_devices_alone(machine: Machine) -> None:
    trainium = {"neurons": 16, "family": "trn1.32xlarge", "packages": ("torch_xla/__init__.py",)}
    with pytest.raises(Problem, match="an EFA device"):
        choose(machine(**trainium), require_efa=True)
    assert choose(machine(**trainium, efa=8), require_efa=True).backend == "xla"


@pytest.mark.parametrize(
    ("wanted", "facts", "label"),
    [
        ("gloo", NEW, "gloo over TCP"),
        ("nccl", NEW, "nccl over EFA"),
        ("nccl", {"gpus": 1}, "nccl over TCP"),
        ("smddp", {**NEW, "packages": SMDDP}, "smddp"),
        ("neuron", {"neurons": 1, "family": "trn1", "hosts": 1, "packages": ("torch_neuronx/__init__.py",)}, "neuron"),
    ],
)
def test_what_is_asked_for_is_taken_where_it_works(
    machine: Machine, wanted: str, facts: dict[str, object], label: str
) -> None:
    assert choose(machine(**facts), wanted).label == label
    assert choose(machine(**facts), wanted).reason.startswith("asked for; ")
    told = machine(**facts, environment={"TRAINING_COLLECTIVES": wanted})
    by_variable = choose(told)
    assert by_variable.label == label
    assert "TRAINING_COLLECTIVES" not in by_variable.environment, "it is there already"


@pytest.mark.parametrize(
    ("wanted", "facts", "words"),
    [
        ("nccl", {}, "--collectives nccl needs a GPU"),
        ("smddp", NEW, "needs smdistributed.dataparallel with its shared library"),
        ("xla", {}, "needs a Neuron core and the package torch_xla"),
        ("neuron", {"neurons": 16}, "needs the package torch_neuronx"),
    ],
)
def test_what_is_asked_for_and_does_not_work_is_refused(
    machine: Machine, wanted: str, facts: dict[str, object], words: str
) -> None:
    with pytest.raises(Problem, match=words):
        choose(machine(**facts), wanted)


def test_another_specification_in_the_variable_is_left_alone(machine: Machine) -> None:
    choice: Choice = choose(machine(**NEW, environment={"TRAINING_COLLECTIVES": "cpu:gloo,cuda:nccl"}))
    assert "TRAINING_COLLECTIVES" not in choice.environment


def test_the_helper_for_scripts_knows_every_backend() -> None:
    assert set(BACKENDS) == set(TORCH_BACKENDS)
    assert COLLECTIVES_VARIABLE == "TRAINING_COLLECTIVES"


def test_a_fabric_that_does_not_say_its_rate(machine: Machine) -> None:
    assert machine(efa=2, rate="").fabric.gigabits == 0
    assert machine(efa=2, rate="400 Gb/sec (8X HDR)").fabric.gigabits == 800
