"""What the other engines put into a template: resources, permissions, definitions."""

import json
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import pytest
from tests.engines.engine_stack import definition, plausible, resource, statements, with_every_engine
from tests.request.create_training_job_model import problems, state_machine_problems

MACHINES = [
    "QueuedJob",
    "QueuedStop",
    "TuningJob",
    "TuningStop",
    "NightlyGuardMachine",
    "OnNewDataGuardMachine",
    "WeeklyGuardMachine",
]
PASS_ROLE = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
ACCOUNT = "us-east-1:111111111111"
SERVICE_JOBS = f"arn:aws:batch:{ACCOUNT}:service-job/*"


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path_factory.mktemp("cdk.out")))
    stack = cdk.Stack(app, "Engines", env=cdk.Environment(account="111111111111", region="us-east-1"))
    with_every_engine(stack, tmp_path_factory.mktemp("source"))
    return app.synth().get_stack_by_name("Engines").template


def named(template, kind, part):
    return resource(template, kind, part)[0]


@pytest.fixture(scope="module")
def training_role(template):
    return f"arn:aws:iam::111111111111:role/{named(template, 'AWS::IAM::Role', 'JobRole')}"


def queue(template, part="Queue"):
    (arn,) = {
        plausible({"Fn::GetAtt": [name, "JobQueueArn"]}, template)
        for name, found in template["Resources"].items()
        if found["Type"] == "AWS::Batch::JobQueue" and name.startswith(part)
    }
    return arn


@pytest.mark.parametrize("part", MACHINES)
def test_no_definition_has_a_null(template, part):
    def walk(value):
        assert value is not None
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(item)

    walk(definition(template, part))


def test_the_linter_has_nothing_against_the_definitions(template, tmp_path):
    role = "arn:aws:iam::111111111111:role/machine"
    machines = {
        part: {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {"RoleArn": role, "DefinitionString": json.dumps(definition(template, part))},
        }
        for part in MACHINES
    }
    file = tmp_path / "template.json"
    file.write_text(json.dumps({"Resources": machines}), encoding="utf-8")
    linter = Path(sys.executable).parent / "cfn-lint"
    done = subprocess.run([linter, file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_no_policy_stands_in_a_role(template):
    assert not [name for name, found in template["Resources"].items() if found["Type"] == "AWS::IAM::Policy"]


def test_the_queue(template):
    _, environment = resource(template, "AWS::Batch::ServiceEnvironment", "QueueEnvironment")
    assert environment["Properties"] == {
        "CapacityLimits": [{"CapacityUnit": "NUM_INSTANCES", "MaxCapacity": 8}],
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
    }
    _, scheduling = resource(template, "AWS::Batch::SchedulingPolicy", "QueueScheduling")
    assert scheduling["Properties"] == {
        "FairsharePolicy": {
            "ComputeReservation": 10,
            "ShareDecaySeconds": 86400,
            "ShareDistribution": [
                {"ShareIdentifier": "vision", "WeightFactor": 1},
                {"ShareIdentifier": "text*", "WeightFactor": 0.5},
            ],
        }
    }
    _, job_queue = resource(template, "AWS::Batch::JobQueue", "Queue")
    properties = dict(job_queue["Properties"])
    assert "Environment" in str(properties.pop("ServiceEnvironmentOrder"))
    assert "Scheduling" in str(properties.pop("SchedulingPolicyArn"))
    assert properties == {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "JobStateTimeLimitActions": [
            {
                "Action": "CANCEL",
                "MaxTimeSeconds": 43200,
                "Reason": "No capacity in the time that the queue allows (max_head_time)",
                "State": "RUNNABLE",
            }
        ],
        "Priority": 1,
    }


def test_quota_shares(template):
    _, scheduling = resource(template, "AWS::Batch::SchedulingPolicy", "ReservedScheduling")
    assert scheduling["Properties"] == {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}}
    found = [
        dict(resource(template, "AWS::Batch::QuotaShare", part)[1]["Properties"])
        for part in ("ReservedShare1", "ReservedShare2")
    ]
    assert "JobQueueArn" in str([share.pop("JobQueue") for share in found])
    capacity = {"CapacityLimits": [{"CapacityUnit": "ml.p4d.24xlarge", "MaxCapacity": 8}]}
    assert found == [
        {
            **capacity,
            "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
            "QuotaShareName": "vision",
            "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW"},
        },
        {
            **capacity,
            "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
            "QuotaShareName": "text",
            "ResourceSharingConfiguration": {"Strategy": "LEND"},
        },
    ]


def test_what_is_submitted(template):
    submit = definition(template, "QueuedJob")["States"]["Submit"]["Arguments"]
    assert submit["RetryStrategy"] == {
        "Attempts": 3,
        "EvaluateOnExit": [
            {"Action": "RETRY", "OnStatusReason": "*InternalServerError*"},
            {"Action": "EXIT", "OnStatusReason": "*"},
        ],
    }
    assert (submit["ShareIdentifier"], submit["SchedulingPriority"]) == ("text1", 10)
    assert submit["TimeoutConfig"] == {"AttemptDurationSeconds": 86400}
    other = definition(template, "PreemptibleJob")["States"]["Submit"]["Arguments"]
    assert other["QuotaShareName"] == "vision"
    assert other["PreemptionConfiguration"] == {"PreemptionRetriesBeforeTermination": 3}
    for arguments in (submit, other):
        sent = {name: value for name, value in arguments.items() if name != "ClientToken"}  # an expression yet
        assert state_machine_problems(sent, "batch", "SubmitServiceJob") == []


def test_permissions_of_a_queued_job(template, training_role):
    assert statements(template, "QueuedJobRole") == [
        {"Action": "batch:SubmitServiceJob", "Resource": [queue(template), SERVICE_JOBS]},
        {"Action": "batch:DescribeServiceJob", "Resource": SERVICE_JOBS},
        {
            "Action": "sagemaker:DescribeTrainingJob",
            "Resource": [
                f"arn:aws:sagemaker:{ACCOUNT}:training-job/AWSBatch*",
                f"arn:aws:sagemaker:{ACCOUNT}:training-job/awsbatch*",
            ],
        },
        {"Action": "iam:PassRole", "Resource": training_role, "Condition": PASS_ROLE},
    ]
    assert statements(template, "QueuedStopRole") == [
        {"Action": "batch:ListServiceJobs", "Resource": "*"},
        {"Action": "batch:TerminateServiceJob", "Resource": SERVICE_JOBS},
    ]


def test_permissions_of_a_tuning_job(template, training_role):
    jobs = f"arn:aws:sagemaker:{ACCOUNT}:hyper-parameter-tuning-job/digits-*"
    assert statements(template, "TuningJobRole") == [
        {
            "Action": [
                "sagemaker:AddTags",
                "sagemaker:CreateHyperParameterTuningJob",
                "sagemaker:DescribeHyperParameterTuningJob",
            ],
            "Resource": jobs,
        },
        {"Action": "iam:PassRole", "Resource": training_role, "Condition": PASS_ROLE},
    ]
    assert statements(template, "TuningStopRole") == [
        {
            "Action": ["sagemaker:DescribeHyperParameterTuningJob", "sagemaker:StopHyperParameterTuningJob"],
            "Resource": jobs,
        }
    ]
    _, role = resource(template, "AWS::IAM::Role", "JobRole")
    trusted = [
        plausible(statement["Condition"]["ArnLike"]["aws:SourceArn"], template)
        for statement in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    ]
    assert trusted == [f"arn:aws:sagemaker:{ACCOUNT}:training-job/*", jobs]


def test_an_execution_that_ends_stops_what_it_started(template):
    for engine in ("Queued", "Tuning"):
        job = named(template, "AWS::StepFunctions::StateMachine", f"{engine}Job")
        stop = named(template, "AWS::StepFunctions::StateMachine", f"{engine}Stop")
        _, rule = resource(template, "AWS::Events::Rule", f"{engine}Ended")
        assert rule["Properties"]["EventPattern"] == {
            "source": ["aws.states"],
            "detail-type": ["Step Functions Execution Status Change"],
            "detail": {"status": ["ABORTED", "FAILED", "TIMED_OUT"], "stateMachineArn": [{"Ref": job}]},
        }
        (target,) = rule["Properties"]["Targets"]
        assert target["Arn"] == {"Ref": stop}
        assert statements(template, f"{engine}EndedRole") == [
            {"Action": "states:StartExecution", "Resource": plausible({"Ref": stop}, template)}
        ]


def test_the_tuning_jobs_call(template):
    call = definition(template, "TuningJob")["States"]["Create"]["Arguments"]
    assert call["HyperParameterTuningJobConfig"] == {
        "Strategy": "Bayesian",
        "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
        "ResourceLimits": {
            "MaxNumberOfTrainingJobs": 20,
            "MaxParallelTrainingJobs": 2,
            "MaxRuntimeInSeconds": 172800,
        },
        "ParameterRanges": {
            "ContinuousParameterRanges": [
                {"Name": "lr", "MinValue": "1e-05", "MaxValue": "0.01", "ScalingType": "Logarithmic"}
            ],
            "IntegerParameterRanges": [{"Name": "layers", "MinValue": "2", "MaxValue": "8", "ScalingType": "Auto"}],
            "CategoricalParameterRanges": [{"Name": "optimizer", "Values": ["adam", "sgd"]}],
        },
        "TrainingJobEarlyStoppingType": "Auto",
        "TuningJobCompletionCriteria": {"TargetObjectiveMetricValue": 0.1},
        "RandomSeed": 7,
    }
    words = json.loads(call["TrainingJobDefinition"]["Environment"]["TRAINING_LAUNCHER_ARGUMENTS"])
    assert (words[0], words[-1]) == ("torchrun", "train.py")
    assert {tag["Key"] for tag in call["Tags"]} == {"distributed-training:job", "team"}


def pipeline_definition(template):
    _, pipeline = resource(template, "AWS::SageMaker::Pipeline", "Pipeline")
    return json.loads(plausible(pipeline["Properties"]["PipelineDefinition"]["PipelineDefinitionBody"], template))


def test_the_pipeline(template):
    found = pipeline_definition(template)
    (step,) = found.pop("Steps")
    assert found == {
        "Version": "2020-12-01",
        "Metadata": {},
        "Parameters": [
            {"Name": "InstanceCount", "Type": "Integer", "DefaultValue": 2},
            {"Name": "lr", "Type": "String", "DefaultValue": "0.1"},
            {"Name": "epochs", "Type": "String", "DefaultValue": "imported-epochs"},
            {"Name": "note", "Type": "String", "DefaultValue": 'a "quoted" {word}'},
        ],
    }
    assert (step["Name"], step["Type"]) == ("Train", "Training")
    assert step["RetryPolicies"] == [
        {
            "ExceptionType": ["SageMaker.CAPACITY_ERROR", "SageMaker.RESOURCE_LIMIT"],
            "IntervalSeconds": 60,
            "BackoffRate": 2,
            "MaxAttempts": 5,
        }
    ]


def test_the_step_is_what_sagemaker_takes(template):
    found = pipeline_definition(template)
    values = {parameter["Name"]: parameter["DefaultValue"] for parameter in found["Parameters"]}

    def filled(value):
        if isinstance(value, list):
            return [filled(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"Get"}:
            return values.get(value["Get"].removeprefix("Parameters."), "arn:of-the-execution")
        return {name: filled(item) for name, item in value.items()}

    arguments = found["Steps"][0]["Arguments"]
    assert "TrainingJobName" not in arguments
    assert arguments["Environment"]["TRAINING_EXECUTION_ARN"] == {"Get": "Execution.PipelineExecutionArn"}
    assert arguments["ResourceConfig"]["InstanceCount"] == {"Get": "Parameters.InstanceCount"}
    assert problems({**filled(arguments), "TrainingJobName": "pipelines-x-Train"}) == []


def test_permissions_of_a_pipeline(template, training_role):
    assert statements(template, "PipelineRole") == [
        {
            "Action": [
                "sagemaker:AddTags",
                "sagemaker:CreateTrainingJob",
                "sagemaker:DescribeTrainingJob",
                "sagemaker:StopTrainingJob",
            ],
            "Resource": f"arn:aws:sagemaker:{ACCOUNT}:training-job/pipelines-*",
        },
        {"Action": "iam:PassRole", "Resource": training_role, "Condition": PASS_ROLE},
    ]
    _, role = resource(template, "AWS::IAM::Role", "PipelineRole")
    (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    _, pipeline = resource(template, "AWS::SageMaker::Pipeline", "Pipeline")
    name = pipeline["Properties"]["PipelineName"]
    assert name == name.lower()
    source = plausible(trust["Condition"]["ArnLike"]["aws:SourceArn"], template)
    assert source == f"arn:aws:sagemaker:{ACCOUNT}:pipeline/{name}*"


def test_the_schedule(template):
    guard = named(template, "AWS::StepFunctions::StateMachine", "NightlyGuardMachine")
    queued = plausible({"Ref": named(template, "AWS::StepFunctions::StateMachine", "QueuedJob")}, template)
    _, schedule = resource(template, "AWS::Scheduler::Schedule", "Nightly")
    properties = schedule["Properties"]
    assert properties["ScheduleExpression"] == "cron(0 2 * * ? *)"
    assert properties["ScheduleExpressionTimezone"] == "Europe/Berlin"
    assert (properties["State"], properties["FlexibleTimeWindow"]) == ("ENABLED", {"Mode": "OFF"})
    assert (properties["Target"]["Arn"], properties["Target"]["Input"]) == ({"Ref": guard}, "{}")
    assert definition(template, "NightlyGuardMachine")["States"]["Begin"]["Assign"] == {
        "runs": {
            "machine": queued,
            "input": {"hyperparameters": {"lr": "0.2", "quick": "true"}, "instance_count": 2},
        },
        "first": "",
        "age": 0,
        "pause": 60,
    }
    assert statements(template, "NightlyGuardMachineRole") == [
        {"Action": ["states:ListExecutions", "states:StartExecution"], "Resource": queued}
    ]
    assert statements(template, "NightlyRole") == [
        {"Action": "states:StartExecution", "Resource": plausible({"Ref": guard}, template)}
    ]
    _, role = resource(template, "AWS::IAM::Role", "NightlyRole")
    (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    source = plausible(trust["Condition"]["ArnLike"]["aws:SourceArn"], template)
    assert source == f"arn:aws:scheduler:{ACCOUNT}:schedule-group/default"


def test_new_data(template):
    guard = named(template, "AWS::StepFunctions::StateMachine", "OnNewDataGuardMachine")
    job = plausible({"Ref": named(template, "AWS::StepFunctions::StateMachine", "JobStateMachineJob")}, template)
    _, rule = resource(template, "AWS::Events::Rule", "OnNewDataRule")
    assert rule["Properties"]["EventPattern"] == {
        "source": ["aws.s3"],
        "detail-type": ["Object Created"],
        "detail": {
            "bucket": {"name": ["corpus"]},
            "object": {"key": [{"wildcard": "books/\\**_SUCCESS"}]},
        },
    }
    (target,) = rule["Properties"]["Targets"]
    assert target["Arn"] == {"Ref": guard}
    states = definition(template, "OnNewDataGuardMachine")["States"]
    assert states["Begin"]["Assign"]["runs"] == {"machine": job, "input": {}}
    assert (states["Quiet"]["Seconds"], states["Free"]["Choices"][1]["Next"]) == (300, "Pause")
    assert statements(template, "OnNewDataGuardMachineRole") == [
        {"Action": ["states:ListExecutions", "states:StartExecution"], "Resource": job}
    ]


def test_a_pipeline_by_the_clock(template):
    _, pipeline = resource(template, "AWS::SageMaker::Pipeline", "Pipeline")
    assert definition(template, "WeeklyGuardMachine")["States"]["Begin"]["Assign"]["runs"] == {
        "pipeline": plausible({"Ref": named(template, "AWS::SageMaker::Pipeline", "Pipeline")}, template),
        "parameters": [{"Name": "lr", "Value": "0.3"}, {"Name": "InstanceCount", "Value": "4"}],
    }
    assert statements(template, "WeeklyGuardMachineRole") == [
        {
            "Action": ["sagemaker:ListPipelineExecutions", "sagemaker:StartPipelineExecution"],
            "Resource": f"arn:aws:sagemaker:{ACCOUNT}:pipeline/{pipeline['Properties']['PipelineName']}",
        }
    ]
