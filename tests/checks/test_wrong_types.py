"""Values of types that a public class does not declare: refused in the user's words, and only when they are certain."""

import inspect
from typing import Any, Literal, get_args, get_origin

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

import cdk_distributed_training as dt
from cdk_distributed_training.checks.keywords import UnknownKeywordError, WrongTypeError
from cdk_distributed_training.checks.quantities import unfitting_quantities
from cdk_distributed_training.checks.wrong_types import annotation_modules, evaluated, wrong_types


@pytest.fixture
def stack(tmp_path):
    return cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(tmp_path / "out")), "Stack")


@pytest.fixture
def source(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/train.py").write_text("")
    return dt.SourceCode.from_directory(str(tmp_path / "code"), entry_script="train.py")


@pytest.fixture
def job(stack, source):
    def make(**props):
        return dt.DistributedTrainingJob(
            stack, "Job", **{"source": source, "instances": dt.Instances("ml.g5.2xlarge"), **props}
        )

    return make


WRONG = {
    "source": ("./code", "SourceCode.from_directory"),
    "instances": ("ml.g5.2xlarge", "Instances.from_groups"),
    "distribution": ("torchrun", "make one with Command, MPI"),
    "image": ("registry/image:1", "TrainingImage.from_"),
    "role": ("arn:aws:iam::111111111111:role/Training", "iam.Role.from_role_arn"),
    "network": ("vpc-1", "TrainingNetwork.from_"),
    "output_bucket": ("bucket", "s3.Bucket.from_bucket_name"),
    "encryption_key": ("key", "kms.Key.from_"),
    "max_runtime": (3600, "cdk.Duration.seconds(3600)"),
    "checkpoint": (True, "make one with CheckpointConfig"),
    "channels": (["s3://bucket/prefix"], "Channel.from_s3_uri"),
    "tags": (["team"], "Mapping[str, str]"),
}


@pytest.mark.parametrize("prop", WRONG)
def test_a_wrong_type_is_named_with_what_is_meant(job, prop):
    value, expected = WRONG[prop]
    with pytest.raises(WrongTypeError) as raised:
        job(**{prop: value})
    (finding,) = raised.value.findings
    assert (finding.rule, finding.prop) == ("DT901", prop)
    assert repr(value) in finding.got
    assert expected in str(finding)


def test_a_value_inside_of_a_value_class_is_found(job):
    with pytest.raises(WrongTypeError, match=r"spot\.max_wait: got 3600, of type int; allowed: cdk.Duration"):
        job(spot=dt.ManagedSpot(max_wait=3600))


def test_all_are_named_at_once(job):
    with pytest.raises(WrongTypeError) as raised:
        job(source="./code", max_runtime=60, role="r")
    assert {finding.prop for finding in raised.value.findings} == {"source", "max_runtime", "role"}


def test_a_switch_that_is_a_word_is_refused_though_python_takes_it(job):
    with pytest.raises(WrongTypeError, match="network_isolation: got 'false', of type str; allowed: bool"):
        job(network_isolation="false")


def test_the_error_is_both_kinds_and_shows_nothing_of_cdks(job):
    with pytest.raises(dt.ConfigurationError) as raised:
        job(role="r")
    assert isinstance(raised.value, TypeError)
    assert raised.value.__suppress_context__


def test_a_failure_that_no_type_explains_stays_as_it_is(monkeypatch):
    def fail(self):
        raise AttributeError("something else")

    monkeypatch.setattr(dt.Instances, "__post_init__", fail)
    with pytest.raises(AttributeError, match="something else"):
        dt.Instances("ml.g5.2xlarge")


def choices():
    """Parameters of public initializers that take one of a few words, where no rule of the class's own judges them."""
    for name in dt.__all__:
        public = getattr(dt, name)
        function = getattr(vars(public).get("__init__"), "__wrapped__", None) if isinstance(public, type) else None
        if function is None or hasattr(public, "findings") or hasattr(public, "bind"):
            continue
        for parameter in inspect.signature(function).parameters.values():
            meant = evaluated(str(parameter.annotation), annotation_modules(function))
            kinds = [kind for kind in get_args(meant) or [meant] if kind is not type(None)]
            words = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else get_args(meant)
            if get_origin(meant) is Literal or [get_origin(kind) for kind in kinds] == [Literal]:
                yield name, parameter.name, [word for word in words if isinstance(word, str)]


@pytest.mark.parametrize(("name", "prop", "words"), sorted(choices()))
def test_a_word_of_no_choice_is_refused_with_the_nearest(name, prop, words):
    with pytest.raises(WrongTypeError) as raised:
        getattr(dt, name).__init__(None, **{prop: words[-1].swapcase() + "_"})
    (finding,) = raised.value.findings
    assert (finding.rule, finding.prop) == ("DT901", prop)
    assert finding.allowed == ", ".join(map(repr, words))
    assert finding.fix == f"write {words[-1]!r}"


def test_there_are_choices():
    props = {(name, prop) for name, prop, _ in choices()}
    assert {("TunedTrainingJob", "strategy"), ("TrainingSchedule", "while_running")} <= props


@pytest.mark.parametrize("word", ["Bayesian", cdk.Token.as_string({"Ref": "Strategy"})])
def test_words_of_the_choice_and_tokens_are_taken(word):
    assert wrong_types(dt.TunedTrainingJob.__init__.__wrapped__, {"strategy": word}) == []


def test_a_public_function_refuses_as_a_class_does():
    with pytest.raises(WrongTypeError, match=r"make one with Instances\(\.\.\.\)"):
        dt.distribution_from_sagemaker({}, instances="ml.p5.48xlarge")  # type: ignore[arg-type]
    with pytest.raises(UnknownKeywordError, match="write instances"):
        dt.distribution_from_sagemaker({}, instance=None)  # type: ignore[call-arg]


def test_too_many_values_are_no_reason_to_forget_a_wrong_one(stack):
    with pytest.raises(WrongTypeError, match="scope: got None"):
        dt.TrainingQueue(None, "Queue", "too many")  # type: ignore[arg-type]


def test_words_that_a_factory_takes():
    with pytest.raises(WrongTypeError, match=r"allowed: 'Managed', 'Merge', 'Overwrite'; write 'Merge'"):
        dt.HyperPodOrchestrator.slurm(controller_group="c", config_strategy="merge")  # type: ignore[arg-type]


def test_tokens_and_imported_resources_are_not_judged(stack):
    role = iam.Role.from_role_name(stack, "Role", "role")
    init = dt.DistributedTrainingJob.__init__.__wrapped__
    token = cdk.Token.as_any({"Ref": "Later"})
    given = {"role": role, "output_bucket": token, "max_runtime": token, "tags": cdk.Token.as_string(token)}
    assert [finding.prop for finding in wrong_types(init, given)] == ["tags"]  # a text where a mapping belongs
    assert wrong_types(init, {"job_name": cdk.Token.as_string(token), "max_runtime": None}) == []


@pytest.mark.parametrize("count", [2, cdk.Token.as_number(cdk.Token.as_any({"Ref": "Later"}))])
def test_numbers_may_be_tokens(count):
    assert wrong_types(dt.Instances.__init__.__wrapped__, {"count": count}) == []


def test_every_annotation_of_the_public_classes_can_be_evaluated():
    """An annotation that cannot be would never refuse anything."""
    unknown = []
    for name in dt.__all__:
        public = getattr(dt, name)
        function = getattr(vars(public).get("__init__"), "__wrapped__", None) if isinstance(public, type) else None
        if function is None:
            continue
        for parameter in inspect.signature(function).parameters.values():
            if isinstance(parameter.annotation, str) and parameter.annotation not in ("Any", "object"):
                meant = evaluated(parameter.annotation, annotation_modules(function))
                if meant is Any:
                    unknown.append((name, parameter.name, parameter.annotation))
    assert unknown == []


def token(stack):
    return cdk.CfnParameter(stack, "Number", type="Number").value_as_number


def test_a_token_in_another_unit_is_refused_by_its_property(stack, job):
    with pytest.raises(dt.ConfigurationError, match=r"max_runtime: got cdk\.Duration\.hours.*cdk\.Duration\.seconds\("):
        job(max_runtime=cdk.Duration.hours(token(stack)))


def test_a_token_in_the_services_unit_is_taken(stack, job):
    assert job(max_runtime=cdk.Duration.seconds(token(stack))).request["StoppingCondition"]["MaxRuntimeInSeconds"]


def test_only_the_property_that_the_error_is_about_is_named(stack, job):
    seconds = cdk.Duration.seconds(token(stack))
    with pytest.raises(dt.ConfigurationError) as raised:
        job(max_runtime=seconds, profiler=dt.Profiler(interval=seconds))
    (finding,) = raised.value.findings
    assert (finding.rule, finding.prop, raised.value.where) == ("DT902", "interval", "Profiler")
    assert "cdk.Duration.millis(" in finding.allowed


@pytest.mark.parametrize("size", [cdk.Size.mebibytes(30_001), cdk.Size.bytes(5)])
def test_a_size_that_would_not_stay_whole_is_refused(job, size):
    with pytest.raises(dt.ConfigurationError, match=r"volume_size: got \d+ \w+; allowed: a whole number of gibibytes"):
        job(instances=dt.Instances("ml.m5.xlarge", volume_size=size))


def test_a_duration_in_a_list_is_found_by_its_place():
    error = RuntimeError("'1500 millis' cannot be converted into a whole number of seconds.")
    given = {"options": [dt.LauncherOptions(grace=cdk.Duration.millis(1500)), cdk.Size.gibibytes(1)]}
    assert [finding.prop for finding in unfitting_quantities(error, given)] == ["options[0].grace"]


def test_findings_show_no_tokens(stack, job):
    with pytest.raises(dt.ConfigurationError, match=r"poll_interval: got \(only known when deployed\) seconds"):
        job(poll_interval=cdk.Duration.seconds(token(stack)))
