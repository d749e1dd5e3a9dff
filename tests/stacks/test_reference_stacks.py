"""Whole templates of the three reference stacks, and what scanners say of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.extensions.json import JSONSnapshotExtension
from tests.job.resolved import request_of
from tests.request.create_training_job_model import problems
from tests.stacks.reference_stacks import ALL, synthesize

ROOT = Path(__file__).parents[2]
FLAGS = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]


@pytest.fixture(scope="module", params=ALL)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def assembly(name, tmp_path_factory):
    return synthesize(ALL[name], tmp_path_factory.mktemp(name))


@pytest.fixture(scope="module")
def template(assembly):
    return assembly.stacks[0].template


def masked(value):
    """Without the hashes of assets, which change with every line of the launcher."""
    return json.loads(re.sub(r"[0-9a-f]{64}", "<hash>", json.dumps(value)))


def test_template(name, template, snapshot):
    assert masked(template) == snapshot(extension_class=JSONSnapshotExtension, name=name)


def test_synthesis_gives_equal_bytes(name, assembly, tmp_path):
    again = synthesize(ALL[name], tmp_path)
    file = assembly.stacks[0].template_file
    assert (tmp_path / file).read_bytes() == (Path(assembly.directory) / file).read_bytes()
    metadata = assembly.stacks[0].manifest.additional_metadata_file
    assert request_of(again, again.stacks[0].stack_name) == request_of(assembly, assembly.stacks[0].stack_name)
    assert (tmp_path / metadata).exists()


def test_the_request_is_valid(assembly):
    request = request_of(assembly, assembly.stacks[0].stack_name)
    assert problems({**request, "TrainingJobName": "reference-0123abcd"}) == []


def test_cfn_lint_finds_nothing(assembly):
    ignored = [
        "W3005",  # CDK's own dependencies on what is referred to anyway
        "W3010",  # the zone is named on purpose
        "W3045",  # CDK's way to let S3 write access logs without feature flags
    ]
    executable = Path(sys.executable).parent / "cfn-lint"
    done = subprocess.run(
        [executable, "--ignore-checks", *ignored, "--", assembly.stacks[0].template_full_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_state_machines_are_referred_to_by_ref(template):
    # Ref is the ARN too, and local emulations know nothing else
    machines = [r for r, resource in template["Resources"].items() if "StepFunctions" in resource["Type"]]
    text = json.dumps(template["Resources"])
    assert len(machines) == 2
    assert not [machine for machine in machines if f'["{machine}", "Arn"]' in text]


def test_with_all_feature_flags(name, tmp_path):
    flags = {flag: value for flag, value in FLAGS.items() if flag.startswith("@")}
    template = synthesize(ALL[name], tmp_path, **flags).stacks[0].template
    machines = [r for r in template["Resources"].values() if r["Type"] == "AWS::StepFunctions::StateMachine"]
    assert len(machines) == 2
