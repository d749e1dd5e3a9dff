"""Whatever id a finding may carry, `dtrain check --explain` knows it."""

import re
from pathlib import Path

import cdk_distributed_training
from cdk_distributed_training.checks.registry import all_rules

RULES = Path(cdk_distributed_training.__file__).parent / "checks" / "rules"
NAMED = re.compile(r'rule(?:_id)?="(DT\d+)"')


def test_every_id_is_described():
    named = {rule_id: path.name for path in RULES.glob("*.py") for rule_id in NAMED.findall(path.read_text())}
    missing = {rule_id: name for rule_id, name in named.items() if rule_id not in all_rules()}
    assert missing == {}, "describe them as described_job.py does, and run checks.write_pages"
