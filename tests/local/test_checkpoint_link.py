"""Checkpoints at a place of the user's choice, on both kinds of hosts."""

import sys

import pytest

from cdk_distributed_training.local.checkpoint_link import link_checkpoints
from cdk_distributed_training.local.errors import LocalModeError
from cdk_distributed_training.local.hosts import LoopbackHosts, NamespaceHosts

WRITE = "import pathlib, sys; pathlib.Path(sys.argv[1], 'state').write_text('saved')"


def request(path):
    return {"CheckpointConfig": {"S3Uri": "s3://bucket/checkpoints", **({"LocalPath": path} if path else {})}}


@pytest.mark.parametrize("path", ["/opt/ml/state", "/opt/ml/deep/er/state", "/tmp/state", "/opt/ml/checkpoints"])
def test_files_land_where_checkpoints_are_kept(tmp_path, path):
    with NamespaceHosts(["algo-1"], tmp_path, "link") as hosts:
        link_checkpoints(request(path), hosts)
        process = hosts.start("algo-1", [sys.executable, "-c", WRITE, path], {})
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0, said
        assert (hosts.opt_ml("algo-1") / "checkpoints" / "state").read_text() == "saved"


def test_loopback_hosts_have_their_own_opt_ml_only(tmp_path):
    with LoopbackHosts(["algo-1"], tmp_path, "link") as hosts:
        link_checkpoints(request("/opt/ml/state"), hosts)
        (hosts.opt_ml("algo-1") / "state" / "one").write_text("saved")
        assert (hosts.opt_ml("algo-1") / "checkpoints" / "one").read_text() == "saved"
        with pytest.raises(
            LocalModeError, match=r"LocalPath is /tmp/state: on hosts of the kind loopback.*at /opt/ml,"
        ):
            link_checkpoints(request("/tmp/state"), hosts)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/mnt/state", r"at /opt/ml and /tmp, not inside of each other"),
        ("/opt/ml/checkpoints/inner", "not inside of each other"),
        ("/opt/ml/model", "a folder of another purpose"),
    ],
)
def test_other_places_are_refused(tmp_path, path, problem):
    with NamespaceHosts(["algo-1"], tmp_path, "link") as hosts, pytest.raises(LocalModeError, match=problem):
        link_checkpoints(request(path), hosts)


def test_nothing_is_linked_without_a_choice(tmp_path):
    with LoopbackHosts(["algo-1"], tmp_path, "link") as hosts:
        before = sorted(hosts.opt_ml("algo-1").iterdir())
        link_checkpoints(request(""), hosts)
        link_checkpoints({}, hosts)
        assert sorted(hosts.opt_ml("algo-1").iterdir()) == before
