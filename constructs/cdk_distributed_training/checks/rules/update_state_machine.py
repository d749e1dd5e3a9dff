"""Changes of a template that replace state machines (DT740, DT741)."""

from __future__ import annotations

from collections.abc import Iterator

from cdk_distributed_training.checks.examples import Data, state_machine, update
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.update import Update

_MACHINE = "AWS::StepFunctions::StateMachine"
_DELETE = "https://docs.aws.amazon.com/step-functions/latest/apireference/API_DeleteStateMachine.html"
_NAMES = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-name.html"
_DEFINITION = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}


def _machine(**properties: str) -> Data:
    return {"Machine": state_machine(_DEFINITION, **properties)}


@rule(
    "DT740",
    on=Update,
    severity=Severity.WARNING,
    title="A state machine that is made anew",
    why="Executions that run end at their next state, and no one watches their training jobs any more. The history of"
    " all executions is gone, and schedules outside of the stack start a machine that is no more.",
    source=_DELETE,
    bad=update(_machine(), _machine(StateMachineName="pretrain")),
    good=update(_machine(), {"Machine": state_machine({**_DEFINITION, "Comment": "nothing to do"})}),
    since="2026-12",
)
def machine_made_anew(update_: Update) -> Iterator[Finding]:
    """DT740: a state machine is replaced or removed."""
    if update_.type == _MACHINE and update_.is_lost and not update_.is_kept and not _collides(update_):
        yield problem(
            *update_.place,
            got=f"a state machine that is {update_.words}",
            allowed="a change that leaves it in place",
            fix="undo the change, or stop its executions and deploy while none runs",
        )


@rule(
    "DT741",
    on=Update,
    title="A new state machine with the name of the old one",
    why="CloudFormation makes the new one before it deletes the old one, and refuses two of one name.",
    source=_NAMES,
    bad=update(
        _machine(StateMachineName="pretrain", StateMachineType="STANDARD"),
        _machine(StateMachineName="pretrain", StateMachineType="EXPRESS"),
    ),
    good=update(_machine(StateMachineName="pretrain"), _machine(StateMachineName="pretrain")),
    since="2026-12",
)
def machine_of_one_name(update_: Update) -> Iterator[Finding]:
    """DT741: a state machine keeps its name, and is replaced."""
    if update_.type == _MACHINE and update_.is_lost and _collides(update_):
        yield problem(
            *update_.place,
            got=f"a state machine that is {update_.words}, with the name of the old one",
            allowed="another StateMachineName, or none",
            fix="change the name too",
        )


def _collides(update_: Update) -> bool:
    return update_.after is not None and update_.keeps_its_name
