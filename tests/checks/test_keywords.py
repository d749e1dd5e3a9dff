"""Keywords that a public class does not have: refused with the nearest, by every class."""

import enum
import inspect

import aws_cdk as cdk
import pytest

import cdk_distributed_training as dt
from cdk_distributed_training.checks.keywords import UnknownKeywordError, check_keywords


def takes_keywords(public):
    if not isinstance(public, type) or issubclass(public, (enum.Enum, BaseException)):
        return False
    own = {name for owner in public.__mro__[:-1] for name in vars(owner)}
    return "__init__" in own and not getattr(public, "_is_protocol", False)


CLASSES = sorted(name for name in dt.__all__ if takes_keywords(getattr(dt, name)))


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_refuses_an_unknown_keyword(name):
    with pytest.raises(UnknownKeywordError) as raised:
        # the check comes before anything is made
        getattr(dt, name).__init__(None, no_such_keyword_at_all=1)
    (finding,) = raised.value.findings
    assert (finding.rule, finding.prop) == ("DT900", "no_such_keyword_at_all")


def test_there_are_classes():
    assert {"DistributedTrainingJob", "Instances", "TrainingNetwork", "LustreFileSystem", "Torchrun"} <= set(CLASSES)


def test_the_nearest_is_named():
    with pytest.raises(UnknownKeywordError, match="write count"):
        dt.Instances("ml.g5.2xlarge", counts=2)
    with pytest.raises(UnknownKeywordError, match="write maximum_retry_attempts"):
        dt.RetryStrategy(maximum_retry_attempt=2)
    with pytest.raises(UnknownKeywordError, match="write framework_version"):
        dt.TrainingImage.from_deep_learning_container(framework_versoin="2.13")


def test_a_construct_is_checked_before_it_is_made(tmp_path):
    stack = cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(tmp_path)), "Stack")
    with pytest.raises(UnknownKeywordError, match="write instances") as raised:
        dt.DistributedTrainingJob(stack, "Job", instance=dt.Instances("ml.g5.2xlarge"))
    assert list(stack.node.children) == []
    assert isinstance(raised.value, dt.ConfigurationError)
    assert isinstance(raised.value, TypeError)


def test_a_keyword_of_another_value_is_sent_there(tmp_path):
    stack = cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(tmp_path)), "Stack")
    with pytest.raises(UnknownKeywordError, match="give it to Instances"):
        dt.DistributedTrainingJob(stack, "Job", instances=dt.Instances("ml.g5.2xlarge"), keep_alive=1)


def test_all_are_named_at_once():
    with pytest.raises(UnknownKeywordError, match="2 configuration errors at Instances"):
        dt.Instances("ml.g5.2xlarge", counts=2, volume=3)


def test_what_is_right_passes_and_keeps_its_signature():
    assert dt.Instances("ml.g5.2xlarge", count=2).count == 2
    assert list(inspect.signature(dt.RetryStrategy).parameters) == ["maximum_retry_attempts"]
    with pytest.raises(TypeError, match="missing 1 required"):
        dt.RetryStrategy()


def test_classes_are_changed_once():
    before = dt.Instances.__init__
    check_keywords(dt.Instances)
    assert dt.Instances.__init__ is before


def test_other_things_stay_as_they_are():
    for thing in (dt.TrainingCall, len, "text"):
        assert check_keywords(thing) is thing
