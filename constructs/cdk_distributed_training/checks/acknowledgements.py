"""Reasons for what a policy checker would otherwise complain of, each on the one construct that it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from constructs import IConstruct, IValidation

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


def acknowledge_everywhere(construct: IConstruct, *rules: str, reason: str) -> None:
    """Give one reason for what several scanners ask of one resource, each in words of its own.

    Args:
        construct: The one construct.
        rules: The scanners' ids: checkov's, such as `CKV_AWS_18`; cdk-nag's with the pack's name, such as
            `AwsSolutions-S1`; or a rule that NIST 800-53 R5, HIPAA and PCI share, without it, such as
            `S3BucketLoggingEnabled`.
        reason: Why.
    """
    in_checkov = [rule for rule in rules if rule.startswith("CKV")]
    in_nag = [
        name
        for rule in rules
        if rule not in in_checkov
        for name in ([rule] if "-" in rule else [f"{pack}-{rule}" for pack in _PACKS_THAT_SHARE_RULES])
    ]
    if in_nag:
        cdk.Validations.of(construct).acknowledge(*(_acknowledgment(rule, reason) for rule in in_nag))
    if in_checkov:
        _skip_in_checkov(construct, in_checkov, reason)


def _skip_in_checkov(construct: IConstruct, rules: Sequence[str], reason: str) -> None:
    # https://www.checkov.io/2.Basics/Suppressing%20and%20Skipping%20Policies.html: in the resource's metadata
    resource = construct.node.default_child or construct
    assert isinstance(resource, cdk.CfnResource)  # noqa: S101  only resources are acknowledged
    skipped = (resource.get_metadata("checkov") or {"skip": []})["skip"]
    named = {skip["id"] for skip in skipped}
    more = [{"id": rule, "comment": reason} for rule in rules if rule not in named]
    resource.add_metadata("checkov", {"skip": [*skipped, *more]})


def acknowledge_wildcards(policy: iam.ManagedPolicy, reason: str) -> None:
    """Tell cdk-nag's AwsSolutions pack why the resources in a policy of this library's have wildcards.

    The pack has one finding for each resource, in which references to other stacks stand as they are deployed: these
    are known only when the whole app is.

    Args:
        policy: A policy whose statements all come from this library.
        reason: Why.
    """
    policy.node.add_validation(_Wildcards(policy, reason))


@jsii.implements(IValidation)
class _Wildcards:
    """Runs when all references are resolved, finds nothing wrong, and acknowledges."""

    def __init__(self, policy: iam.ManagedPolicy, reason: str) -> None:
        self._policy = policy
        self._reason = reason

    def validate(self) -> list[str]:
        document = cdk.Stack.of(self._policy).resolve(self._policy.document)
        acknowledged = [
            _acknowledgment(f"AwsSolutions-IAM5[Resource::{resource}]", self._reason)
            for resource in sorted(set(_resources(document)))
            if "*" in resource
        ]
        if acknowledged:
            cdk.Validations.of(self._policy).acknowledge(*acknowledged)
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
