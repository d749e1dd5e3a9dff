"""moto's CloudFormation makes state machines in a back end that does not execute them.

A machine that a stack made could not be started then. The addition makes it use the back end that interprets the
Amazon States Language.
"""

from __future__ import annotations

import datetime

import moto.stepfunctions.models as described
from moto.core.config import default_user_config
from moto.stepfunctions.parser.models import stepfunctions_parser_backends


def install() -> None:
    """One back end for all state machines: the executing one."""
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    described.stepfunctions_backends = stepfunctions_parser_backends


def end_executions() -> None:
    """Abort what still runs: each execution has a thread, for which the process would wait."""
    now = datetime.datetime.now(tz=datetime.timezone.utc)
    for regions in list(stepfunctions_parser_backends.values()):
        for backend in list(regions.values()):
            for machine in list(backend.state_machines):
                for execution in list(machine.executions):
                    if execution.status == "RUNNING":
                        execution.stop(now, None, "the emulation ends")
