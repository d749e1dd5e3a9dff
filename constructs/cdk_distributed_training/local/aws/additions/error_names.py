"""moto does not know how Step Functions spells SageMaker in the names of errors: `SageMaker.SageMakerException`.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
"""

from __future__ import annotations

from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import state_task_service_aws_sdk


def install() -> None:
    """Name the service."""
    state_task_service_aws_sdk._SERVICE_ERROR_NAMES["sagemaker"] = "SageMaker"
