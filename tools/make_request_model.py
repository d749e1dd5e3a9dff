"""Writes `data/create_training_job.json` from botocore's model of CreateTrainingJob; run it when botocore moves on."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import botocore
import botocore.session

TARGET = Path(__file__).parents[1] / "constructs/cdk_distributed_training/data/create_training_job.json"
_TYPES = {"integer": "integer", "long": "integer", "boolean": "boolean", "timestamp": "text", "double": "number"}


def model() -> dict[str, Any]:
    """The request's shape: members, types and limits."""
    service = botocore.session.get_session().get_service_model("sagemaker")
    return _shape(service.operation_model("CreateTrainingJob").input_shape)


def _shape(shape: Any) -> dict[str, Any]:
    found: dict[str, Any] = {key: shape.metadata[key] for key in ("min", "max") if key in shape.metadata}
    pattern = shape.metadata.get("pattern", ".*")
    # Java's character classes have no counterpart in Python, and are wide
    if "\\p{" not in pattern and pattern not in (".*", ".+", "[\\S\\s]*"):
        found["pattern"] = pattern
    match shape.type_name:
        case "structure":
            found["members"] = {name: _shape(member) for name, member in shape.members.items()}
            found["required"] = list(shape.required_members)
        case "list":
            found["items"] = _shape(shape.member)
        case "map":
            found |= {"keys": _shape(shape.key), "values": _shape(shape.value)}
        case "string":
            found["type"] = "text"
            # instance types have a table of their own
            if shape.enum and shape.name != "TrainingInstanceType":
                found["enum"] = list(shape.enum)
        case other:
            found["type"] = _TYPES[other]
    return found


if __name__ == "__main__":
    table = {
        "retrieved": datetime.date.today().isoformat()[:7],
        "source": f"botocore {botocore.__version__}, service model of SageMaker, operation CreateTrainingJob",
        "request": model(),
    }
    TARGET.write_text(json.dumps(table, separators=(",", ":")) + "\n")
