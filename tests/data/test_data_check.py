"""`make data-check` tells what has changed elsewhere."""

import importlib
import json
import sys
import zipfile
from pathlib import Path

import pytest

from cdk_distributed_training.data import tables

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
data_check = importlib.import_module("data_check")

MODEL_PARALLEL = tables.model_parallel_containers()
ACCOUNTS = dict(tables.image_accounts())


@pytest.fixture
def wheel(tmp_path):
    """A wheel that says what our tables say, with changes to its files."""

    def make(**changes):
        accounts = changes.get("accounts", ACCOUNTS)
        files = {
            "pytorch": {
                "training": {"versions": {version: {"registries": accounts} for version in ("2.9.0", "2.10.0")}}
            },
            "pytorch-smp": {
                "training": {
                    "versions": {
                        "2.10.0": {"registries": dict.fromkeys(MODEL_PARALLEL.regions, MODEL_PARALLEL.account)},
                        "2.9.0": {"registries": {}},
                    },
                    "version_aliases": changes.get("aliases", dict.fromkeys(MODEL_PARALLEL.tags, "2.10.0")),
                }
            },
            "instance_gpu_info": {"us-east-1": changes.get("gpus", {})},
        }
        path = tmp_path / "sagemaker_core-1.0.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as file:
            for name, content in files.items():
                file.writestr(f"sagemaker/core/image_uri_config/{name}.json", json.dumps(content))
        return path

    return make


def differences(path):
    return [*data_check.images(path), *data_check.model_parallel_images(path), *data_check.gpus(path)]


def test_nothing_has_changed(wheel):
    p5 = {"ml.p5.48xlarge": {"Count": 8, "TotalGpuMemoryInMiB": 655360}}
    assert differences(wheel(gpus=p5)) == []
    assert [text for kind, text in data_check.replacements() if kind == "wrong"] == []


def test_what_has_changed(wheel):
    accounts = {**ACCOUNTS, "us-east-1": "111111111111", "moon-east-1": "222222222222"}
    del accounts["us-west-2"]
    aliases = {**dict.fromkeys(list(MODEL_PARALLEL.tags)[1:], "2.10.0"), "9.9.9": "2.10.0"}
    gpus = {"ml.p5.48xlarge": {"Count": 4, "TotalGpuMemoryInMiB": 327680}}
    assert sorted(differences(wheel(accounts=accounts, aliases=aliases, gpus=gpus))) == [
        ("new", "account of images in moon-east-1: 222222222222"),
        ("new", "model parallel image for PyTorch 9.9.9"),
        ("wrong", "account of images in us-east-1 is 111111111111, not 763104351884"),
        ("wrong", "account of images in us-west-2 is gone"),
        ("wrong", "ml.p5.48xlarge has 327680 MiB of GPU memory, not 655360"),
        ("wrong", "ml.p5.48xlarge has 4 GPUs, not 8"),
        ("wrong", f"model parallel images for PyTorch {next(iter(MODEL_PARALLEL.tags))} are gone"),
    ]
