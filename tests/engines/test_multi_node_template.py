"""What the engine for machines of one's own puts into a template."""

import base64
import email
import json
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_sns as sns
from tests.engines.engine_stack import definition, plausible, resource, statements
from tests.engines.multi_node_stack import IMAGE, training_job, with_multi_node_job
from tests.job.resolved import resolve
from tests.request.create_training_job_model import problems, state_machine_problems

import cdk_distributed_training as dt

ENVIRONMENT = cdk.Environment(account="111111111111", region="us-east-1")


def synthesized(folder, build):
    app = cdk.App(analytics_reporting=False, outdir=str(folder / "cdk.out"))
    stack = cdk.Stack(app, "Own", env=ENVIRONMENT)
    build(stack, folder / "source")
    return app.synth().get_stack_by_name("Own")


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    def build(stack, folder):
        on_ec2 = with_multi_node_job(stack, folder)
        person = iam.Role(stack, "Person", assumed_by=iam.AccountRootPrincipal())
        for grant in (on_ec2.grants.start, on_ec2.grants.read, on_ec2.grants.stop, on_ec2.grants.read_logs):
            grant(person)
        on_ec2.on_completed("Completed")
        on_ec2.metric_executions_failed().create_alarm(stack, "Failing", threshold=1, evaluation_periods=1)
        nightly = scheduler.ScheduleExpression.cron(hour="2", minute="0")
        dt.TrainingSchedule(stack, "Nightly", job=on_ec2, schedule=nightly, instance_count=4)
        on_ec2.on_batch_job_state_change(
            "Failed", target=targets.SnsTopic(sns.Topic(stack, "Topic")), statuses=["FAILED"]
        )
        cdk.CfnOutput(stack, "JobDefinition", value=on_ec2.job_definition_arn)
        cdk.CfnOutput(stack, "JobQueue", value=on_ec2.job_queue_arn)

    return synthesized(tmp_path_factory.mktemp("multi_node"), build)


@pytest.fixture(scope="module")
def template(artifact):
    return artifact.template


def properties(template, kind, part="OnEc2"):
    return resolve(resource(template, kind, part)[1]["Properties"], template)


def uncapitalized(value, *, keep=("Options", "Tags")):
    """CloudFormation's spelling of Batch's members as the API has them."""
    if isinstance(value, list):
        return [uncapitalized(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name[0].lower() + name[1:]: item if name in keep else uncapitalized(item) for name, item in value.items()}


def job_definition(template):
    return uncapitalized(plausible(resource(template, "AWS::Batch::JobDefinition", "OnEc2")[1]["Properties"], template))


def container(template):
    (nodes,) = job_definition(template)["nodeProperties"]["nodeRangeProperties"]
    assert nodes["targetNodes"] == "0:"
    return nodes["container"]


def test_the_job_definition_is_what_batch_takes(template):
    call = {"jobDefinitionName": "digits", **job_definition(template)}
    assert problems(call, "batch", "RegisterJobDefinition") == []
    assert call["type"] == "multinode"
    assert (call["nodeProperties"]["mainNode"], call["nodeProperties"]["numNodes"]) == (0, 2)
    assert call["timeout"] == {"attemptDurationSeconds": 12 * 60 * 60}
    assert call["tags"] == {"team": "vision", "distributed-training:job": "digits"}
    assert call["propagateTags"] is True


def test_only_a_machine_that_went_away_is_worth_another_attempt(template):
    assert job_definition(template)["retryStrategy"] == {
        "attempts": 3,
        "evaluateOnExit": [
            {"action": "RETRY", "onStatusReason": "Host EC2*"},
            {"action": "EXIT", "onReason": "*"},
        ],
    }


def test_the_container_has_all_of_the_machine(template):
    given = container(template)
    assert given["image"] == IMAGE
    assert given["instanceType"] == "p4d.24xlarge"
    assert given["resourceRequirements"] == [
        {"type": "VCPU", "value": "96"},
        {"type": "MEMORY", "value": str(int(1179648 * 0.9))},
        {"type": "GPU", "value": "8"},
    ]
    assert given["linuxParameters"]["sharedMemorySize"] == int(1179648 * 0.9) // 2
    devices = given["linuxParameters"]["devices"]
    assert [device["hostPath"] for device in devices] == [f"/dev/infiniband/uverbs{number}" for number in range(4)]
    assert all(device["containerPath"] == device["hostPath"] for device in devices)
    assert {"name": "memlock", "softLimit": -1, "hardLimit": -1} in given["ulimits"]
    assert "privileged" not in given


def test_the_log_goes_to_the_jobs_own_group(template):
    configuration = container(template)["logConfiguration"]
    (group,) = [
        plausible({"Ref": name}, template)
        for name, found in template["Resources"].items()
        if found["Type"] == "AWS::Logs::LogGroup" and name.startswith("OnEc2NodeLog")
    ]
    assert configuration == {
        "logDriver": "awslogs",
        "options": {"awslogs-group": group, "awslogs-region": "us-east-1", "awslogs-stream-prefix": "node"},
    }


def test_directories_of_the_file_system_are_mounted_twice(template):
    given = container(template)
    assert given["volumes"] == [
        {"name": "channel-1", "host": {"sourcePath": "/mnt/channels/train"}},
        {"name": "channel-2", "host": {"sourcePath": "/mnt/channels/checkpoints"}},
    ]
    assert given["mountPoints"] == [
        {"sourceVolume": "channel-1", "containerPath": "/opt/ml/input/data/train", "readOnly": True},
        {"sourceVolume": "channel-2", "containerPath": "/opt/ml/input/data/checkpoints", "readOnly": False},
    ]


def user_data(template):
    _, found = resource(template, "AWS::EC2::LaunchTemplate", "OnEc2")
    data = found["Properties"]["LaunchTemplateData"]["UserData"]["Fn::Base64"]
    return str(resolve(data, template))


def test_the_user_data_is_a_mime_message_with_a_script_that_bash_reads(template, tmp_path):
    message = email.message_from_string(user_data(template))
    (part,) = message.get_payload()
    assert part.get_content_type() == "text/x-shellscript"
    script = tmp_path / "script.sh"
    script.write_text(part.get_payload())
    assert subprocess.run(["bash", "-n", script], capture_output=True, check=True).stderr == b""
    text = part.get_payload()
    assert text.startswith("#!/bin/bash\n")
    assert "echo ECS_CONTAINER_STOP_TIMEOUT=2m >> /etc/ecs/ecs.config" in text
    assert "dnf install -y lustre-client" in text
    system = "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com@tcp:/abcdefgh"
    assert f"mount -t lustre -o ro,relatime,flock '{system}/corpus' '/mnt/channels/train'" in text
    assert f"mount -t lustre -o relatime,flock '{system}/checkpoints' '/mnt/channels/checkpoints'" in text


def test_the_script_mounts_and_goes_on(template, tmp_path):
    """Run for real, with programs of ours in the place of those that change the machine."""
    message = email.message_from_string(user_data(template))
    script = (
        message.get_payload()[0].get_payload().replace("/etc/ecs/", f"{tmp_path}/").replace("/mnt/", f"{tmp_path}/")
    )
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in {
        "dnf": "exit 0",
        "sleep": "exit 0",
        # the first file system never comes, the second at the third time
        "mount": f'echo "$@" >> {tmp_path}/calls; case "$*" in *corpus*) exit 1;; esac; '
        f"[ $(grep -c checkpoints {tmp_path}/calls) -ge 3 ]",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", script], env={"PATH": f"{programs}:/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len([call for call in calls if "corpus" in call]) == 5
    assert len([call for call in calls if "/checkpoints" in call]) == 3
    assert (tmp_path / "channels/checkpoints").is_dir()
    assert "ECS_AWSVPC_BLOCK_IMDS=true" in (tmp_path / "ecs.config").read_text()


def test_the_machines_are_what_ec2_takes(template):
    data = properties(template, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    data["UserData"] = base64.b64encode(user_data(template).encode()).decode()
    call = {"LaunchTemplateName": "digits", "LaunchTemplateData": data}
    assert problems(call, "ec2", "CreateLaunchTemplate") == []
    interfaces = data["NetworkInterfaces"]
    assert [(one["NetworkCardIndex"], one["DeviceIndex"], one["InterfaceType"]) for one in interfaces] == [
        (0, 0, "efa"),
        (1, 1, "efa"),
        (2, 1, "efa"),
        (3, 1, "efa"),
    ]
    assert all(one["Groups"] == ["sg-0123456789abcdef0"] for one in interfaces)
    assert data["MetadataOptions"] == {"HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    (volume,) = data["BlockDeviceMappings"]
    assert volume["Ebs"] == {"Encrypted": True, "VolumeType": "gp3", "VolumeSize": 100, "DeleteOnTermination": True}
    assert data["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
    }


def test_the_compute_environment_is_what_batch_takes(template):
    found = plausible(resource(template, "AWS::Batch::ComputeEnvironment", "OnEc2")[1]["Properties"], template)
    assert found.pop("ReplaceComputeEnvironment") is False
    call = uncapitalized(found)
    # the only members of which the API spells the second letter small
    resources = call["computeResources"]
    assert problems({"computeEnvironmentName": "digits", **call}, "batch", "CreateComputeEnvironment") == []
    assert (resources["type"], resources["minvCpus"], resources["maxvCpus"]) == ("EC2", 0, 96 * 4)
    assert resources["instanceTypes"] == ["p4d.24xlarge"]
    assert resources["subnets"] == ["subnet-0123456789abcdef0"]
    assert resources["ec2Configuration"] == [{"imageType": "ECS_AL2023_NVIDIA"}]
    assert "securityGroupIds" not in resources, "the launch template's interfaces have them"
    group = resource(template, "AWS::EC2::PlacementGroup", "OnEc2")
    assert group[1]["Properties"] == {"Strategy": "cluster"}
    assert resources["placementGroup"] == plausible({"Ref": group[0]}, template)


def test_the_queue_is_what_batch_takes(template):
    found = plausible(resource(template, "AWS::Batch::JobQueue", "OnEc2")[1]["Properties"], template)
    assert problems({"jobQueueName": "digits", **uncapitalized(found)}, "batch", "CreateJobQueue") == []


def trust(template, part):
    _, role = resource(template, "AWS::IAM::Role", part)
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    return resolve(statement, template)


@pytest.mark.parametrize("part", ["OnEc2RolesJob", "OnEc2RolesExecution"])
def test_only_tasks_of_ecs_are_the_containers_roles(template, part):
    statement = trust(template, part)
    assert statement["Principal"] == {"Service": "ecs-tasks.amazonaws.com"}
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": "111111111111"},
        "ArnLike": {"aws:SourceArn": "arn:aws:ecs:us-east-1:111111111111:*"},
    }


def actions(template, part):
    found = statements(template, part)
    return {
        action for one in found for action in ([one["Action"]] if isinstance(one["Action"], str) else one["Action"])
    }


def test_the_script_may_reach_its_data_and_nothing_of_sagemakers(template):
    assert actions(template, "OnEc2RolesJobPolicy") == {
        "s3:AbortMultipartUpload",
        "s3:GetObject",
        "s3:ListBucket",
        "s3:PutObject",
    }
    written = [one for one in statements(template, "OnEc2RolesJobPolicy") if "s3:PutObject" in one["Action"]]
    assert [str(one["Resource"]).endswith("/output/*") for one in written] == [True]


def test_the_execution_role_pulls_and_logs(template):
    _, policy = resource(template, "AWS::IAM::ManagedPolicy", "OnEc2RolesExecutionPolicy")
    pull, token, log = policy["Properties"]["PolicyDocument"]["Statement"]
    assert plausible(pull["Resource"], template).endswith(":repository/train")
    assert (token["Action"], token["Resource"]) == ("ecr:GetAuthorizationToken", "*")
    assert log["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    (name,) = [name for name in template["Resources"] if name.startswith("OnEc2NodeLog")]
    assert log["Resource"] == {"Fn::GetAtt": [name, "Arn"]}


def test_a_machine_may_take_containers_of_batchs_own_clusters(template):
    assert trust(template, "OnEc2MachinesInstanceRole")["Principal"] == {"Service": "ec2.amazonaws.com"}
    found = statements(template, "OnEc2MachinesInstancePolicy")
    assert all(one["Resource"] == "*" or "AWSBatch-*" in str(one["Resource"]) for one in found)
    assert {action.split(":")[0] for action in actions(template, "OnEc2MachinesInstancePolicy")} == {"ecs"}


def test_the_state_machines_may_submit_see_and_end(template):
    submit, look = statements(template, "OnEc2JobRolePolicy")
    assert submit["Action"] == "batch:SubmitJob"
    assert len(submit["Resource"]) == 2
    assert look == {"Action": "batch:DescribeJobs", "Resource": "*"}
    assert statements(template, "OnEc2StopRolePolicy") == [
        {"Action": "batch:ListJobs", "Resource": "*"},
        {"Action": "batch:TerminateJob", "Resource": "arn:aws:batch:us-east-1:111111111111:job/*"},
    ]


def test_events_of_its_own_queue(template):
    found = [
        one["Properties"]["EventPattern"]
        for name, one in template["Resources"].items()
        if one["Type"] == "AWS::Events::Rule" and name.startswith("OnEc2Failed")
    ]
    (pattern,) = found
    assert pattern["source"] == ["aws.batch"]
    assert pattern["detail-type"] == ["Batch Job State Change"]
    assert pattern["detail"]["status"] == ["FAILED"]
    assert pattern["detail"]["jobQueue"] == [template["Outputs"]["JobQueue"]["Value"]]


def test_it_offers_what_a_job_offers(template):
    (completed,) = [
        one["Properties"]["EventPattern"]
        for name, one in template["Resources"].items()
        if one["Type"] == "AWS::Events::Rule" and name.startswith("OnEc2Completed")
    ]
    assert completed["source"] == ["aws.states"]
    _, policy = resource(template, "AWS::IAM::Policy", "Person")
    allowed = str(policy["Properties"]["PolicyDocument"])
    for action in ("states:StartExecution", "states:StopExecution", "logs:FilterLogEvents"):
        assert action in allowed
    assert "sagemaker" not in allowed


def test_the_environment_says_what_sagemaker_would(template):
    variables = {one["name"]: one["value"] for one in container(template)["environment"]}
    command = json.loads(variables["TRAINING_COMMAND"])
    assert command[0] == "sh"
    assert command[command.index("launcher") :] == [
        "launcher",
        "torchrun",
        "--nproc-per-node",
        "auto",
        "--",
        "train.py",
    ]
    assert json.loads(variables["TRAINING_HYPERPARAMETERS"]) == {"lr": "0.1", "note": 'a "quoted" {word}'}
    channels = json.loads(variables["TRAINING_INPUT_DATA_CONFIG"])
    assert [channel["ChannelName"] for channel in channels] == [
        "launcher",
        "code",
        "train",
        "checkpoints",
        "vocabulary",
    ]
    assert variables["TRAINING_OUTPUT_PATH"].endswith("/output")
    assert variables["OMP_NUM_THREADS"] == "1"
    assert variables["TRAINING_INSTANCE_TYPE"] == "ml.p4d.24xlarge"
    assert variables["AWS_REGION"] == "us-east-1"


def test_no_definition_has_a_null(template):
    def walk(value):
        assert value is not None
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(item)

    for part in ("OnEc2Job", "OnEc2Stop"):
        walk(definition(template, part))


def test_what_is_submitted_names_the_definition_and_the_queue(template):
    defaults = definition(template, "OnEc2Job")["States"]["Defaults"]["Assign"]["defaults"]
    assert defaults["job_definition"] == plausible(template["Outputs"]["JobDefinition"]["Value"], template)
    assert defaults["job_queue"] == plausible(template["Outputs"]["JobQueue"]["Value"], template)
    assert (defaults["instance_count"], defaults["max_instances"]) == (2, 4)
    submission = definition(template, "OnEc2Job")["States"]["Submit"]["Arguments"]
    as_text = json.loads(json.dumps(submission).replace('"{% $overrides.instance_count %}"', "2"))
    assert state_machine_problems(as_text, "batch", "SubmitJob") == []


def test_cfn_lint_has_nothing_to_say(artifact):
    executable = Path(sys.executable).parent / "cfn-lint"
    # CDK's own state machines say twice that they come after their roles
    command = [executable, "--ignore-checks", "W3005", "--", artifact.template_full_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_cfn_lint_has_nothing_against_the_definitions(template, tmp_path):
    role = "arn:aws:iam::111111111111:role/machine"
    machines = {
        part: {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {"RoleArn": role, "DefinitionString": json.dumps(definition(template, part))},
        }
        for part in ("OnEc2Job", "OnEc2Stop")
    }
    file = tmp_path / "template.json"
    file.write_text(json.dumps({"Resources": machines}), encoding="utf-8")
    executable = Path(sys.executable).parent / "cfn-lint"
    done = subprocess.run([executable, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("ml.c7i.xlarge", [(0, 0, "interface")]),
        ("ml.g5.12xlarge", [(0, 0, "efa")]),
        ("ml.p5.48xlarge", [(0, 0, "efa"), *[(card, 1, "efa") for card in range(1, 32)]]),
        ("ml.p6-b300.48xlarge", [(0, 0, "interface"), *[(card, 1, "efa") for card in range(1, 17)]]),
    ],
)
def test_interfaces_of_other_types(tmp_path, name, cards):
    def build(stack, folder):
        job = training_job(stack, folder, instances=dt.Instances(name, count=2))
        dt.MultiNodeParallelJob(stack, "OnEc2", job=job)

    template = synthesized(tmp_path, build).template
    interfaces = properties(template, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["NetworkInterfaces"]
    assert [(one["NetworkCardIndex"], one["DeviceIndex"], one["InterfaceType"]) for one in interfaces] == cards
    linux = container(template)["linuxParameters"]
    efa = [kind for _, _, kind in cards if kind == "efa"]
    assert len(linux.get("devices", [])) == len(efa)
    gpus = [one for one in container(template)["resourceRequirements"] if one["type"] == "GPU"]
    assert len(gpus) == (0 if name == "ml.c7i.xlarge" else 1)
    assert "volumes" not in container(template)


def test_a_burstable_type_is_in_no_placement_group(tmp_path):
    def build(stack, folder):
        job = training_job(stack, folder, instances=dt.Instances("ml.t3.xlarge", count=1))
        dt.MultiNodeParallelJob(
            stack,
            "OnEc2",
            job=job,
            machine_image_id="ami-0123456789abcdef0",
            root_volume=cdk.Size.gibibytes(500),
            memory=cdk.Size.gibibytes(8),
            shared_memory=cdk.Size.gibibytes(2),
        )

    template = synthesized(tmp_path, build).template
    assert not [one for one in template["Resources"].values() if one["Type"] == "AWS::EC2::PlacementGroup"]
    resources = resource(template, "AWS::Batch::ComputeEnvironment", "OnEc2")[1]["Properties"]["ComputeResources"]
    assert resources["Ec2Configuration"] == [{"ImageType": "ECS_AL2023", "ImageIdOverride": "ami-0123456789abcdef0"}]
    (volume,) = properties(template, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["BlockDeviceMappings"]
    assert volume["Ebs"]["VolumeSize"] == 500
    assert {"type": "MEMORY", "value": "8192"} in container(template)["resourceRequirements"]
    assert container(template)["linuxParameters"] == {"sharedMemorySize": 2048}


def test_a_volume_whose_size_is_a_token(tmp_path):
    def build(stack, folder):
        parameter = cdk.CfnParameter(stack, "Gibibytes", type="Number", default=500)
        size = cdk.Size.gibibytes(parameter.value_as_number)
        dt.MultiNodeParallelJob(stack, "OnEc2", job=training_job(stack, folder), root_volume=size)

    template = synthesized(tmp_path, build).template
    data = resource(template, "AWS::EC2::LaunchTemplate", "OnEc2")[1]["Properties"]["LaunchTemplateData"]
    (volume,) = data["BlockDeviceMappings"]
    assert volume["Ebs"]["VolumeSize"] == {"Ref": "Gibibytes"}


def test_only_metrics_that_exist_are_offered():
    """SageMaker measures machines of training jobs, and these are none; runs are executions with every engine."""
    for engine in (dt.DistributedTrainingJob, dt.QueuedTrainingJob, dt.TunedTrainingJob, dt.TrainingPipeline):
        assert hasattr(engine, "metric_gpu_utilization")
    assert not hasattr(dt.MultiNodeParallelJob, "metric_gpu_utilization")
    assert not hasattr(dt.MultiNodeParallelJob, "metric_of_training")
    assert hasattr(dt.MultiNodeParallelJob, "metric_executions_failed")
