"""What holds for every test."""

import os

from hypothesis import HealthCheck, settings

# CDK's own validation of templates takes five times the CPU of a synthesis. The tests that want it start a process of
# their own without this variable.
os.environ["CDK_VALIDATION"] = "false"

# how fast the machine is decides no test
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
