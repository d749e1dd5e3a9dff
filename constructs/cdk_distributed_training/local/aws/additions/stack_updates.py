"""moto answers the second deployment of a stack of the CDK with HTTP 500.

The CDK's bootstrap version is a parameter that is never passed, and the CLI asks to keep its previous value, which
moto's own books do not have. Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

from typing import Any

from moto.cloudformation.models import CloudFormationBackend


def install() -> None:
    """Leave out parameters whose previous value was the default."""
    resolve = CloudFormationBackend._resolve_update_parameters

    def known_only(self: CloudFormationBackend, instance: Any, incoming_params: list[dict[str, Any]]) -> Any:
        known = [
            parameter
            for parameter in incoming_params
            if not parameter.get("UsePreviousValue") or parameter["ParameterKey"] in instance.parameters
        ]
        return resolve(self, instance, known)

    CloudFormationBackend._resolve_update_parameters = known_only
