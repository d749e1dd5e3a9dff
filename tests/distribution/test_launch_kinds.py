"""The launcher's other kinds as values: their command lines, which the launcher must take, and what they refuse."""

import aws_cdk as cdk
import pytest

import cdk_distributed_training as dt
from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known
from training_launcher.command_line import parse_command_line

TRN1 = Instances("ml.trn1.32xlarge", count=2)
P5 = Instances("ml.p5.48xlarge", count=2)
XLA = ["xla", "--nproc-per-node", "auto"]


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        (dt.Processes(), ["processes", "--nproc-per-node", "auto"]),
        (
            dt.Processes(process_count_per_node=8, master_port=7000),
            ["processes", "--nproc-per-node", 8, "--master-port", 7000],
        ),
        (dt.Xla(), XLA),
        (dt.Xla(agent="processes"), [*XLA, "--agent", "processes"]),
        (dt.Xla(spmd=True), [*XLA, "--spmd"]),
        (
            dt.Xla(backend="neuron", compile_cache="/fsx/graphs"),
            [*XLA, "--backend", "neuron", "--compile-cache", "/fsx/graphs"],
        ),
        (
            dt.Xla(max_restarts=2, compile_cache="s3://b/c", compile_cache_key="", precompile="first"),
            [
                *XLA,
                "--max-restarts",
                2,
                "--compile-cache",
                "s3://b/c",
                "--compile-cache-key",
                "",
                "--precompile",
                "first",
            ],
        ),
        (dt.ParameterServer(), ["parameter-server"]),
        (
            dt.ParameterServer(chief_task="master", servers="tensorflow", master_port=4000),
            ["parameter-server", "--chief-task", "master", "--servers", "tensorflow", "--master-port", 4000],
        ),
        (dt.MultiWorkerMirrored(), ["multi-worker-mirrored"]),
        (dt.MultiWorkerMirrored(master_port=9000), ["multi-worker-mirrored", "--master-port", 9000]),
        (dt.Command(), ["plain"]),
        (dt.Command(on="leader"), ["plain", "--on", "leader"]),
    ],
)
def test_command_line(value: dt.Distribution, arguments: list[str | int]) -> None:
    assert value.launcher_arguments() == arguments
    instances = Instances("ml.trn2.48xlarge") if isinstance(value, dt.Xla) else P5
    assert list(value.findings(instances, known=known)) == []
    request = parse_command_line([*map(str, arguments), "--", "train.py"], {})
    assert request.launcher.name == arguments[0]


@pytest.mark.parametrize(
    ("value", "rules"),
    [
        (dt.Processes(process_count_per_node=0), ["DT403"]),
        (dt.Processes(process_count_per_node=64), ["DT404"]),
        (dt.Processes(master_port=80), ["DT408"]),
        (dt.Processes(master_port=True), ["DT408"]),
        (dt.Xla(process_count_per_node="8"), ["DT403"]),  # type: ignore[arg-type]
        (dt.Xla(max_restarts=-1), ["DT405"]),
        (dt.Xla(backend="gloo"), ["DT407"]),  # type: ignore[arg-type]
        (dt.Xla(agent="mpirun"), ["DT407"]),  # type: ignore[arg-type]
        (dt.Xla(spmd=True, process_count_per_node=32), ["DT407"]),
        (dt.Xla(spmd=True, backend="neuron"), ["DT407", "DT409"]),
        (dt.Xla(precompile="yes"), ["DT407"]),  # type: ignore[arg-type]
        (dt.Xla(agent="processes", precompile="only"), ["DT407"]),
        (dt.Xla(agent="processes", max_restarts=1), ["DT407"]),
        (dt.Xla(backend="neuron", precompile="only"), ["DT407", "DT409"]),
        (dt.Xla(backend="neuron", compile_cache="s3://b/c"), ["DT407", "DT409"]),
        (dt.ParameterServer(chief_task="boss"), ["DT407"]),  # type: ignore[arg-type]
        (dt.ParameterServer(servers="horovod", master_port=65535), ["DT407", "DT408"]),  # type: ignore[arg-type]
        (dt.MultiWorkerMirrored(master_port=0), ["DT408"]),
        (dt.Command(on="some"), ["DT407"]),  # type: ignore[arg-type]
    ],
)
def test_findings(value: dt.Distribution, rules: list[str]) -> None:
    instances = TRN1 if isinstance(value, dt.Xla) else P5
    findings = list(value.findings(instances, known=known))
    assert [finding.rule for finding in findings] == rules
    assert all(finding.prop.startswith("distribution.") for finding in findings)


def test_a_machine_without_neuron_cores_is_warned_of() -> None:
    (finding,) = dt.Xla().findings(P5, known=known)
    assert (finding.rule, finding.severity) == ("DT409", Severity.WARNING)
    assert list(dt.Xla().findings(Instances("ml.trn9.48xlarge"), known=known)) == []


def test_tokens_are_not_judged() -> None:
    number, word = cdk.Token.as_number({"Ref": "Number"}), cdk.Token.as_string({"Ref": "Word"})
    anywhere = Instances(word)
    for value in (
        dt.Processes(process_count_per_node=number, master_port=number),
        dt.Xla(process_count_per_node=number, max_restarts=number, compile_cache=word, backend="neuron"),
        dt.Xla(backend=word, agent=word, precompile="no"),  # type: ignore[arg-type]
        dt.Xla(process_count_per_node=number, spmd=True),
        dt.ParameterServer(chief_task=word, servers=word, master_port=number),  # type: ignore[arg-type]
        dt.MultiWorkerMirrored(master_port=number),
        dt.Command(on=word),  # type: ignore[arg-type]
    ):
        assert list(value.findings(anywhere, known=known)) == []
