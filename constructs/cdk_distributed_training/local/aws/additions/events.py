"""moto sends no events of Step Functions or SageMaker, and has neither state machines nor topics as a rule's target.

The shapes of the events are AWS's:
https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

from moto.core.utils import iso_8601_datetime_without_milliseconds, utcfromtimestamp
from moto.events.models import Rule, events_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication, Execution
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

_LOG = logging.getLogger(__name__)
_OURS = ("sns", "sqs", "states")
_PLACEHOLDER = re.compile(r"<([\w.-]+)>")
_TEXT_OR_PLACEHOLDER = re.compile(r'"(?:[^"\\]|\\.)*"|<([\w.-]+)>')


def install() -> None:
    """Send an event when an execution starts and ends, and deliver events to state machines and topics."""
    start, ended, deliver = Execution.start, BaseExecutionWorkerCommunication.terminated, Rule.send_to_targets

    def start_and_tell(self: Execution) -> None:
        start(self)
        _tell_of_execution(self)

    def ended_and_tell(self: BaseExecutionWorkerCommunication) -> None:
        ended(self)
        _tell_of_execution(self.execution)

    def deliver_ours_too(self: Rule, original_event: Any, transform_input: bool = True) -> None:
        if self.state != "ENABLED" or not self.event_pattern.matches_event(original_event):
            return
        ours = [target for target in self.targets if target["Arn"].split(":")[2] in _OURS]
        for target in ours:
            _deliver(target, original_event, self.account_id)
        others = [target for target in self.targets if target not in ours]
        if others:
            everything, self.targets = self.targets, others
            try:
                deliver(self, original_event, transform_input)
            finally:
                self.targets = everything

    Execution.start = start_and_tell
    BaseExecutionWorkerCommunication.terminated = ended_and_tell
    Rule.send_to_targets = deliver_ours_too


def publish(
    *, account: str, region: str, source: str, detail_type: str, resources: list[str], detail: Mapping[str, Any]
) -> None:
    """Send an event of an AWS service to the rules of the account's default bus, in a thread of its own."""
    event = {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": detail_type,
        "source": source,
        "account": account,
        "time": time.time(),
        "region": region,
        "resources": resources,
        "detail": dict(detail),
    }

    def send() -> None:
        for rule in list(events_backends[account][region].event_buses["default"].rules.values()):
            try:
                rule.send_to_targets({**json.loads(json.dumps(event)), "ingestion-time": event["time"]})
            except Exception:
                _LOG.exception("rule %s: the event was not delivered", rule.name)

    threading.Thread(target=send, name=f"event-{source}", daemon=True).start()


def _tell_of_execution(execution: Execution) -> None:
    stopped = execution.stop_date
    publish(
        account=execution.account_id,
        region=execution.region_name,
        source="aws.states",
        detail_type="Step Functions Execution Status Change",
        resources=[execution.exec_arn],
        detail={
            "executionArn": execution.exec_arn,
            "stateMachineArn": execution.state_machine.arn,
            "name": execution.name,
            "status": str(getattr(execution.exec_status, "value", execution.exec_status)),
            "startDate": int(execution.start_date.timestamp() * 1000),
            "stopDate": int(stopped.timestamp() * 1000) if stopped else None,
            "input": json.dumps(execution.input_data),
            "output": None if execution.output is None else json.dumps(execution.output),
        },
    )


def _deliver(target: Mapping[str, Any], event: Mapping[str, Any], account: str) -> None:
    arn = str(target["Arn"])
    service, region, name = arn.split(":")[2], arn.split(":")[3], arn.rpartition(":")[2]
    text = input_text(target, event)
    if service == "sns":
        sns_backends[account][region].publish(message=text, arn=arn)
    elif service == "sqs":
        sqs_backends[account][region].send_message(queue_name=name, message_body=text)
    else:
        stepfunctions_parser_backends[account][region].start_execution(arn, str(uuid.uuid4()), text)


def input_text(target: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """What a target gets: the event, or what its rule makes of it.

    In a template a placeholder within a string becomes its text, and one outside of strings becomes JSON:
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html. moto's own
    parser knows only the first.
    """
    when = iso_8601_datetime_without_milliseconds(utcfromtimestamp(float(event["time"])))
    whole = {name: value for name, value in event.items() if name != "ingestion-time"} | {"time": when}
    if "Input" in target:
        return str(target["Input"])
    if "InputPath" in target:
        return json.dumps(_at(whole, target["InputPath"]))
    transformer = target.get("InputTransformer")
    if transformer is None:
        return json.dumps(whole)
    values = {name: _at(whole, path) for name, path in transformer.get("InputPathsMap", {}).items()}

    def within_text(found: re.Match[str]) -> str:
        value = values[found[1]]
        return json.dumps(value if isinstance(value, str) else json.dumps(value))[1:-1]

    def filled(found: re.Match[str]) -> str:
        return _PLACEHOLDER.sub(within_text, found[0]) if found[0][0] == '"' else json.dumps(values[found[1]])

    return _TEXT_OR_PLACEHOLDER.sub(filled, transformer["InputTemplate"])


def _at(event: Mapping[str, Any], path: str) -> Any:
    value: Any = event
    for step in path.removeprefix("$").split("."):
        value = value.get(step) if step and isinstance(value, Mapping) else value
    return value
