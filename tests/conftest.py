"""What holds for every test."""

import os

# CDK's own validation of templates takes five times the CPU of a synthesis. The tests that want it start a process of
# their own without this variable.
os.environ["CDK_VALIDATION"] = "false"
