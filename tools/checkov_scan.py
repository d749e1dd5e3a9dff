"""Scans the reference stacks with checkov: `python tools/checkov_scan.py CHECKOV`, where CHECKOV is its command.

checkov brings more than a hundred packages, so it has an environment of its own and is no part of the tests: those
compare what the templates ask it to skip with `tests/stacks/checkov_skips.json`, and this sees that it skips just that
and finds nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SKIPS = ROOT / "tests" / "stacks" / "checkov_skips.json"


def skips(template: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What a template asks checkov to skip: by resource and check, with the reason."""
    return {
        name: {skip["id"]: skip["comment"] for skip in resource["Metadata"]["checkov"]["skip"]}
        for name, resource in template["Resources"].items()
        if "checkov" in resource.get("Metadata", {})
    }


def skips_of_reference_stacks(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """The same of each reference stack, which are synthesized into the folder."""
    sys.path.insert(0, str(ROOT))
    from tests.stacks.reference_stacks import ALL, synthesize  # noqa: PLC0415  the tests are no package

    assemblies = {name: synthesize(build, folder / name) for name, build in ALL.items()}
    return {name: skips(assembly.stacks[0].template) for name, assembly in assemblies.items()}


def scan(command: str, folder: Path) -> dict[str, Any]:
    """What checkov finds in the templates of a folder.

    Args:
        command: checkov's.
        folder: The folder; its checks' own guidelines are not fetched.
    """
    options = ["--framework", "cloudformation", "--skip-download", "--compact", "--output", "json"]
    done = subprocess.run([command, *options, "--directory", folder], capture_output=True, text=True, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def main(command: str) -> int:
    """Synthesize, scan, print; 1 if checkov finds what has no reason, or skips something else than is written down."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked = skips_of_reference_stacks(folder)
        report = scan(command, folder)
    results = report["results"]
    for row in results["failed_checks"]:
        print(row["check_id"], row["check_name"], row["file_path"], row["resource"])
    skipped = sorted((row["check_id"], row["resource"].rpartition(".")[2]) for row in results["skipped_checks"])
    expected = sorted((check, name) for stack in asked.values() for name, rows in stack.items() for check in rows)
    print(json.dumps(report["summary"]))
    print("skipped as written down" if skipped == expected else f"skipped {skipped}, asked for {expected}")
    written = json.loads(SKIPS.read_text(encoding="utf-8"))
    return int(bool(results["failed_checks"] or results["parsing_errors"]) or skipped != expected or written != asked)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
