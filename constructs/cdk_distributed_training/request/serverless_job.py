"""SageMaker's serverless model customization: a job without machines, image and script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class ServerlessJobConfig(RequestPart):
    """Which model is customized or evaluated, and how.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html

    Attributes:
        base_model_arn: ARN of the model in a hub.
        job_type: What is done.
        accept_eula: Whether the model's license is accepted.
        customization_technique: How the model is customized.
        peft: The parameter-efficient method; full fine-tuning unless given.
        evaluation_type: How the model is evaluated.
        evaluator_arn: ARN of the evaluator.
        sequence_length: Longest sequence, such as `8K`.
    """

    base_model_arn: str = field(metadata=spelled("BaseModelArn"))
    job_type: Literal["FineTuning", "Evaluation"] = field(metadata=spelled("JobType"))
    accept_eula: bool | None = field(default=None, metadata=spelled("AcceptEula"))
    customization_technique: Literal["SFT", "DPO", "RLVR", "RLAIF"] | None = field(
        default=None, metadata=spelled("CustomizationTechnique")
    )
    peft: Literal["LORA"] | None = field(default=None, metadata=spelled("Peft"))
    evaluation_type: Literal["LLMAJEvaluation", "CustomScorerEvaluation", "BenchmarkEvaluation"] | None = field(
        default=None, metadata=spelled("EvaluationType")
    )
    evaluator_arn: str | None = field(default=None, metadata=spelled("EvaluatorArn"))
    sequence_length: str | None = field(default=None, metadata=spelled("SequenceLength"))
