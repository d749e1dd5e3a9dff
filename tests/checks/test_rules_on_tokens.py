"""Whatever is settled only at deployment makes no finding, and silences the rules that ask for it."""

import pytest
from tests.checks.documents import findings, in_template, places, replaced

from cdk_distributed_training.checks.registry import all_rules
from cdk_distributed_training.checks.template.document import read_text

TOKEN = {"Fn::ImportValue": "settled-later"}
ON_DOCUMENTS = [rule for rule in all_rules().values() if rule.subject is not None]
# a second subnet whose zone is not known is what this rule is about
ABOUT_THE_UNKNOWN = {"DT131"}


def variants(content, known, before):
    """The document with a token in place of each member, and in place of what the findings are about."""
    for path in [*places(content), *(path for _, path in known)]:
        # a number of machines that is not known may be several: test_template_worlds.py
        if (
            path[0] == "Resources"
            and len(path) > 2
            and path[2] not in ("Type", "Condition")
            and path[-1] != "InstanceCount"
        ):
            yield path, findings(replaced(content, path, TOKEN), before=before)


@pytest.mark.parametrize("rule", ON_DOCUMENTS, ids=lambda rule: rule.id)
@pytest.mark.parametrize("kind", ["bad", "good"])
def test_token_makes_no_finding(rule, kind):
    example = getattr(rule, kind)
    content = in_template(example.content, read_text(example.text()).kind)
    known = findings(content, before=example.before)
    allowed = {found for found, _ in known} | ABOUT_THE_UNKNOWN
    silenced = kind == "good"
    for path, found in variants(content, known, example.before):
        assert {rule_id for rule_id, _ in found} <= allowed, path
        silenced = silenced or rule.id not in {rule_id for rule_id, _ in found}
    assert silenced, "no token silences the rule"
