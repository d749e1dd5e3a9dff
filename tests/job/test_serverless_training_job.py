"""Serverless jobs: the request, what the role may do, how runs are found again, and what is refused."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from tests.job.resolved import resolve
from tests.request.create_training_job_model import problems

import cdk_distributed_training as dt

ENV = cdk.Environment(account="111111111111", region="us-east-1")
MODEL = "arn:aws:sagemaker:us-east-1:aws:hub-content/SageMakerPublicHub/Model/llama"
DATA = "arn:aws:sagemaker:us-east-1:111111111111:hub-content/hub/DataSet/talks/1.0.0"
GROUP = "arn:aws:sagemaker:us-east-1:111111111111:model-package-group/models"
TUNING = dt.ServerlessJobConfig(
    base_model_arn=MODEL, job_type="FineTuning", customization_technique="SFT", peft="LORA", accept_eula=True
)


def new_stack(folder):
    return cdk.Stack(cdk.App(analytics_reporting=False, outdir=str(folder)), "Training", env=ENV)


def synthesized(job):
    """The request, the template, and the statements of the job's role."""
    stack = cdk.Stack.of(job)
    template = cdk.App.of(stack).synth().get_stack_by_name("Training").template
    return resolve(stack.resolve(job.request), template), template, job


def statements_of(template, word="Role"):
    """What the managed policies with a word in their names allow: actions and resources."""
    allowed = []
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::IAM::ManagedPolicy" and word in name:
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]:
                actions, resources = statement["Action"], resolve(statement["Resource"], template)
                allowed += [
                    (action, arn)
                    for action in (actions if isinstance(actions, list) else [actions])
                    for arn in (resources if isinstance(resources, list) else [resources])
                ]
    return allowed


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    stack = new_stack(tmp_path_factory.mktemp("cdk.out"))
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
    )
    job = dt.ServerlessTrainingJob(
        stack,
        "Tune",
        job_name="tune",
        serverless=TUNING,
        channels=[
            dt.Channel.from_bucket("train", s3.Bucket.from_bucket_name(stack, "Data", "data"), prefix="talks/"),
            dt.Channel.from_dataset("validation", DATA),
        ],
        model_package=dt.ModelPackageConfig(group_arn=GROUP, source_arn=f"{GROUP.replace('-group', '')}/7"),
        hyperparameters={"learning_rate": 1e-4},
        mlflow=dt.MlflowConfig(resource_arn="arn:aws:sagemaker:us-east-1:111111111111:mlflow-app/runs"),
        network=dt.TrainingNetwork(stack, "Network", vpc=vpc),
        encryption_key=kms.Key(stack, "Key"),
        output_prefix="models",
        output_compression="NONE",
        max_runtime=cdk.Duration.hours(6),
        tags={"team": "speech"},
    )
    job.grants.start(iam.Role(stack, "People", assumed_by=iam.AccountRootPrincipal()))
    return synthesized(job)


def test_the_request_is_valid_and_has_nothing_that_such_a_job_excludes(made):
    request, _, _ = made
    assert problems({**request, "TrainingJobName": "tune-1"}) == []
    assert set(request) == {
        *("RoleArn", "InputDataConfig", "OutputDataConfig", "StoppingCondition", "VpcConfig", "HyperParameters"),
        *("Tags", "MlflowConfig", "ServerlessJobConfig", "ModelPackageConfig"),
    }
    assert request["HyperParameters"] == {"learning_rate": "0.0001"}
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 21600}
    assert request["OutputDataConfig"]["CompressionType"] == "NONE"
    assert request["ServerlessJobConfig"] == {
        "BaseModelArn": MODEL,
        "JobType": "FineTuning",
        "AcceptEula": True,
        "CustomizationTechnique": "SFT",
        "Peft": "LORA",
    }
    assert {tag["Key"]: tag["Value"] for tag in request["Tags"]} == {
        "distributed-training:job": "tune",
        "team": "speech",
    }


def test_the_role_may_do_what_the_job_does(made):
    _, template, _ = made
    allowed = statements_of(template, "TuneRole")
    assert ("sagemaker:DescribeHubContent", MODEL) in allowed
    assert ("sagemaker:CreateModelPackage", GROUP) in allowed
    versions = "arn:aws:sagemaker:us-east-1:111111111111:model-package/models"
    assert ("sagemaker:CreateModelPackage", f"{versions}/*") in allowed
    assert ("sagemaker:DescribeModelPackage", f"{versions}/7") in allowed
    assert ("s3:GetObject", "arn:aws:s3:::data/talks/*") in allowed
    assert any(action == "kms:GenerateDataKey" for action, _ in allowed)
    assert not [action for action, _ in allowed if action.startswith(("bedrock:", "ecr:", "lambda:"))]


def test_a_run_carries_its_execution_as_a_tag(made):
    _, template, _ = made
    definitions = {
        name: json.dumps(resource["Properties"]["DefinitionString"])
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::StepFunctions::StateMachine"
    }
    ((_, job),) = [(name, text) for name, text in definitions.items() if "createTrainingJob" in text]
    ((_, stop),) = [(name, text) for name, text in definitions.items() if "stopTrainingJob" in text]
    assert "distributed-training:execution" in job
    assert "TRAINING_EXECUTION_ARN" not in job
    assert "listTags" in stop
    assert any(action == "sagemaker:ListTags" for action, _ in statements_of(template, "Stop"))


def test_an_evaluation_runs_as_bedrock_too(tmp_path):
    stack = new_stack(tmp_path)
    reward = lambda_.Function.from_function_name(stack, "Judge", "judge")
    _, template, _ = synthesized(
        dt.ServerlessTrainingJob(
            stack,
            "Judge2",
            serverless=dt.ServerlessJobConfig(
                base_model_arn=MODEL,
                job_type="Evaluation",
                evaluation_type="CustomScorerEvaluation",
                evaluator_arn=reward.function_arn,
            ),
        )
    )
    allowed = statements_of(template, "Judge2Role")
    assert ("bedrock:CreateEvaluationJob", "*") in allowed
    assert ("lambda:InvokeFunction", "arn:aws:lambda:us-east-1:111111111111:function:judge") in allowed
    roles = [row for row in template["Resources"].values() if row["Type"] == "AWS::IAM::Role"]
    (role,) = [row for row in roles if "bedrock" in json.dumps(row)]
    services = [row["Principal"]["Service"] for row in role["Properties"]["AssumeRolePolicyDocument"]["Statement"]]
    assert services == ["sagemaker.amazonaws.com", "bedrock.amazonaws.com"]


def test_tokens_are_allowed_and_not_judged(tmp_path):
    stack = new_stack(tmp_path)
    token = cdk.Fn.import_value
    _, template, _ = synthesized(
        dt.ServerlessTrainingJob(
            stack,
            "Tune",
            job_name="tune",
            serverless=dt.ServerlessJobConfig(
                base_model_arn=token("model"), job_type="FineTuning", evaluator_arn=token("judge")
            ),
            model_package=dt.ModelPackageConfig(group_arn=token("group")),
            hyperparameters={"epochs": token("epochs")},
        )
    )
    text = json.dumps(template)
    assert '"Fn::Split": [":model-package-group/", {"Fn::ImportValue": "group"}]' in text
    assert "lambda:InvokeFunction" in text


@pytest.mark.parametrize(
    ("config", "rule", "prop"),
    [
        ({"job_type": "Evaluation"}, "DT382", "serverless.evaluation_type"),
        ({"job_type": "FineTuning", "sequence_length": "2048K"}, "DT383", "serverless.sequence_length"),
        ({"job_type": "FineTuning", "sequence_length": "8192"}, "DT334", "serverless.sequence_length"),
        ({"job_type": "FineTuning", "base_model_arn": "llama"}, "DT334", "serverless.base_model_arn"),
    ],
)
def test_what_cannot_run_is_refused(tmp_path, config, rule, prop):
    job = dt.ServerlessJobConfig(**{"base_model_arn": MODEL, **config})
    with pytest.raises(dt.ConfigurationError) as caught:
        dt.ServerlessTrainingJob(new_stack(tmp_path), "Tune", serverless=job)
    assert [(finding.rule, finding.prop) for finding in caught.value.findings] == [(rule, prop)]


def test_a_misspelled_property_is_named(tmp_path):
    with pytest.raises(dt.ConfigurationError, match="serverless"):
        dt.ServerlessTrainingJob(new_stack(tmp_path), "Tune", severless=TUNING)


def test_too_many_tags(tmp_path):
    with pytest.raises(dt.ConfigurationError, match="tags"):
        dt.ServerlessTrainingJob(
            new_stack(tmp_path), "Tune", serverless=TUNING, tags={f"t{number}": "x" for number in range(49)}
        )
