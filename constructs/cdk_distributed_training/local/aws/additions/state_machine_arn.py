"""moto's CloudFormation refuses `Fn::GetAtt [StateMachine, Arn]`, which AWS answers like `Ref`.

Good for everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

from typing import Any

from moto.stepfunctions.models import StateMachine


def install() -> None:
    """Answer for the ARN."""
    has, get = StateMachine.has_cfn_attr, StateMachine.get_cfn_attribute

    def has_too(cls: type[StateMachine], attr: str) -> bool:
        del cls
        return attr == "Arn" or has(attr)

    def get_too(self: StateMachine, attribute_name: str) -> Any:
        return self.arn if attribute_name == "Arn" else get(self, attribute_name)

    StateMachine.has_cfn_attr = classmethod(has_too)
    StateMachine.get_cfn_attribute = get_too
