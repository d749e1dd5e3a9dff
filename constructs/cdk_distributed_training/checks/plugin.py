"""The checks as a plug-in of CDK's own validation: one line in anyone's app."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import aws_cdk as cdk
import jsii

from cdk_distributed_training.checks.findings import Severity
from cdk_distributed_training.checks.judge import judge
from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.report import Judgement, Report
from cdk_distributed_training.checks.rule import dotted
from cdk_distributed_training.checks.template.document import Document, Kind
from cdk_distributed_training.checks.template.loader import load
from cdk_distributed_training.version import __version__

PLUGIN_NAME = "DistributedTraining"
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "info"}


@jsii.implements(cdk.IPolicyValidationPlugin)
class DistributedTrainingChecks:
    """Judges every synthesized template, also what this library did not write.

        cdk.Validations.of(app).add_plugins(dt.DistributedTrainingChecks())

    Errors stop synthesis. Any finding can be acknowledged at its construct:

        cdk.Validations.of(file_system).acknowledge(
            cdk.Acknowledgment(id="DistributedTraining::DT252", reason="copied from S3 for every run")
        )

    Source: https://docs.aws.amazon.com/cdk/v2/guide/policy-validation-synthesis.html
    """

    @property
    def name(self) -> str:
        """The plug-in's name, which begins the ids to acknowledge."""
        return PLUGIN_NAME

    @property
    def version(self) -> str:
        """The library's version."""
        return __version__

    @property
    def rule_ids(self) -> list[str]:
        """The ids of all rules."""
        return list(all_rules())

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Judge the templates of all stacks."""
        reports = [_judge(stack) for stack in context.stack_templates]
        found = [judgement for report in reports for judgement in report.judgements]
        not_judged = sum(len(report.not_judged) for report in reports)
        return cdk.PolicyValidationPluginReport(
            success=not any(judgement.finding.severity is Severity.ERROR for judgement in found),
            violations=list(_violations(found)),
            plugin_version=self.version,
            metadata={"not judged": f"{not_judged} times a value that the template does not settle"},
        )


def _judge(stack: cdk.PolicyValidationStack) -> Report:
    region = stack.region
    known = region if region and not cdk.Token.is_unresolved(region) and not region.startswith("unknown") else None
    return judge(Document(load(Path(stack.template_path)), Kind.TEMPLATE, known))


def _violations(judgements: Iterable[Judgement]) -> Iterable[cdk.PolicyViolation]:
    """One violation for each finding; those of one rule that say the same of several resources are put together."""
    alike: dict[tuple[str, Severity, str, str], list[Judgement]] = defaultdict(list)
    for judgement in judgements:
        finding = judgement.finding
        alike[(finding.rule, finding.severity, judgement.message, finding.fix)].append(judgement)
    for (rule_id, severity, message, fix), found in alike.items():
        rule = all_rules()[rule_id]
        yield cdk.PolicyViolation(
            rule_name=rule_id,
            description=f"{rule.title}: {message}",
            fix=fix,
            severity=_SEVERITIES[severity],
            rule_metadata={"why": rule.why, **({"source": rule.source} if rule.source else {})},
            violating_resources=[_resource(judgement) for judgement in found],
        )


def _resource(judgement: Judgement) -> cdk.PolicyViolatingResource:
    return cdk.PolicyViolatingResource(
        resource_logical_id=judgement.logical_id,
        template_path=judgement.document.source.name,
        locations=[dotted(judgement.finding.path[2:])],
    )
