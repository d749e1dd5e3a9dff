"""Reasons for what a policy checker would otherwise complain of, each on the one construct that it is about."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from constructs import IConstruct, IValidation

from cdk_distributed_training.enclosing_stack import EnclosingStack, enclosing_stack

_PACKS_THAT_SHARE_RULES = ("NIST.800.53.R5", "HIPAA.Security", "PCI.DSS.321")


def acknowledge(scope: IConstruct, rule: str, reason: str) -> None:
    """Tell cdk-nag why a rule's finding on one construct is as it should be.

    Args:
        scope: The one construct.
        rule: The rule's id, such as `AwsSolutions-S1`; what stands before the hyphen is the pack's name, with which
            the report keeps the finding as a suppressed one.
        reason: Why.
    """
    cdk.Validations.of(scope).acknowledge(_acknowledgment(rule, reason))


def _acknowledgment(rule: str, reason: str) -> cdk.Acknowledgment:
    return cdk.Acknowledgment(id=f"{rule.partition('-')[0]}::{rule}", reason=reason)


def acknowledge_everywhere(construct: IConstruct, reasons: Mapping[str, Sequence[str]]) -> None:
    """Give reasons for what several scanners ask of one resource, each in words of its own; once for a resource.

    Args:
        construct: The one construct.
        reasons: Each reason with the scanners' ids: checkov's, such as `CKV_AWS_18`; cdk-nag's with the pack's name,
            such as `AwsSolutions-S1`; or a rule that NIST 800-53 R5, HIPAA and PCI share, without it, such as
            `S3BucketLoggingEnabled`.
    """
    given = [(rule, reason) for reason, rules in reasons.items() for rule in rules]
    in_checkov = [{"id": rule, "comment": reason} for rule, reason in given if rule.startswith("CKV")]
    in_nag = [
        _acknowledgment(name, reason)
        for rule, reason in given
        if not rule.startswith("CKV")
        for name in ([rule] if "-" in rule else [f"{pack}-{rule}" for pack in _PACKS_THAT_SHARE_RULES])
    ]
    if in_nag:
        cdk.Validations.of(construct).acknowledge(*in_nag)
    if in_checkov:
        # https://www.checkov.io/2.Basics/Suppressing%20and%20Skipping%20Policies.html: in the resource's metadata
        resource = construct.node.default_child or construct
        assert isinstance(resource, cdk.CfnResource)  # noqa: S101  only resources are acknowledged
        resource.add_metadata("checkov", {"skip": in_checkov})


def acknowledge_wildcards(
    policy: iam.ManagedPolicy,
    reason: str,
    *,
    document: iam.PolicyDocument | None = None,
    stack: EnclosingStack | None = None,
) -> None:
    """Tell cdk-nag's AwsSolutions pack why the resources in a policy of this library's have wildcards.

    The pack has one finding for each resource, in which references to other stacks stand as they are deployed: these
    are known only when the whole app is.

    Args:
        policy: A policy whose statements all come from this library.
        reason: Why.
        document: The policy's document, where it is known.
        stack: The policy's stack, where it is known.
    """
    _wildcards(stack or enclosing_stack(policy)).add(policy, document or policy.document, reason)


@functools.cache
def _wildcards(stack: EnclosingStack) -> _Wildcards:
    validation = _Wildcards(stack)
    stack.add_validation(validation)
    return validation


@jsii.implements(IValidation)
class _Wildcards:
    """Runs once for a stack, when all references are resolved, finds nothing wrong, and acknowledges."""

    def __init__(self, stack: EnclosingStack) -> None:
        self._stack = stack
        self._policies: list[tuple[iam.ManagedPolicy, iam.PolicyDocument, str]] = []

    def add(self, policy: iam.ManagedPolicy, document: iam.PolicyDocument, reason: str) -> None:
        self._policies.append((policy, document, reason))

    def validate(self) -> list[str]:
        documents = self._stack.resolve([document for _, document, _ in self._policies])
        for (policy, _, reason), document in zip(self._policies, documents, strict=True):
            acknowledged = [
                _acknowledgment(f"AwsSolutions-IAM5[Resource::{resource}]", reason)
                for resource in sorted(set(_resources(document)))
                if "*" in resource
            ]
            if acknowledged:
                cdk.Validations.of(policy).acknowledge(*acknowledged)
        return []


def _resources(document: dict[str, Any]) -> Iterator[str]:
    for statement in document["Statement"]:
        resources = statement["Resource"]
        yield from map(_flat, resources if isinstance(resources, list) else [resources])


def _flat(value: Any) -> str:
    """A resolved resource in the words of cdk-nag's findings: `<Bucket.Arn>/*`.

    Source: https://github.com/cdklabs/cdk-nag/blob/main/src/utils/flatten-cfn-reference.ts
    """
    match value:
        case str():
            return value.replace("${", "<").replace("}", ">")
        case {"Fn::Join": [delimiter, items]}:
            return str(delimiter).join(map(_flat, items))
        case {"Fn::Sub": inner} | {"Fn::ImportValue": inner}:
            return _flat(inner)
        case {"Fn::GetAtt": [resource, attribute]}:
            return f"<{_flat(resource)}.{_flat(attribute)}>"
        case {"Ref": name}:
            return f"<{_flat(name)}>"
        case _:
            # as JavaScript writes it
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
