"""What went wrong for others when they defined training jobs, each with the right behaviour here."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from tests.job.resolved import request_of

import cdk_distributed_training as dt
from cdk_distributed_training.checks.rules import job as job_rules
from cdk_distributed_training.checks.rules import library_support
from cdk_distributed_training.data.tables import instance_types
from cdk_distributed_training.job.container_command import encoding_words

P4D = dt.Instances("ml.p4d.24xlarge", count=2)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.sh").write_text("echo hello\n")
    (folder / "requirements.txt").write_text("numpy\n")
    return dt.SourceCode.from_directory(folder, entry_script="train.sh", arguments=["--do_train"])


def new_stack(outdir):
    app = cdk.App(analytics_reporting=False, outdir=str(outdir))
    return cdk.Stack(app, "Training", env=cdk.Environment(account="111111111111", region="us-east-1"))


@pytest.fixture(scope="module")
def made(source, tmp_path_factory):
    """One job in which many of these cases meet: request and template."""
    stack = new_stack(tmp_path_factory.mktemp("cdk.out"))
    volume_key, bucket_key = kms.Key(stack, "VolumeKey"), kms.Key(stack, "BucketKey")
    bucket = s3.Bucket(stack, "Models", encryption_key=bucket_key)
    dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source,
        instances=dt.Instances("ml.p3.16xlarge", count=2, volume_key=volume_key),
        output_bucket=bucket,
        spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)),
        network_isolation=True,
        encrypt_inter_container_traffic=True,
        hyperparameters={
            "flag": False,
            "lrs": [1e-4, 2e-4],
            "nested": {"a": [None, {"b": "ü,=;"}], "c": 1e-7},
            "train_batch_size": 8,
            "bucket": f"s3://{bucket.bucket_name}",
            "quotes": 'a "b" \n \\n $.x {% x',
        },
        environment={"EPOCHS": 3, "FAST": True},
    )
    assembly = cdk.App.of(stack).synth()
    return request_of(assembly, "Training"), assembly.get_stack_by_name("Training").template


def found(stack, source, **props):
    with pytest.raises(dt.ConfigurationError) as raised:
        dt.DistributedTrainingJob(stack, "Job", source=source, **{"instances": dt.Instances("ml.g5.2xlarge"), **props})
    return {finding.rule for finding in raised.value.findings}


def test_c53_false_is_false(made):
    assert made[0]["HyperParameters"]["flag"] == "false"


def test_c54_a_flag_without_a_value_is_an_argument(made):
    words = made[0]["AlgorithmSpecification"]["ContainerArguments"]
    assert words[words.index("--") :] == ["--", "train.sh", "--do_train"]


def test_c55_lists_and_objects_come_back_equal(made):
    values = made[0]["HyperParameters"]
    assert json.loads(values["lrs"]) == [1e-4, 2e-4]
    assert json.loads(values["nested"]) == {"a": [None, {"b": "ü,=;"}], "c": 1e-7}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (['"adam"', "1"], ["--hyperparameter-encoding", "plain"]),
        (["adam", "1", '"', 'say "it"'], []),
        ([], []),
        (["${Token[TOKEN.1]}"], []),
    ],
)
def test_c55_quotes_of_ones_own_stay(values, words):
    assert encoding_words(values) == words


def test_c59_names_stay_as_they_are(made):
    assert "train_batch_size" in made[0]["HyperParameters"]


def test_c62_tokens_and_quotes_survive(made):
    values = made[0]["HyperParameters"]
    assert values["bucket"].startswith("s3://bucket-models")
    assert values["quotes"] == 'a "b" \n \\n $.x {% x'


def test_c63_numbers_become_text_and_bad_names_are_refused(made, source, tmp_path):
    assert {"EPOCHS": "3", "FAST": "true"}.items() <= made[0]["Environment"].items()
    rules = found(
        new_stack(tmp_path), source, environment={"MY-KEY": "x" * 600, **{f"N{number}": 1 for number in range(100)}}
    )
    assert {"DT301", "DT302", "DT303"} <= rules


@pytest.mark.parametrize("name", ["my_exp", "Pretrain", "a" * 31, "-a", "a--b", ""])
def test_c64_names_are_refused_or_made_legal(name):
    assert [finding.rule for finding in job_rules.job_name(name)] == ["DT310"]


def test_c67_deploying_starts_nothing(made):
    types = {row["Type"] for row in made[1]["Resources"].values()}
    assert not types & {"AWS::SageMaker::TrainingJob", "AWS::CloudFormation::CustomResource"}


def test_c70_each_key_gets_what_its_use_takes(made):
    text = json.dumps(made[1])
    for action in ("kms:Decrypt", "kms:GenerateDataKey", "kms:CreateGrant", "kms:DescribeKey"):
        assert action in text
    assert '"kms:GrantIsForAWSResource": "true"' in text


def test_c72_a_type_is_prefixed_once():
    assert dt.Instances("p5.48xlarge").instance_type == dt.Instances("ml.p5.48xlarge").instance_type
    assert dt.InstanceGroup(name="a", instance_type="p5.48xlarge").instance_type == "ml.p5.48xlarge"


def test_c73_spot_has_checkpoints_and_a_wait(made):
    request, _ = made
    assert request["EnableManagedSpotTraining"] is True
    assert request["CheckpointConfig"]["S3Uri"].endswith("/checkpoints/training-job")
    assert request["StoppingCondition"]["MaxWaitTimeInSeconds"] >= request["StoppingCondition"]["MaxRuntimeInSeconds"]


@pytest.mark.parametrize(
    ("instance_type", "rules"),
    [("ml.p4d.24xlarge", set()), ("ml.p5.48xlarge", {"DT421"}), ("ml.g5.48xlarge", {"DT421"})],
)
def test_c76_the_data_parallel_library_runs_on_some_machines_only(instance_type, rules):
    distribution = dt.SMDistributedDataParallel()
    findings = distribution.findings(dt.Instances(instance_type, count=2), known=lambda _: True)
    assert {finding.rule for finding in findings} == rules


AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com"
SMP = "658645717510.dkr.ecr.us-east-1.amazonaws.com/smdistributed-modelparallel:2.5.1-gpu-py311-cu124"
NEW = f"{AWS}/pytorch:2.13.0-cu133-amzn2023-sagemaker"


@pytest.mark.parametrize(
    ("kind", "image", "rules"),
    [
        ("smdistributed-dataparallel", f"{AWS}/pytorch-training:2.2.0-gpu-py310-cu121-ubuntu20.04-sagemaker", []),
        (
            "smdistributed-dataparallel",
            f"{AWS}/pytorch-training:2.6.0-gpu-py312-cu126-ubuntu22.04-sagemaker",
            ["DT423"],
        ),
        ("smdistributed-dataparallel", NEW, ["DT423"]),
        ("smdistributed-dataparallel", "registry.example.com/mine:1", []),
        ("smdistributed-dataparallel", "${Token[TOKEN.1]}", []),
        ("smp", SMP, []),
        ("smp", NEW, ["DT423"]),
        ("smp-v1", f"{AWS}/pytorch-training:1.13.1-gpu-py39-cu117-ubuntu20.04-sagemaker", []),
        ("smp-v1", NEW, ["DT423"]),
        ("torchrun", NEW, []),
    ],
)
def test_c77_the_image_holds_the_library(kind, image, rules):
    assert [finding.rule for finding in library_support.library_in_image(kind, image)] == rules


@pytest.mark.parametrize(
    ("kind", "image", "rules"),
    [
        ("parameter-server", NEW, ["DT424"]),
        ("multi-worker-mirrored", NEW, ["DT424"]),
        ("multi-worker-mirrored", f"{AWS}/tensorflow-training:2.19.0-gpu-py312-cu125-ubuntu22.04-sagemaker", []),
        ("multi-worker-mirrored", "${Token[TOKEN.1]}", []),
        ("torchrun", NEW, []),
    ],
)
def test_the_image_holds_the_framework(kind, image, rules):
    assert [finding.rule for finding in library_support.framework_in_image(kind, image)] == rules


@pytest.mark.parametrize(
    ("kind", "types", "found_severities"),
    [
        ("smp", ["ml.p5.48xlarge", "ml.p4d.24xlarge"], []),
        ("smp", ["ml.g5.48xlarge"], ["warning"]),
        ("smp", ["ml.c7i.xlarge", "ml.trn1.32xlarge"], ["error", "error"]),
        ("smp", ["ml.p99.48xlarge"], ["warning"]),
        ("torchrun", ["ml.c7i.xlarge"], []),
    ],
)
def test_the_model_parallel_library_runs_on_some_machines_only(kind, types, found_severities):
    assert [row.severity.value for row in library_support.library_on_machines(kind, types)] == found_severities


@pytest.mark.parametrize(("count", "rules"), [(1, []), (8, []), (32, []), (12, ["DT413"]), ("auto", []), (64, [])])
def test_trainium_takes_some_numbers_of_processes_only(count, rules):
    machine = instance_types()["ml.trn1.32xlarge"]
    assert [row.rule for row in library_support.neuron_process_count(count, machine)] == rules
    assert [row.rule for row in library_support.neuron_process_count(count, instance_types()["ml.p5.48xlarge"])] == []


def test_c81_no_warm_pool_on_spare_capacity(source, tmp_path):
    rules = found(
        new_stack(tmp_path),
        source,
        instances=dt.Instances("ml.g5.2xlarge", keep_alive=cdk.Duration.hours(7)),
        spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)),
    )
    assert {"DT343", "DT335"} <= rules


def test_c83_everything_at_once_that_cdks_own_task_lacks(made):
    request, _ = made
    assert {
        "EnableNetworkIsolation",
        "EnableInterContainerTrafficEncryption",
        "EnableManagedSpotTraining",
        "CheckpointConfig",
        "VpcConfig",
    } <= request.keys()


def test_c87_nothing_is_profiled_unless_asked_for(made):
    assert not {"ProfilerConfig", "DebugHookConfig"} & made[0].keys()


def test_c88_the_image_of_the_right_account_may_be_pulled(made):
    assert ":763104351884:repository/pytorch" in json.dumps(made[1])


def test_c111_a_misplaced_keyword_is_sent_to_its_place():
    with pytest.raises(dt.ConfigurationError, match="write max_wait"):
        dt.ManagedSpot(maxwait=cdk.Duration.days(1))


@pytest.mark.parametrize(
    ("tags", "rules"),
    [
        ({"team": "speech"}, []),
        ({"k" * 128: "v" * 256}, []),
        ({"": "x"}, ["DT314"]),
        ({"aws:team": "x"}, ["DT314"]),
        ({"k" * 129: "v"}, ["DT314"]),
        ({"k": "v" * 257}, ["DT314"]),
        ({f"k{number}": "" for number in range(50)}, ["DT314"]),
    ],
)
def test_tags(tags, rules):
    assert [finding.rule for finding in job_rules.tags(tags, own=1)] == rules
