"""What constructs say at synthesis without stopping it: warnings, and answers to what scanners report."""

from __future__ import annotations

from collections.abc import Iterable

import aws_cdk as cdk
from constructs import IConstruct

from cdk_distributed_training.checks.findings import Finding, Severity


def annotate_warnings(scope: IConstruct, findings: Iterable[Finding]) -> None:
    """Attach every finding that is not an error to `scope`.

    Acknowledge one with `cdk.Annotations.of(construct).acknowledge_warning("cdk-distributed-training:DT109")`.
    """
    annotations = cdk.Annotations.of(scope)
    for finding in findings:
        if finding.severity is Severity.WARNING:
            annotations.add_warning_v2(f"cdk-distributed-training:{finding.rule}", str(finding))
        elif finding.severity is Severity.INFORMATION:
            annotations.add_info_v2(f"cdk-distributed-training:{finding.rule}", str(finding))


def acknowledge(construct: IConstruct, *ids: str, reason: str) -> None:
    """Answer findings of policy validation on one construct, with the reason that an auditor reads in the report.

    Args:
        construct: The construct that is reported; nothing else is acknowledged.
        ids: The findings, such as `PCI.DSS.321::PCI.DSS.321-EC2RestrictedCommonPorts`.
        reason: Why they do not apply.
    """
    validations = cdk.Validations.of(construct)
    for id in ids:
        validations.acknowledge(cdk.Acknowledgment(id=id, reason=reason))
