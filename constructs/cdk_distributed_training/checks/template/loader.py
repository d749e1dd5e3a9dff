"""Reads JSON and YAML, with CloudFormation's short forms, and finds the line of any member again."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

from cdk_distributed_training.checks.template.errors import UnreadableFileError
from cdk_distributed_training.checks.template.json_position import JsonPositions
from cdk_distributed_training.checks.template.source import Source

# large enough for any template (CloudFormation takes 1 MB), small enough to notice a wrong file
_MOST_BYTES = 50_000_000


def load(path: FilePath) -> Source:
    """Read a file.

    Raises:
        UnreadableFileError: It cannot be read, is no text, or is neither JSON nor YAML; the message says where.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableFileError(f"{path}: larger than {_MOST_BYTES:,} bytes, which no template is")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UnreadableFileError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"{path}: not text in UTF-8 (byte {error.start})") from error
    return parse(text, name=str(path))


def parse(text: str, *, name: str) -> Source:
    """Read text.

    Raises:
        UnreadableFileError: It is neither JSON nor YAML.
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return Source(name, json.loads(text), JsonPositions(text).locate)
        except json.JSONDecodeError as error:
            if name.endswith(".json"):
                message = f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}"
                raise UnreadableFileError(message) from error
            # YAML's flow style begins like JSON
        except RecursionError as error:
            raise UnreadableFileError(f"{name}: nested too deeply") from error
    from cdk_distributed_training.checks.template import yaml_tree  # noqa: PLC0415  most files are JSON

    return yaml_tree.parse(text, name=name)
