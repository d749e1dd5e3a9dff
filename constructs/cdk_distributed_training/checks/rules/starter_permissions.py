"""What a state machine's role may do that starts training jobs (DT601, DT603 to DT605)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cdk_distributed_training.checks.examples import Data, Example, job, template
from cdk_distributed_training.checks.findings import Finding, Severity
from cdk_distributed_training.checks.rule import problem, rule
from cdk_distributed_training.checks.subjects.policies import StateMachineRole
from cdk_distributed_training.checks.subjects.state_machine import is_optimized, is_sync
from cdk_distributed_training.checks.template.definition import State

_SOURCE = "https://docs.aws.amazon.com/step-functions/latest/dg/connect-sagemaker.html"
_START = ["sagemaker:CreateTrainingJob", "sagemaker:AddTags"]
_WAIT = ["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"]
_EVENTS = ["events:PutTargets", "events:PutRule", "events:DescribeRule"]
_JOBS = "arn:aws:sagemaker:us-east-1:111122223333:training-job/*"
_JOB_ROLE = "arn:aws:iam::111122223333:role/Training"


def _machine(*statements: Data) -> Example:
    trust = {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
    policy = {"PolicyName": "Start", "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}
    role = {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
            "Policies": [policy],
        },
    }
    machine = job()
    machine["Properties"]["RoleArn"] = {"Fn::GetAtt": ["Starter", "Arn"]}
    return template({"Starter": role, "Job": machine})


def _allow(actions: list[str], resource: Any = _JOBS, **more: Any) -> Data:
    return {"Effect": "Allow", "Action": actions, "Resource": resource, **more}


_TO_SAGEMAKER = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
_PASS = _allow(["iam:PassRole"], _JOB_ROLE, Condition=_TO_SAGEMAKER)
_RULES = _allow(
    _EVENTS, "arn:aws:events:us-east-1:111122223333:rule/StepFunctionsGetEventsForSageMakerTrainingJobsRule"
)


def _starters(subject: StateMachineRole) -> list[State]:
    return list(subject.machine.tasks("sagemaker:createTrainingJob"))


@rule(
    "DT601",
    on=StateMachineRole,
    title="A state machine that may not start its job",
    why="The execution fails at once with an access error.",
    source=_SOURCE,
    bad=_machine(_allow(["sagemaker:AddTags", *_WAIT]), _PASS, _RULES),
    good=_machine(_allow(_START + _WAIT), _PASS, _RULES),
)
def may_start(subject: StateMachineRole) -> Iterator[Finding]:
    """DT601: CreateTrainingJob, and to wait DescribeTrainingJob and StopTrainingJob."""
    tasks = _starters(subject)
    if tasks:
        wanted = [_START[0], *(_WAIT if any(is_sync(task) for task in tasks) else [])]
        lacking = [action for action in wanted if not subject.role.may(action)]
        if lacking:
            yield problem("Policies", got=f"no {', '.join(lacking)}", allowed=", ".join(wanted), fix="allow them")


@rule(
    "DT603",
    on=StateMachineRole,
    title="A state machine that may not pass the job's role",
    why="The execution fails at once with an access error: whoever starts a job hands it a role.",
    source=_SOURCE,
    bad=_machine(_allow(_START + _WAIT), _RULES),
    good=_machine(_allow(_START + _WAIT), _PASS, _RULES),
)
def may_pass(subject: StateMachineRole) -> Iterator[Finding]:
    """DT603: iam:PassRole."""
    if _starters(subject) and not subject.role.may("iam:PassRole"):
        yield problem(
            "Policies", got="no iam:PassRole", allowed="iam:PassRole on the job's role", fix="allow it, for SageMaker"
        )


@rule(
    "DT604",
    on=StateMachineRole,
    severity=Severity.WARNING,
    title="Roles passed to anything",
    why="Who may pass any role, or to any service, may become whoever that role is.",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html",
    bad=_machine(_allow(_START + _WAIT), _allow(["iam:PassRole"], "*"), _RULES),
    good=_machine(_allow(_START + _WAIT), _PASS, _RULES),
)
def passes_narrowly(subject: StateMachineRole) -> Iterator[Finding]:
    """DT604: iam:PassRole on `*` without iam:PassedToService."""
    for statement in subject.role.statements if _starters(subject) else ():
        if not (statement.allows and statement.names("iam:PassRole")):
            continue
        if "*" in statement.resources and not statement.has_condition_on("iam:PassedToService"):
            yield problem(
                "Policies",
                got="iam:PassRole on every role to every service",
                allowed="the job's role, with a condition on iam:PassedToService",
                fix="name the role and sagemaker.amazonaws.com",
            )
            return


@rule(
    "DT605",
    on=StateMachineRole,
    title="A state machine that may not wait for its job",
    why="The execution fails at once: Step Functions waits by a rule of EventBridge that it manages with this role.",
    source=_SOURCE,
    bad=_machine(_allow(_START + _WAIT), _PASS),
    good=_machine(_allow(_START + _WAIT), _PASS, _RULES),
)
@rule(
    "DT612",
    on=StateMachineRole,
    severity=Severity.WARNING,
    title="A state machine that may not tag its job",
    why="Step Functions tags every job that it waits for: without the permission the execution fails at once.",
    source="https://github.com/aws/aws-cdk/issues/26012",
    bad=_machine(_allow(["sagemaker:CreateTrainingJob", *_WAIT]), _PASS, _RULES),
    good=_machine(_allow(_START + _WAIT), _PASS, _RULES),
)
def may_wait(subject: StateMachineRole) -> Iterator[Finding]:
    """DT605 and DT612: what the integration with `.sync` does besides."""
    if not any(is_sync(task) and is_optimized(task) for task in _starters(subject)):
        return
    if lacking := [action for action in _EVENTS if not subject.role.may(action)]:
        yield problem(
            "Policies",
            got=f"no {', '.join(lacking)}",
            allowed=", ".join(_EVENTS),
            fix="allow them on the rule StepFunctionsGetEventsForSageMakerTrainingJobsRule",
            rule_id="DT605",
        )
    if not subject.role.may("sagemaker:AddTags"):
        yield problem(
            "Policies",
            got="no sagemaker:AddTags",
            allowed="sagemaker:AddTags on the job",
            fix="allow it",
            rule_id="DT612",
        )
