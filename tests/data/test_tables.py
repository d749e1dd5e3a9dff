"""The tables of facts."""

import datetime
import json
from importlib import resources

import pytest

from cdk_distributed_training.data import tables


@pytest.mark.parametrize(
    "name",
    [
        "instance_types.json",
        "images.json",
        "image_accounts.json",
        "hyperpod_instance_types.json",
        "replacing_properties.json",
    ],
)
def test_each_file_states_source_and_date(name):
    table = json.loads(resources.files("cdk_distributed_training.data").joinpath(name).read_text(encoding="utf-8"))
    assert table["retrieved"] >= "2026"
    assert table.get("source") or table.get("sources")


def test_instance_types():
    p5 = tables.instance_types()["ml.p5.48xlarge"]
    assert (p5.accelerator, p5.gpu_count, p5.efa_interfaces, p5.local_nvme_gb) == ("gpu", 8, 32, 30400)
    assert tables.instance_types()["ml.trn1.32xlarge"].accelerator == "neuron"
    assert tables.instance_types()["ml.c7i.2xlarge"].accelerator == "cpu"
    assert len(tables.instance_type_names()) == 225


def test_images():
    images = tables.deep_learning_containers()
    assert len({(image.repository, image.tag) for image in images}) == len(images)
    for image in images:
        assert image.tag.startswith(image.version)
        assert image.accelerator in ("cpu", "gpu", "neuron")
        if image.end_of_patch:
            assert datetime.date.fromisoformat(image.end_of_patch) > datetime.date.fromisoformat(
                image.general_availability
            )


def test_accounts():
    accounts = tables.image_accounts()
    assert accounts["us-east-1"] == "763104351884"
    assert all(len(account) == 12 and account.isdigit() for account in accounts.values())
