"""The function that takes the rules of a default security group away, against a stand-in for the EC2 client."""

import json
import os
import subprocess
from importlib.resources import files

import pytest

HANDLER = files("cdk_distributed_training.network") / "close_default_security_group" / "index.js"

# Writes what it is asked to do; fails with the error that the environment names.
CLIENT = """
exports.EC2 = class {
  constructor() {
    for (const action of ["revokeSecurityGroupIngress", "revokeSecurityGroupEgress",
                          "authorizeSecurityGroupIngress", "authorizeSecurityGroupEgress"]) {
      this[action] = async (request) => {
        console.log(JSON.stringify([action, request]));
        if (process.env.ERROR) throw Object.assign(new Error("no"), { name: process.env.ERROR });
      };
    }
  }
};
"""


@pytest.fixture
def handle(tmp_path):
    client = tmp_path / "node_modules" / "@aws-sdk" / "client-ec2"
    client.mkdir(parents=True)
    (client / "index.js").write_text(CLIENT)
    (tmp_path / "index.js").write_text(HANDLER.read_text())

    def call(request_type: str, error: str = "") -> subprocess.CompletedProcess:
        event = {"RequestType": request_type, "ResourceProperties": {"SecurityGroupId": "sg-1"}}
        script = f"require('./index.js').handler({json.dumps(event)}).then((r) => console.log(JSON.stringify(r)))"
        return subprocess.run(
            ["node", "-e", script],
            cwd=tmp_path,
            env={"ERROR": error, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


def actions(done: subprocess.CompletedProcess) -> list[str]:
    return [line[0] for line in map(json.loads, done.stdout.splitlines()) if isinstance(line, list)]


@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_both_rules_go(handle, request_type):
    done = handle(request_type)
    assert actions(done) == ["revokeSecurityGroupIngress", "revokeSecurityGroupEgress"]
    ingress, egress, result = map(json.loads, done.stdout.splitlines())
    assert ingress[1] == {
        "GroupId": "sg-1",
        "IpPermissions": [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": "sg-1"}]}],
    }
    assert egress[1]["IpPermissions"] == [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    assert result == {"PhysicalResourceId": "sg-1"}


def test_both_rules_come_back(handle):
    assert actions(handle("Delete")) == ["authorizeSecurityGroupIngress", "authorizeSecurityGroupEgress"]


@pytest.mark.parametrize(
    ("request_type", "error"), [("Create", "InvalidPermission.NotFound"), ("Delete", "InvalidPermission.Duplicate")]
)
def test_what_is_done_already_is_no_failure(handle, request_type, error):
    done = handle(request_type, error)
    assert done.returncode == 0, done.stderr
    assert len(actions(done)) == 2


def test_any_other_failure_is_reported(handle):
    done = handle("Create", "UnauthorizedOperation")
    assert done.returncode != 0
    assert "UnauthorizedOperation" in done.stderr
