"""`make data-check`: the tables in `data/`, against botocore's models and, if installed, sagemaker-core's files.

Prints every difference; exits with 1 if a fact of ours is no longer true. What is only new elsewhere is no fault.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import botocore.session

sys.path.insert(0, str(Path(__file__).parent))
import make_request_model

from cdk_distributed_training.data.tables import (
    create_training_job_model,
    deep_learning_containers,
    hyperpod_instance_types,
    image_accounts,
    instance_type_names,
)

Difference = tuple[str, str]  # kind, "new" or "wrong", and what


def instance_types() -> Iterator[Difference]:
    """Names of instance types, against the API's."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    theirs = set(model.shape_for("TrainingInstanceType").enum)
    yield from (("new", f"instance type {name}") for name in sorted(theirs - instance_type_names()))
    yield from (("wrong", f"instance type {name} is gone") for name in sorted(instance_type_names() - theirs))
    clusters = set(model.shape_for("ClusterInstanceType").enum)
    ours = hyperpod_instance_types()
    yield from (("new", f"HyperPod instance type {name}") for name in sorted(clusters - ours))
    yield from (("wrong", f"HyperPod instance type {name} is gone") for name in sorted(ours - clusters))


def request_model() -> Iterator[Difference]:
    """The request's model, against botocore's."""
    yield from _differences(create_training_job_model(), make_request_model.model(), "request")


def _differences(ours: Any, theirs: Any, place: str) -> Iterator[Difference]:
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        yield from (("new", f"{place}.{key}") for key in theirs if key not in ours)
        for key, value in ours.items():
            if key in theirs:
                yield from _differences(value, theirs[key], f"{place}.{key}")
            else:
                yield "wrong", f"{place}.{key} is gone"
    elif isinstance(ours, list) and isinstance(theirs, list):
        yield from (("new", f"{place}: {item}") for item in theirs if item not in ours)
        yield from (("wrong", f"{place}: {item} is gone") for item in ours if item not in theirs)
    elif ours != theirs:
        yield "wrong", f"{place} is {theirs!r}, not {ours!r}"


def images() -> Iterator[Difference]:
    """Accounts and versions of images, against what the SageMaker SDK resolves."""
    try:
        distribution = importlib.metadata.distribution("sagemaker-core")
    except importlib.metadata.PackageNotFoundError:
        print("sagemaker-core is not installed: images are not compared")
        return
    # read from the wheel's files: importing the package takes many seconds
    path = Path(str(distribution.locate_file("sagemaker/core/image_uri_config/pytorch.json")))
    versions = json.loads(path.read_text())["training"]["versions"]
    accounts: dict[str, str] = {}
    for table in versions.values():
        accounts |= table["registries"]
    for region, account in sorted(accounts.items()):
        known = image_accounts().get(region)
        if known is None:
            yield "new", f"images in {region}, account {account}"
        elif known != account:
            yield "wrong", f"images in {region} are in account {account}, not {known}"
    ours = {row.version for row in deep_learning_containers() if row.framework == "PyTorch"}
    yield from (("new", f"PyTorch image {version}") for version in versions if version not in ours)


def main() -> int:
    """Print all differences."""
    found = [*instance_types(), *request_model(), *images()]
    for kind, text in found:
        print(f"{kind:5} {text}")
    wrong = sum(kind == "wrong" for kind, _ in found)
    print(f"{len(found) - wrong} new elsewhere, {wrong} no longer true here")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
