"""Tells whether a role may be changed."""

from __future__ import annotations

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct


def may_change(scope: Construct, role: iam.IRole) -> bool:
    """Whether policies can be attached to a role.

    They cannot where it was imported with `mutable=False` or from another account, nor after
    `without_policy_updates()`. CDK publishes no such property, it only ignores what is attached. So a policy is
    attached that says nothing, which leaves no trace in the template.

    Args:
        scope: Where the policy stands for a moment.
        role: The role.
    """
    probe = iam.Policy(scope, "Probe")
    role.attach_inline_policy(probe)
    resource = probe.node.default_child
    assert isinstance(resource, iam.CfnPolicy)  # noqa: S101  that is what the construct is made of
    attached = bool(cdk.Stack.of(scope).resolve(resource.roles))
    scope.node.try_remove_child("Probe")
    return attached
