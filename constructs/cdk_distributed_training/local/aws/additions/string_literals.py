r"""moto keeps string literals of `Assign` with their JSON escapes, and writes strings into expressions without any.

The two errors undo each other for a string, and do harm within an object: `it's "quoted"` would arrive as
`it's \"quoted\"`. Here literals are what they say, and are escaped where they become part of an expression. Good for
everybody who uses moto: written so that it could go upstream.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from moto.stepfunctions.parser.asl.component.common.assign import assign_template_value_terminal as literals
from moto.stepfunctions.parser.asl.eval import states, variable_store
from moto.stepfunctions.parser.asl.utils.encoding import to_json_str


def install() -> None:
    """Unescape literals, escape variables."""
    keep = literals.AssignTemplateValueTerminalLit.__init__

    def unescaped(self: literals.AssignTemplateValueTerminalLit, value: Any) -> None:
        keep(self, json.loads(f'"{value}"') if isinstance(value, str) else value)

    literals.AssignTemplateValueTerminalLit.__init__ = unescaped
    for user in (states, variable_store):
        user.encode_jsonata_variable_declarations = declarations


def declarations(bindings: Mapping[str, Any]) -> str:
    """JSONata that declares variables."""
    return "".join(f"{name}:={to_json_str(value, separators=(',', ':'))};" for name, value in bindings.items())
