"""Torchrun as a command line, and what it refuses."""

import aws_cdk as cdk
import pytest

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.distribution.torchrun import Torchrun
from cdk_distributed_training.request.instances import Instances
from cdk_distributed_training.tokens import known

P5 = Instances("ml.p5.48xlarge", count=2)


@pytest.mark.parametrize(
    ("torchrun", "arguments"),
    [
        (Torchrun(), ["torchrun", "--nproc-per-node", "auto"]),
        (Torchrun(process_count_per_node=8), ["torchrun", "--nproc-per-node", 8]),
        (Torchrun(max_restarts=3), ["torchrun", "--nproc-per-node", "auto", "--max-restarts", 3]),
        (Torchrun(rdzv_backend="c10d"), ["torchrun", "--nproc-per-node", "auto", "--rdzv-backend", "c10d"]),
    ],
)
def test_command_line(torchrun, arguments):
    assert torchrun.launcher_arguments() == arguments
    assert list(torchrun.findings(P5, known=known)) == []


@pytest.mark.parametrize(
    ("torchrun", "rule"),
    [
        (Torchrun(process_count_per_node=0), "DT403"),
        (Torchrun(process_count_per_node=True), "DT403"),
        (Torchrun(process_count_per_node=2.0), "DT403"),
        (Torchrun(process_count_per_node="8"), "DT403"),
        (Torchrun(process_count_per_node=9), "DT404"),
        (Torchrun(max_restarts=-1), "DT405"),
        (Torchrun(rdzv_backend="etcd"), "DT406"),
    ],
)
def test_findings(torchrun, rule):
    (finding,) = torchrun.findings(P5, known=known)
    assert finding.rule == rule
    assert (finding.severity is Severity.WARNING) == (rule == "DT404")


@pytest.mark.parametrize("instance_type", ["ml.c7i.xlarge", "ml.p99.48xlarge", cdk.Token.as_string({"Ref": "Type"})])
def test_processes_are_not_counted_against_unknown_accelerators(instance_type):
    assert list(Torchrun(process_count_per_node=64).findings(Instances(instance_type), known=known)) == []


def test_tokens_are_not_judged():
    number = cdk.Token.as_number({"Ref": "Number"})
    assert list(Torchrun(process_count_per_node=number, max_restarts=number).findings(P5, known=known)) == []


def test_trainium_counts_cores():
    (finding,) = Torchrun(process_count_per_node=33).findings(Instances("ml.trn1.32xlarge"), known=known)
    assert finding.allowed.startswith("at most 32,")
