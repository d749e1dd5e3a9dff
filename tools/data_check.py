"""`make data-check`: the tables in `data/`, against botocore, CloudFormation's schemas and sagemaker-core's files.

Prints every difference; exits with 1 if a fact of ours is no longer true. What is only new elsewhere is no fault.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import botocore.session

sys.path.insert(0, str(Path(__file__).parent))
import make_request_model
import replacing_properties as replacing
import sagemaker_core

from cdk_distributed_training.data.tables import (
    create_training_job_model,
    deep_learning_containers,
    hyperpod_instance_types,
    image_accounts,
    instance_type_names,
    instance_types,
    model_parallel_containers,
    replacing_properties,
)

_BUILD = Path(__file__).parents[1] / "build" / "data-check"
_TOLERANCE = 0.08

Difference = tuple[str, str]  # kind, "new" or "wrong", and what


def instance_names() -> Iterator[Difference]:
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


def images(wheel: Path) -> Iterator[Difference]:
    """Accounts and versions of images, against what the SageMaker SDK resolves."""
    versions = sagemaker_core.read(wheel, "pytorch")["training"]["versions"]
    accounts: dict[str, str] = {}
    for table in versions.values():
        accounts |= table["registries"]
    yield from _entries(image_accounts(), accounts, "account of images in")
    ours = {row.version for row in deep_learning_containers() if row.framework == "PyTorch"}
    newest = max(map(_version, ours))
    yield from (
        ("new", f"PyTorch image {version}")
        for version in versions
        if version not in ours and _version(version) > newest
    )


def model_parallel_images(wheel: Path) -> Iterator[Difference]:
    """Images with the model parallel library, against the SageMaker SDK."""
    ours, theirs = model_parallel_containers(), sagemaker_core.read(wheel, "pytorch-smp")["training"]
    newest = theirs["versions"][max(theirs["versions"], key=_version)]
    expected = dict.fromkeys(ours.regions, ours.account)
    yield from _entries(expected, newest["registries"], "account of model parallel images in")
    # the SDK's versions are those of the library, with PyTorch's as aliases
    for version in ours.tags:
        if version not in theirs["version_aliases"]:
            yield "wrong", f"model parallel images for PyTorch {version} are gone"
    later = [version for version in theirs["version_aliases"] if _version(version) > max(map(_version, ours.tags))]
    yield from (("new", f"model parallel image for PyTorch {version}") for version in later)


def gpus(wheel: Path) -> Iterator[Difference]:
    """GPUs and their memory, against the SageMaker SDK's table of machines."""
    theirs = {
        name: row for region in sagemaker_core.read(wheel, "instance_gpu_info").values() for name, row in region.items()
    }
    for name, machine in sorted(instance_types().items()):
        row = theirs.get(name)
        if row is None:
            continue
        if row["Count"] != machine.gpu_count:
            yield "wrong", f"{name} has {row['Count']} GPUs, not {machine.gpu_count}"
        ours = machine.gpu_count * machine.gpu_memory_mib
        # sizes on the label and usable ones differ by a few percent
        if abs(row["TotalGpuMemoryInMiB"] - ours) > _TOLERANCE * row["TotalGpuMemoryInMiB"]:
            yield "wrong", f"{name} has {row['TotalGpuMemoryInMiB']} MiB of GPU memory, not {ours}"


def replacements() -> Iterator[Difference]:
    """What replaces a resource, against CloudFormation's specification and the registry."""
    names = list(replacing_properties())
    specified, registered = replacing.by_specification(names), replacing.by_registry(names)
    for name, row in replacing_properties().items():
        first = {prop for prop in row.always if "." not in prop}
        yield from (("new", f"{name} is replaced by {prop}") for prop in sorted(registered[name] - first))
        for prop in sorted((first - registered[name]) | (set(row.always) - specified[name])):
            yield "wrong", f"{name} is not replaced by {prop}"


def _entries(ours: Mapping[str, str], theirs: Mapping[str, str], what: str) -> Iterator[Difference]:
    for key, value in sorted(theirs.items()):
        if key not in ours:
            yield "new", f"{what} {key}: {value}"
        elif ours[key] != value:
            yield "wrong", f"{what} {key} is {value}, not {ours[key]}"
    yield from (("wrong", f"{what} {key} is gone") for key in sorted(ours.keys() - theirs.keys()))


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def main() -> int:
    """Print all differences."""
    found = [*instance_names(), *request_model(), *replacements()]
    wheel = sagemaker_core.wheel(_BUILD)
    if wheel is not None:
        print(f"compared with {wheel.name}")
        found += [*images(wheel), *model_parallel_images(wheel), *gpus(wheel)]
    for kind, text in found:
        print(f"{kind:5} {text}")
    wrong = sum(kind == "wrong" for kind, _ in found)
    print(f"{len(found) - wrong} new elsewhere, {wrong} no longer true here")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
