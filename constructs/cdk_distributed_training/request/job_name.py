"""Names of training jobs: `<job>-<execution>-<8 hexadecimal digits>`, at most 63 characters.

Lower case throughout: SageMaker writes names in lower case in ARNs, and permissions are matched against these.
The job comes first, so that permissions and event rules can be about one job's runs by prefix.
`engines/job_expressions.py` says the same in JSONata; one table of cases tests both.
"""

from __future__ import annotations

import re

# 63 characters less a hyphen and 8 digits
LONGEST_RUN_NAME = 54
# leaves at least 23 characters of the execution's name
LONGEST_PREFIX = 30
PREFIX_PATTERN = r"[a-z0-9](-?[a-z0-9])*"


def run_name(prefix: str, execution_name: str) -> str:
    """The part of the name that all attempts of one execution share.

    Args:
        prefix: The job's own name.
        execution_name: Any name that Step Functions allows, also with dots, underscores or other scripts.
    """
    words = re.sub(r"[^a-zA-Z0-9]+", "-", execution_name).lower()
    return f"{prefix}-{words.removeprefix('-')}"[:LONGEST_RUN_NAME].removesuffix("-")


def legal_prefix(text: str) -> str:
    """The nearest legal prefix to any text, empty if nothing of it is legal."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return words[:LONGEST_PREFIX].rstrip("-")
