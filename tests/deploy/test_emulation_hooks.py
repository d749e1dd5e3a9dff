"""Every hook into moto's inside still exists: moto is pinned, and this says what to look at when the pin moves."""

import importlib
import importlib.metadata

import pytest
from moto.cloudformation import parsing

from cdk_distributed_training.local.aws import additions

HOOKS = [
    "moto.batch.models:JobQueue.create_from_cloudformation_json",
    "moto.batch.responses:BatchResponse.createjobqueue",
    "moto.batch.responses:BatchResponse.dispatch",
    "moto.batch.urls:url_paths",
    "moto.cloudformation.models:CloudFormationBackend._resolve_update_parameters",
    "moto.cloudformation.parsing:NULL_MODELS",
    "moto.cloudformation.parsing:get_model_map",
    "moto.cloudformation.parsing:parse_and_create_resource",
    "moto.cloudformation.parsing:resource_class_from_type",
    "moto.core.config:default_user_config",
    "moto.ec2.models.route_tables:RouteTable.delete_from_cloudformation_json",
    "moto.ec2.models.vpcs:VPCEndPoint.delete_from_cloudformation_json",
    "moto.efs.models:FileSystem.has_cfn_attr",
    "moto.efs.models:efs_backends",
    "moto.events.models:Rule.send_to_targets",
    "moto.fsx.models:FSxBackend.create_file_system",
    "moto.iam.models:ManagedPolicy.delete_from_cloudformation_json",
    "moto.iam.models:Role.delete_from_cloudformation_json",
    "moto.s3.models:FakeBucket.create_from_cloudformation_json",
    "moto.s3.models:FakeBucket.set_notification_configuration",
    "moto.s3.models:FakeBucket.update_from_cloudformation_json",
    "moto.sagemaker.models:FakeTrainingJob",
    "moto.sagemaker.models:SageMakerModelBackend.describe_training_job",
    "moto.sagemaker.responses:SageMakerResponse.create_training_job",
    "moto.sns.models:SNSBackend.subscribe",
    "moto.stepfunctions.models:StateMachine.get_cfn_attribute",
    "moto.stepfunctions.models:StateMachine.has_cfn_attr",
    "moto.stepfunctions.models:stepfunctions_backends",
    "moto.stepfunctions.parser.asl.component.common.assign.assign_template_value_terminal:AssignTemplateValueTerminalLit",
    "moto.stepfunctions.parser.asl.component.common.retry.retrier_decl:time",
    "moto.stepfunctions.parser.asl.component.intrinsic.jsonata:_DECLARATION_BY_VARIABLE_REFERENCE",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk:StateTaskServiceAwsSdk._from_boto_response",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk:StateTaskServiceAwsSdk._normalise_parameters",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk:StateTaskServiceAwsSdk._normalise_response",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk:StateTaskServiceAwsSdk._to_boto_request",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk:_SERVICE_ERROR_NAMES",
    "moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function:WaitFunction._wait_interval",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk:boto_client_for",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_unsupported:boto_client_for",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_unsupported:StateTaskServiceUnsupported._eval_sync",
    "moto.stepfunctions.parser.asl.component.state.exec.state_task.state_task_factory:state_task_service_for",
    "moto.stepfunctions.parser.asl.utils.boto_client:moto_server_port",
    "moto.stepfunctions.parser.asl.eval.states:encode_jsonata_variable_declarations",
    "moto.stepfunctions.parser.asl.eval.variable_store:encode_jsonata_variable_declarations",
    "moto.stepfunctions.parser.asl.jsonata.jsonata:_eval_jsonata",
    "moto.stepfunctions.parser.backend.execution:BaseExecutionWorkerCommunication.terminated",
    "moto.stepfunctions.parser.backend.execution:Execution.start",
    "moto.stepfunctions.parser.models:stepfunctions_parser_backends",
]


@pytest.mark.parametrize("hook", HOOKS)
def test_the_hook_exists(hook):
    module, _, path = hook.partition(":")
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)


def test_moto_is_the_version_that_the_hooks_were_made_for():
    assert importlib.metadata.version("moto") == "5.2.5"


def test_additions_are_installed_once():
    additions.install()
    installed = parsing.resource_class_from_type
    additions.install()
    assert parsing.resource_class_from_type is installed


@pytest.mark.parametrize("addition", additions.ADDITIONS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_addition_says_why(addition):
    assert len(addition.__doc__.splitlines()) > 2
