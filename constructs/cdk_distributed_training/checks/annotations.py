"""Says the findings that do not stop synthesis, as CDK annotations that can be acknowledged."""

from __future__ import annotations

from collections.abc import Iterable

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.checks.findings import Finding, Severity


def annotate_warnings(scope: IConstruct, findings: Iterable[Finding]) -> None:
    """Attach every finding that is not an error to `scope`.

    Acknowledge one with `cdk.Annotations.of(construct).acknowledge_warning("cdk-distributed-training:DT109")`.
    """
    for finding in findings:
        annotations = cdk.Annotations.of(scope)
        if finding.severity is Severity.WARNING:
            annotations.add_warning_v2(f"cdk-distributed-training:{finding.rule}", str(finding))
        elif finding.severity is Severity.INFORMATION:
            annotations.add_info_v2(f"cdk-distributed-training:{finding.rule}", str(finding))
