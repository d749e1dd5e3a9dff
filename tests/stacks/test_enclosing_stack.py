"""What a stack is asked once is what CDK's own stack says."""

import aws_cdk as cdk
import pytest
from constructs import Construct

from cdk_distributed_training.enclosing_stack import PartOfStack, enclosing_stack


def literal(app):
    return cdk.Stack(app, "Literal", env=cdk.Environment(account="111111111111", region="cn-north-1"))


def anywhere(app):
    return cdk.Stack(app, "Anywhere")


def nested(app):
    stage = cdk.Stage(app, "Stage", env=cdk.Environment(account="222222222222", region="eu-west-1"))
    return cdk.NestedStack(cdk.Stack(stage, "Parent"), "Nested")


@pytest.mark.parametrize("make", [literal, anywhere, nested])
@pytest.mark.parametrize("context", [{}, {"@aws-cdk/core:enablePartitionLiterals": True}], ids=["tokens", "literals"])
def test_says_what_the_stack_says(make, context):
    stack = make(cdk.App(context=context))
    known = enclosing_stack(Construct(stack, "Inner"))
    for member in ("account", "region", "partition", "url_suffix"):
        assert getattr(known, member) == getattr(stack, member)
    job = {"service": "sagemaker", "resource": "training-job"}
    assert known.format_arn(**job, resource_name="x-*") == stack.format_arn(**job, resource_name="x-*")
    group = {"service": "logs", "resource": "log-group", "resource_name": "/x"}
    colon = cdk.ArnFormat.COLON_RESOURCE_NAME
    assert known.format_arn(**group, separator=":") == stack.format_arn(**group, arn_format=colon)
    whole = cdk.ArnFormat.NO_RESOURCE_NAME
    assert known.format_arn(service="logs", resource="*") == stack.format_arn(
        service="logs", resource="*", arn_format=whole
    )
    value = {"arn": known.format_arn(**job, resource_name="x")}
    assert known.resolve(known.to_json_string(value)) == stack.resolve(stack.to_json_string(value))


def test_each_part_knows_its_own_stack():
    app = cdk.App()
    one, other = cdk.Stack(app, "One"), cdk.Stack(app, "Other")
    outer = PartOfStack(Construct(one, "Between"), "Outer")
    inside = cdk.Stack(outer, "Inside")
    parts = [outer, PartOfStack(outer, "Inner"), PartOfStack(inside, "Part"), PartOfStack(other, "Part")]
    assert [enclosing_stack(part) for part in parts] == [enclosing_stack(s) for s in (one, one, inside, other)]
    assert len({enclosing_stack(part) for part in parts}) == 3
