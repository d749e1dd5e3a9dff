"""What the reference stacks ask checkov to skip stands written down, each with its reason; `make scan` runs checkov."""

import json

from tools.checkov_scan import SKIPS, skips_of_reference_stacks


def test_skips_are_written_down(tmp_path):
    written = json.loads(SKIPS.read_text(encoding="utf-8"))
    assert skips_of_reference_stacks(tmp_path) == written
    reasons = [reason for stack in written.values() for rows in stack.values() for reason in rows.values()]
    assert all(len(reason) > 30 for reason in reasons)
