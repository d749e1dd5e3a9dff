"""One job with every feature that a request can have: what is rendered, granted and tagged."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from tests.job.resolved import request_of
from tests.request.create_training_job_model import problems

import cdk_distributed_training as dt
from cdk_distributed_training.local.assembly import Assembly
from cdk_distributed_training.local.launch_plan import launch_plans
from cdk_distributed_training.local.local_run import resolve_job

ACCOUNT = cdk.Environment(account="111111111111", region="us-east-1")
MLFLOW = "arn:aws:sagemaker:us-east-1:111111111111:mlflow-tracking-server/runs"
REGISTRY = "arn:aws:sagemaker:us-east-1:111111111111:model-package-group/models"
LABELS = [f"label {number} é" for number in range(400)]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    (folder / "train.py").write_text("print('hello')\n")
    return dt.SourceCode.from_directory(folder, entry_script="train.py")


def new_stack(folder):
    return cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(folder)), "Training", env=ACCOUNT)


@pytest.fixture(scope="module")
def made(source, tmp_path_factory):
    """The request, the template and the folder of the assembly."""
    stack = new_stack(tmp_path_factory.mktemp("cdk.out"))
    key = kms.Key(stack, "Key")
    rule = dt.EvaluationRule(name="VanishingGradient", image_uri="503895931360.dkr.ecr.us-east-1.amazonaws.com/r:1")
    job = dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source,
        job_name="pretrain",
        instances=dt.Instances(
            "ml.p3.8xlarge", count=4, volume_size=cdk.Size.gibibytes(100), keep_alive=cdk.Duration.minutes(30)
        ),
        channels=[
            dt.Channel.from_manifest("listed", s3.Bucket(stack, "Data"), key="lists/train.json", data_prefix="corpus/"),
            dt.Channel.from_s3_uri(
                "shards",
                "s3://corpora/v1",
                input_mode="FastFile",
                options=dt.ChannelOptions(distribution="ShardedByS3Key", content_type="text/plain"),
            ),
        ],
        hyperparameters={"lr": 0.1, "labels": LABELS, **{f"n{number}": number for number in range(110)}},
        hyperparameter_file=True,
        image=dt.TrainingImage.from_deep_learning_container(accelerator="gpu"),
        max_pending=cdk.Duration.hours(2),
        retry=dt.RetryStrategy(maximum_retry_attempts=3),
        checkpoint=dt.CheckpointConfig(),
        input_mode="FastFile",
        output_key=key,
        output_compression="NONE",
        metric_definitions=[dt.MetricDefinition(name="loss", regex="loss=([0-9.]+)")],
        tensor_board=dt.TensorBoardConfig(),
        debugger_hook=dt.DebuggerHook(
            collections=[dt.DebuggerCollection(name="losses", parameters={"save_interval": "10"})]
        ),
        debugger_rules=[rule],
        profiler=dt.Profiler(interval=cdk.Duration.seconds(1), prefix="profiles/"),
        profiler_rules=[rule],
        experiment=dt.ExperimentConfig(experiment_name="corpus", run_name="first"),
        mlflow=dt.MlflowConfig(resource_arn=MLFLOW, experiment_name="corpus"),
        model_package=dt.ModelPackageConfig(group_arn=REGISTRY),
        remote_debug=True,
        infra_check=True,
        session_tag_chaining=True,
        tags={"team": "speech"},
    )
    cdk.Tags.of(stack).add("cost-center", "7")
    cdk.Tags.of(job).add("team", "vision", priority=300)
    assembly = cdk.App.of(stack).synth()
    return request_of(assembly, "Training"), assembly.get_stack_by_name("Training").template, Path(assembly.directory)


def test_the_request_is_valid(made):
    request, _, _ = made
    assert problems({**request, "TrainingJobName": "pretrain-1"}) == []


def test_every_feature_renders(made):
    request, _, _ = made
    assert request["ResourceConfig"]["KeepAlivePeriodInSeconds"] == 1800
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 86400, "MaxPendingTimeInSeconds": 7200}
    assert request["RetryStrategy"] == {"MaximumRetryAttempts": 3}
    assert request["AlgorithmSpecification"]["TrainingInputMode"] == "FastFile"
    assert request["AlgorithmSpecification"]["MetricDefinitions"] == [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]
    assert request["OutputDataConfig"]["CompressionType"] == "NONE"
    assert request["OutputDataConfig"]["KmsKeyId"].startswith("arn:")
    assert request["DebugRuleConfigurations"] == request["ProfilerRuleConfigurations"]
    assert request["ExperimentConfig"] == {"ExperimentName": "corpus", "RunName": "first"}
    assert request["MlflowConfig"] == {"MlflowResourceArn": MLFLOW, "MlflowExperimentName": "corpus"}
    assert request["ModelPackageConfig"] == {"ModelPackageGroupArn": REGISTRY}
    assert request["RemoteDebugConfig"] == {"EnableRemoteDebug": True}
    assert request["InfraCheckConfig"] == {"EnableInfraCheck": True}
    assert request["SessionChainingConfig"] == {"EnableSessionTagChaining": True}
    assert request["ProfilerConfig"]["ProfilingIntervalInMilliseconds"] == 1000


def test_names_paths_and_tags_come_from_one_name(made):
    request, _, _ = made
    bucket = "s3://bucket-joboutput0759972a"
    assert request["CheckpointConfig"]["S3Uri"] == f"{bucket}/checkpoints/pretrain"
    assert request["TensorBoardOutputConfig"]["S3OutputPath"] == f"{bucket}/tensorboard/pretrain"
    assert request["DebugHookConfig"]["S3OutputPath"] == f"{bucket}/debugger/pretrain"
    assert request["ProfilerConfig"]["S3OutputPath"] == f"{bucket}/profiles"
    assert {"Key": "distributed-training:job", "Value": "pretrain"} in request["Tags"]


def test_tags_of_cdk_reach_the_run(made):
    request, template, _ = made
    tags = {tag["Key"]: tag["Value"] for tag in request["Tags"]}
    assert tags == {"distributed-training:job": "pretrain", "cost-center": "7", "team": "vision"}
    # the call of the state machine says the same
    definition = json.dumps(template)
    assert "cost-center" in definition
    assert "sagemaker:AddTags" in definition


def test_long_and_many_hyperparameters_travel_in_a_file(made):
    request, _, folder = made
    assert len(request["HyperParameters"]) == 100
    assert request["HyperParameters"]["lr"] == "0.1"
    entries = {channel["ChannelName"]: channel for channel in request["InputDataConfig"]}
    assert list(entries) == ["launcher", "code", "launcher-hyperparameters", "listed", "shards"]
    key = entries["launcher-hyperparameters"]["DataSource"]["S3DataSource"]["S3Uri"].rpartition("/")[2]
    (file,) = folder.glob(f"asset.{key}")
    spilled = json.loads(file.read_text(encoding="utf-8"))
    assert json.loads(spilled["labels"]) == LABELS
    assert {**request["HyperParameters"], **spilled}.keys() == {"lr", "labels", *(f"n{n}" for n in range(110))}


def test_the_launcher_finds_them_in_the_file(source, tmp_path):
    stack = new_stack(tmp_path / "cdk.out")
    labels = ["é" * 30] * 100
    dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source,
        instances=dt.Instances("ml.c7i.xlarge"),
        hyperparameters={"lr": 0.1, "labels": labels},
        hyperparameter_file=True,
        channels=[],
    )
    cdk.App.of(stack).synth()
    resolved = resolve_job(Assembly(tmp_path / "cdk.out"))
    (plan,) = launch_plans(resolved).values()
    assert plan.problem == ""
    words = list(plan.commands[0])
    assert json.loads(words[words.index("--labels") + 1]) == labels
    assert words[words.index("--lr") + 1] == "0.1"
    # a run may override what is in the file
    (plan,) = launch_plans(resolve_job(Assembly(tmp_path / "cdk.out"), hyperparameters={"labels": "few"})).values()
    assert plan.commands[0][plan.commands[0].index("--labels") + 1] == "few"


def test_channels(made):
    request, _, _ = made
    *_, listed, shards = request["InputDataConfig"]
    assert listed["DataSource"]["S3DataSource"]["S3DataType"] == "ManifestFile"
    assert listed["DataSource"]["S3DataSource"]["S3Uri"].endswith("/lists/train.json")
    assert shards["DataSource"]["S3DataSource"]["S3DataDistributionType"] == "ShardedByS3Key"
    assert (shards["ContentType"], shards["InputMode"]) == ("text/plain", "FastFile")


def test_each_feature_grants_what_it_takes(made):
    _, template, _ = made
    (policy,) = [row for name, row in template["Resources"].items() if name.startswith("JobRolePolicy")]
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    actions = {
        action
        for statement in statements
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }
    assert {
        "ssmmessages:OpenDataChannel",
        "sagemaker-mlflow:LogMetric",
        "kms:GenerateDataKey",
        "kms:Encrypt",
    } <= actions
    (role,) = [row for name, row in template["Resources"].items() if name.startswith("JobRole9")]
    assert "sts:TagSession" in json.dumps(role["Properties"]["AssumeRolePolicyDocument"])


class TestRefusals:
    @pytest.fixture
    def stack(self, tmp_path):
        return new_stack(tmp_path)

    @staticmethod
    def found(stack, source, **props):
        with pytest.raises(dt.ConfigurationError) as raised:
            dt.DistributedTrainingJob(
                stack, "Job", source=source, **{"instances": dt.Instances("ml.g5.2xlarge"), **props}
            )
        return {(finding.rule, finding.prop) for finding in raised.value.findings}

    def test_everything_at_once_by_the_users_names(self, stack, source):
        found = self.found(
            stack,
            source,
            instances=dt.Instances("ml.p4d.24xlarge", keep_alive=cdk.Duration.hours(7), volume_key="alias/data"),
            retry=dt.RetryStrategy(maximum_retry_attempts=31),
            max_pending=cdk.Duration.minutes(5),
            metric_definitions=[dt.MetricDefinition(name="loss", regex="x" * 501)],
            experiment=dt.ExperimentConfig(run_name="-no"),
            mlflow=dt.MlflowConfig(resource_arn="mlflow"),
            debugger_hook=dt.DebuggerHook(collections=[dt.DebuggerCollection(name="x" * 257)]),
            tensor_board=dt.TensorBoardConfig(local_path="x" * 4097),
            channels=[
                dt.Channel.from_s3_uri(
                    "train", "s3://corpora", options=dt.ChannelOptions(instance_groups=["no-such-group"])
                )
            ],
        )
        assert found >= {
            ("DT335", "instances.keep_alive"),
            ("DT355", "instances.volume_key"),
            ("DT335", "retry.maximum_retry_attempts"),
            ("DT335", "max_pending"),
            ("DT335", "metric_definitions[0].regex"),
            ("DT334", "experiment.run_name"),
            ("DT334", "mlflow.resource_arn"),
            ("DT335", "debugger_hook.collections[0].name"),
            ("DT335", "tensor_board.local_path"),
        }
        assert any(rule == "DT362" and prop == "channels['train'].options.instance_groups[0]" for rule, prop in found)

    def test_an_option_that_stands_for_a_structure(self, stack, source):
        options = dt.ChannelOptions(hub_content_arn="x" * 3000, content_type="x" * 300)
        found = self.found(stack, source, channels=[dt.Channel.from_s3_uri("train", "s3://corpora", options=options)])
        options = {"channels['train'].options.hub_content_arn", "channels['train'].options.content_type"}
        assert {prop for _, prop in found} == options

    def test_spot_keeps_no_machines_warm(self, stack, source):
        found = self.found(
            stack,
            source,
            instances=dt.Instances("ml.g5.2xlarge", keep_alive=cdk.Duration.minutes(5)),
            spot=dt.ManagedSpot(max_wait=cdk.Duration.days(2)),
        )
        assert ("DT343", "instances.keep_alive") in found

    def test_hyperparameters_too_long_are_refused_without_a_file(self, stack, source):
        assert self.found(stack, source, hyperparameters={"labels": LABELS}) == {("DT303", "hyperparameters['labels']")}

    def test_a_library_that_the_image_lacks(self, stack, source):
        found = self.found(
            stack,
            source,
            instances=dt.Instances("ml.p4d.24xlarge", count=2),
            distribution=dt.SMDistributedDataParallel(),
        )
        assert found == {("DT423", "image")}

    def test_the_optimized_integration_names_what_it_does_not_take(self, stack, source):
        with pytest.raises(dt.ConfigurationError, match=r"AlgorithmSpecification\.ContainerEntrypoint") as raised:
            dt.DistributedTrainingJob(
                stack, "Job", source=source, instances=dt.Instances("ml.g5.2xlarge"), integration="optimized"
            )
        assert {finding.rule for finding in raised.value.findings} == {"DT704"}


@pytest.fixture(scope="module")
def others(source, tmp_path_factory):
    """Requests of jobs with other machines and images, from one app: the request of each by its id."""
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path_factory.mktemp("cdk.out")))
    stack = cdk.Stack(app, "Training", env=ACCOUNT)
    network = dt.TrainingNetwork(stack, "Network")
    provider = lambda_.Function.from_function_arn(
        stack, "Login", "arn:aws:lambda:us-east-1:111111111111:function:login"
    )
    groups = dt.Instances.from_groups(
        [
            dt.InstanceGroup(name="train", instance_type="ml.g5.2xlarge", count=2),
            dt.InstanceGroup(name="data", instance_type="ml.c7i.xlarge"),
        ]
    )
    ready = dt.TrainingImage.from_uri("111111111111.dkr.ecr.us-east-1.amazonaws.com/train:1", launcher_inside=True)
    jobs = {
        "Groups": {
            "instances": groups,
            "distribution": dt.OnInstanceGroups(distribution=dt.Torchrun(), groups=["train"]),
            "channels": [
                dt.Channel.from_s3_uri("train", "s3://c/v1", options=dt.ChannelOptions(instance_groups=["train"]))
            ],
        },
        "Preferences": {
            "instances": dt.Instances.from_preferences(
                [dt.InstancePreference(instance_type=name) for name in ("p5.48xlarge", "p4d.24xlarge")],
                count=2,
            )
        },
        "Smp": {"instances": dt.Instances("ml.p5.48xlarge", count=2), "distribution": dt.SMP(tensor_parallel_degree=2)},
        "Private": {
            "image": dt.TrainingImage.from_private_registry("registry.example.com/t:1", credentials_provider=provider)
        },
        "Inside": {"image": ready},
        "Optimized": {"image": ready, "integration": "optimized"},
    }
    for name, props in jobs.items():
        dt.DistributedTrainingJob(
            stack, name, source=source, network=network, **{"instances": dt.Instances("ml.g5.2xlarge"), **props}
        )
    assembly = app.synth()
    template = assembly.get_stack_by_name("Training").template
    return {name: request_of(assembly, "Training", name) for name in jobs}, template


def test_all_of_them_are_valid(others):
    for request in others[0].values():
        assert problems({**request, "TrainingJobName": "job-1"}) == []


def test_groups_have_their_own_numbers(others):
    requests, template = others
    assert "InstanceType" not in requests["Groups"]["ResourceConfig"]
    assert len(requests["Groups"]["ResourceConfig"]["InstanceGroups"]) == 2
    assert requests["Groups"]["AlgorithmSpecification"]["ContainerArguments"][3:5] == ["--instance-group", "train"]
    (machine,) = [
        row
        for name, row in template["Resources"].items()
        if name.startswith("GroupsStateMachineJob") and row["Type"] == "AWS::StepFunctions::StateMachine"
    ]
    definition = json.dumps(machine["Properties"]["DefinitionString"])
    assert "$overrides.instance_count" not in definition


def test_preferences_share_a_number(others):
    config = others[0]["Preferences"]["ResourceConfig"]
    assert config["InstanceCount"] == 2
    assert [row["InstanceType"] for row in config["InstancePreferences"]] == ["ml.p5.48xlarge", "ml.p4d.24xlarge"]


def test_smp_gets_the_image_with_its_library(others):
    image = others[0]["Smp"]["AlgorithmSpecification"]["TrainingImage"]
    assert image == "658645717510.dkr.ecr.us-east-1.amazonaws.com/smdistributed-modelparallel:2.5.1-gpu-py311-cu124"


def test_a_private_registry(others):
    config = others[0]["Private"]["AlgorithmSpecification"]["TrainingImageConfig"]
    assert config["TrainingRepositoryAccessMode"] == "Vpc"
    assert config["TrainingRepositoryAuthConfig"] == {
        "TrainingRepositoryCredentialsProviderArn": "arn:aws:lambda:us-east-1:111111111111:function:login"
    }
    assert "lambda:InvokeFunction" in json.dumps(others[1])


def test_the_launcher_inside(others):
    algorithm = others[0]["Inside"]["AlgorithmSpecification"]
    assert "ContainerEntrypoint" not in algorithm
    assert algorithm["ContainerArguments"] == ["torchrun", "--nproc-per-node", "auto", "--", "train.py"]
    assert [channel["ChannelName"] for channel in others[0]["Inside"]["InputDataConfig"]] == ["code"]


def test_the_optimized_integration_passes_arguments_by_the_environment(others):
    request = others[0]["Optimized"]
    assert "ContainerArguments" not in request["AlgorithmSpecification"]
    assert json.loads(request["Environment"]["TRAINING_LAUNCHER_ARGUMENTS"])[-2:] == ["--", "train.py"]
    assert "createTrainingJob.sync" in json.dumps(others[1])


def test_an_abort_stops_the_job_in_either_integration(others):
    resources = others[1]["Resources"]
    for job in ("Inside", "Optimized"):
        (rule,) = [
            row["Properties"]
            for name, row in resources.items()
            if name.startswith(f"{job}StateMachineEnded") and row["Type"] == "AWS::Events::Rule"
        ]
        assert rule["EventPattern"]["detail"]["status"] == ["ABORTED", "FAILED", "TIMED_OUT"]
        (machine,) = [
            row["Properties"]
            for name, row in resources.items()
            if name.startswith(f"{job}StateMachineJob") and row["Type"] == "AWS::StepFunctions::StateMachine"
        ]
        # by this the stopping machine knows the job as the execution's
        assert "TRAINING_EXECUTION_ARN" in json.dumps(machine["DefinitionString"])


def test_the_launchers_options_stand_before_the_script(source, tmp_path):
    stack = new_stack(tmp_path)
    dt.DistributedTrainingJob(
        stack,
        "Job",
        source=source,
        instances=dt.Instances("ml.p5.48xlarge", count=2),
        launcher_options=dt.LauncherOptions(hang_timeout=cdk.Duration.minutes(30), require_efa=True),
    )
    words = request_of(stack.node.root.synth(), "Training")["AlgorithmSpecification"]["ContainerArguments"]
    assert words[-5:] == ["--hang-timeout", "1800", "--require-efa", "--", "train.py"]


def test_the_launchers_options_are_judged(source, tmp_path):
    with pytest.raises(dt.ConfigurationError, match=r"launcher_options.preflight: got 'full'"):
        dt.DistributedTrainingJob(
            new_stack(tmp_path),
            "Job",
            source=source,
            instances=dt.Instances("ml.p5.48xlarge", count=2),
            launcher_options=dt.LauncherOptions(preflight="full"),
        )
