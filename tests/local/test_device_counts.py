"""What `auto` is on the machines of a job, which are not this one."""

import pytest

from cdk_distributed_training.local.device_counts import automatic_processes, counted_for


@pytest.mark.parametrize(
    ("instance_type", "environment", "processes"),
    [
        ("ml.p5.48xlarge", {}, 8),
        ("ml.g5.12xlarge", {}, 4),
        ("ml.c5.xlarge", {}, 1),
        ("ml.trn1.32xlarge", {}, 32),
        ("ml.trn2.48xlarge", {}, 64),
        ("ml.trn2.48xlarge", {"NEURON_LOGICAL_NC_CONFIG": "1"}, 128),
        ("ml.trn2.48xlarge", {"NEURON_LOGICAL_NC_CONFIG": "${Token[TOKEN.7]}"}, 64),
        ("ml.unheard-of.xlarge", {}, None),
    ],
)
def test_automatic_processes(instance_type: str, environment: dict[str, str], processes: int | None) -> None:
    assert automatic_processes(instance_type, environment) == processes


def test_only_the_launchers_own_auto_is_counted() -> None:
    words = ["torchrun", "--nproc-per-node", "auto", "--", "train.py", "--nproc-per-node", "auto"]
    assert counted_for(words, "ml.p5.48xlarge", {}) == [*words[:2], "8", *words[3:]]
    assert counted_for(words, "ml.unheard-of.xlarge", {}) == words
    assert counted_for(["torchrun", "--nproc-per-node", "2"], "ml.p5.48xlarge", {})[-1] == "2"
