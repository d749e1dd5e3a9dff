"""What makes CloudFormation replace a resource, as the CDK command line and cfn-lint bring it along.

`python tools/replacing_properties.py` prints it for the types of `data/replacing_properties.json`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from cdk_distributed_training.data.tables import replacing_properties

_CLI = Path(__file__).parents[1] / "node_modules" / "aws-cdk" / "db.json.gz"
_REGION = "us-east-1"


def by_specification(names: Iterator[str] | list[str]) -> dict[str, set[str]]:
    """Properties whose `Update requires` is `Replacement`, by resource type, from the CDK command line's database."""
    database = json.loads(gzip.decompress(_CLI.read_bytes()))["schema"]
    definitions = {row["$id"]: row for row in database["typeDefinition"]["entities"]}
    resources = {row["cloudFormationType"]: row for row in database["resource"]["entities"]}
    return {name: set(_replacing(resources[name]["properties"], definitions)) for name in names}


def by_registry(names: Iterator[str] | list[str]) -> dict[str, set[str]]:
    """Properties of the first level that cannot be updated, by resource type, from cfn-lint's registry schemas."""
    schemas = {name: PROVIDER_SCHEMA_MANAGER.get_resource_schema(_REGION, name).schema for name in names}
    return {
        name: {path.removeprefix("/properties/") for path in schema.get("createOnlyProperties") or ()}
        for name, schema in schemas.items()
    }


def _replacing(properties: Mapping[str, Any], definitions: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, row in properties.items():
        if row.get("causesReplacement") == "yes":
            yield prefix + name
        inner = row["type"].get("reference", {}).get("$ref") if row["type"]["type"] == "ref" else None
        if inner in definitions and not prefix:
            yield from _replacing(definitions[inner]["properties"], definitions, f"{name}.")


if __name__ == "__main__":
    names = list(replacing_properties())
    specified, registered = by_specification(names), by_registry(names)
    for name in names:
        print(name, "both:", sorted(specified[name] & registered[name]))
        print("  specification only:", sorted(specified[name] - registered[name]))
        print("  registry only:", sorted(registered[name] - specified[name]))
