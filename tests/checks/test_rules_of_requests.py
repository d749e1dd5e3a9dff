"""A request alone is judged without the rules about templates, and loses nothing by that."""

import json
import subprocess
import sys

from cdk_distributed_training.checks.registry import all_rules, rules_of_requests
from cdk_distributed_training.checks.rules import request_limits
from cdk_distributed_training.checks.scene import Scene
from cdk_distributed_training.checks.subjects.node_group import NodeGroup
from cdk_distributed_training.checks.subjects.training_request import TrainingRequest
from cdk_distributed_training.checks.template.document import Kind, read_text
from cdk_distributed_training.checks.template.worlds import default_world

_ALONE = """
import json, sys
from cdk_distributed_training.checks.registry import rules_of_requests
ids = list(rules_of_requests())
print(json.dumps([ids, [name.rpartition(".")[2] for name in sys.modules if ".checks.rules." in name]]))
"""


def test_every_rule_about_requests_is_among_them():
    # of all kinds of subjects these two are found in a request alone, the others in templates
    of_requests = {rule.id for rule in all_rules().values() if rule.subject in (TrainingRequest, NodeGroup)}
    assert of_requests <= set(rules_of_requests())
    assert request_limits.__name__ in {rule.check.__module__ for rule in rules_of_requests().values()}


def test_they_are_the_same_where_no_other_rule_has_been_imported():
    done = subprocess.run([sys.executable, "-c", _ALONE], capture_output=True, text=True, check=True)
    ids, modules = json.loads(done.stdout)
    assert ids == list(rules_of_requests())
    assert not {"lustre_links", "job_permissions", "starter_permissions", "update_storage"} & set(modules)


def test_nothing_is_lost():
    """What no rule of a request's is about finds nothing in one, whichever of the rules' examples it is."""
    kinds = {rule.subject for rule in all_rules().values() if rule.subject is not None} - {TrainingRequest, NodeGroup}
    for rule in all_rules().values():
        document = read_text(rule.bad.text()) if rule.subject is not None else None
        if document is not None and document.kind is Kind.REQUEST:
            scene = Scene(document, default_world({}))
            assert not any(scene.all(kind) for kind in kinds), rule.id
