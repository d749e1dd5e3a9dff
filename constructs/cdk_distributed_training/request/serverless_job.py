"""SageMaker's serverless model customization: a job without machines, image and script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cdk_distributed_training.request.request_part import RequestPart, spelled


@dataclass(frozen=True, kw_only=True)
class ServerlessJobConfig(RequestPart):
    """Which model is customized or evaluated, and how.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ServerlessJobConfig.html

    Attributes:
        base_model_arn: ARN of the model in a hub; of SageMaker's public hub, its newest version is taken.
        job_type: `FineTuning` customizes the model, `Evaluation` judges it.
        accept_eula: Whether you accept the model's license, which some models ask for; not unless given.
        customization_technique: How the model is customized: supervised (`SFT`), by preferences (`DPO`), by rewards
            that can be verified (`RLVR`) or that another model gives (`RLAIF`).
        peft: `LORA` trains adapters; the whole model is trained unless given.
        evaluation_type: By what an evaluation judges, which it must say: another model, a scorer of yours, or a
            benchmark.
        evaluator_arn: ARN of the reward function or reward prompt; the job's role may use it.
        sequence_length: Longest sequence in thousands of tokens, from `1K` to `1024K`, by which SageMaker chooses the
            configuration; its own choice unless given.
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
