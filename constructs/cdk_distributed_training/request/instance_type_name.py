"""The two spellings of an instance type."""

from __future__ import annotations


def instance_type_name(given: str) -> str:
    """SageMaker's name: `ml.p5.48xlarge` for `p5.48xlarge`; a CDK token stays as it is."""
    if isinstance(given, str) and not given.startswith(("ml.", "${")):
        return f"ml.{given}"
    return given
