"""Templates of the synth benchmark: what the hand-written app takes from ours, and whether both are equal."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

Template = dict[str, Any]


def load(folder: Path) -> Template:
    template: Template = json.loads((folder / "Jobs.template.json").read_text(encoding="utf-8"))
    return template


def texts_of_jobs(template: Template) -> list[dict[str, str]]:
    """What a person would write out for each job: definitions, names and words, with marks for the stack's values."""
    jobs: dict[int, dict[str, str]] = {}
    for name, resource in template["Resources"].items():
        found = re.match(r"Job(\d+)(\w+?)[0-9A-F]{8}$", name)
        if found is None:
            continue  # the network's
        number, part = int(found[1]), found[2]
        job = jobs.setdefault(number, {})
        if part in ("StateMachineJob", "StateMachineStop"):
            kind = "run" if part.endswith("Job") else "stop"
            job[kind] = _marked(resource["Properties"]["DefinitionString"])
        elif part in ("Output", "StateMachineLogGroup"):
            job["output" if part == "Output" else "log"] = json.dumps(resource["Metadata"]["checkov"])
        if part == "StateMachineLogGroup":
            job["log_group_name"] = resource["Properties"]["LogGroupName"]["Fn::Join"][1][0]
    return [jobs[number] for number in sorted(jobs)]


def _marked(value: Any) -> str:  # noqa: PLR0911  one line for each mark
    match value:
        case str():
            return value
        case {"Fn::Join": ["", parts]}:
            return "".join(map(_marked, parts))
        case {"Ref": "AWS::Partition"}:
            return "@@partition@@"
        case {"Ref": "AWS::URLSuffix"}:
            return "@@suffix@@"
        case {"Ref": str(name)}:
            return "@@subnet@@" if name.startswith("Vpc") else "@@bucket@@"
        case {"Fn::GetAtt": [str(), "GroupId"]}:
            return "@@group@@"
        case {"Fn::GetAtt": [str(), "Arn"]}:
            return "@@role@@"
    raise ValueError(f"a value that no mark stands for: {value}")


def comparable(template: Template) -> str:
    """The resources with names that do not depend on construct paths."""
    numbers: Counter[str] = Counter()
    names = {}
    for name, resource in template["Resources"].items():
        numbers[resource["Type"]] += 1
        names[name] = f"{resource['Type']} {numbers[resource['Type']]}"
    text = json.dumps({names[name]: resource for name, resource in template["Resources"].items()}, sort_keys=True)
    return re.sub(r"\b(" + "|".join(names) + r")\b", lambda found: names[found[1]], text)
