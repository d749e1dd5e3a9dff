"""What stands behind `--kill` and `--drop-link`."""

import pytest

from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.faults import DropLink, KillHost, KillRank, check_faults, parse_faults
from cdk_distributed_training.local.hosts import Choice

REAL = Choice(kind="namespaces")


def test_faults_come_in_the_order_of_their_time() -> None:
    faults = parse_faults(["algo-2@7", "algo-1:3@0.5s", "algo-1:rank2@6"], ["algo-2@5"])
    assert faults == [
        KillRank(host="algo-1", seconds=0.5, rank=3),
        DropLink(host="algo-2", seconds=5.0),
        KillRank(host="algo-1", seconds=6.0, rank=2),
        KillHost(host="algo-2", seconds=7.0),
    ]


@pytest.mark.parametrize("item", ["algo-2", "algo-2@", "@5", "algo-2:@5", "algo-2:x@5", "algo-2@-1", "algo-2@5m", ""])
def test_another_form_is_refused_with_an_example(item: str) -> None:
    with pytest.raises(LocalModeError, match="for example --kill algo-2:3@5"):
        parse_faults([item], [])
    with pytest.raises(LocalModeError, match="for example --drop-link algo-2@5"):
        parse_faults([], [item])


def test_a_rank_has_no_link() -> None:
    with pytest.raises(LocalModeError, match="a link belongs to a host"):
        parse_faults([], ["algo-2:1@5"])


def test_a_host_that_the_job_does_not_have() -> None:
    with pytest.raises(LocalModeError, match="cannot kill algo-9: the job's hosts are algo-1, algo-2"):
        check_faults(parse_faults(["algo-9@1"], []), ["algo-1", "algo-2"], REAL)
    check_faults(parse_faults(["algo-2@1"], []), ["algo-1", "algo-2"], REAL)


def test_hosts_that_share_a_network_have_no_faults() -> None:
    faults = parse_faults([], ["algo-2@1"])
    with pytest.raises(LocalModeError, match=r"--hosts namespaces.*: no rights"):
        check_faults(faults, ["algo-2"], Choice(kind="loopback", reason="no rights"))
    with pytest.raises(LocalModeError, match="--hosts loopback was asked for"):
        check_faults(faults, ["algo-2"], Choice(kind="loopback"))
    check_faults([], ["algo-2"], Choice(kind="loopback"))
