"""The same template once more, as generic resources with dictionaries for properties: what CDK costs at the least."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import aws_cdk as cdk

from benchmarks.synth_process import finish


def build(app: cdk.App, count: int) -> None:
    del count  # the template has as many jobs as it has
    stack = cdk.Stack(app, "Jobs", env=cdk.Environment(account="111111111111", region="us-east-1"))
    template = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
    for name, resource in template["Resources"].items():
        cdk.CfnResource(stack, name, type=resource["Type"], properties=resource["Properties"])


if __name__ == "__main__":
    finish(build, count=int(sys.argv[1]), folder=sys.argv[2])
