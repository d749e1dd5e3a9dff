"""A job of SageMaker's serverless model customization, with the same runs as a job on machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.job import feature_permissions, job_findings, model_permissions
from cdk_distributed_training.job.defined_training_job import DefinedTrainingJob
from cdk_distributed_training.job.job_tags import rendered_tags, tag_findings
from cdk_distributed_training.job.model_folder import model_folder
from cdk_distributed_training.job.output_bucket import create_output_bucket
from cdk_distributed_training.job.training_role import TrainingRole
from cdk_distributed_training.network.interfaces import ITrainingNetwork
from cdk_distributed_training.request import limits
from cdk_distributed_training.request.channels import TrainingChannel
from cdk_distributed_training.request.mlflow_config import MlflowConfig
from cdk_distributed_training.request.model_package_config import ModelPackageConfig
from cdk_distributed_training.request.serverless_job import ServerlessJobConfig
from cdk_distributed_training.request.stopping_condition import StoppingCondition
from cdk_distributed_training.request.training_job_request import TrainingJobRequest
from cdk_distributed_training.texts import texts


@jsii.implements(iam.IGrantable, cdk.ITaggable)
class ServerlessTrainingJob(DefinedTrainingJob):
    """A model of a hub that is customized or evaluated, on machines and by a script of SageMaker's own.

    Deploying defines the job and starts nothing. Each execution of `state_machine` is one run, which may override
    hyperparameters in its input: `{"hyperparameters": {"learning_rate": 0.0001}}`. Stopping the execution stops the
    training job. Local mode cannot run it: there is no script.

    Construct ids, which are part of the interface: `Output`, `Role`, `StateMachine`.

    Example:
        >>> ServerlessTrainingJob(  # doctest: +SKIP
        ...     stack,
        ...     "Tune",
        ...     serverless=ServerlessJobConfig(
        ...         base_model_arn=model, job_type="FineTuning", customization_technique="SFT", peft="LORA"
        ...     ),
        ...     channels=[Channel.from_bucket("train", bucket, prefix="conversations/")],
        ...     model_package=ModelPackageConfig(group_arn=group.attr_model_package_group_arn),
        ... )

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ServerlessJobConfig.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        serverless: ServerlessJobConfig,
        channels: Sequence[TrainingChannel] = (),
        model_package: ModelPackageConfig | None = None,
        hyperparameters: Mapping[str, Any] | None = None,
        mlflow: MlflowConfig | None = None,
        network: ITrainingNetwork | None = None,
        role: iam.IRole | None = None,
        permissions_boundary: iam.IManagedPolicy | None = None,
        output_bucket: s3.IBucket | None = None,
        output_prefix: str = "output",
        encryption_key: kms.IKey | None = None,
        output_key: kms.IKey | None = None,
        execution_key: kms.IKey | None = None,
        output_compression: Literal["GZIP", "NONE"] | None = None,
        max_runtime: cdk.Duration | None = None,
        job_name: str | None = None,
        tags: Mapping[str, str] | None = None,
        poll_interval: cdk.Duration | None = None,
    ) -> None:
        """Define the job.

        Args:
            scope: The parent construct.
            id: The construct id.
            serverless: Which model, and what is done with it.
            channels: Input data, from S3 or as data sets of a hub; the service calls them `train` and `validation`.
            model_package: Group of the model registry in which each run's model becomes a version, for which the role
                is allowed; none unless given.
            hyperparameters: Settings of the model's recipe: text as it is, anything else as JSON. At most 100, each at
                most 2,500 characters.
            mlflow: Where the runs appear in MLflow; the role may report to it.
            network: Where the machines are; SageMaker's own network unless given.
            role: Role that the job runs as; a new one unless given. A policy with what the job needs is attached to
                it; where nothing can be, a warning (DT613) lists the statements. Of an evaluation, Bedrock must be able
                to take on the role too, which a role of yours must say itself.
            permissions_boundary: The most that any role made for this job may do; no bound unless given.
            output_bucket: Bucket for models; a new one that outlives the stack unless given.
            output_prefix: Folder for models in the bucket; SageMaker adds one for each run.
            encryption_key: KMS key for the model, a new output bucket and the state machines' log; keys of AWS's unless
                given. The role gets the use of it.
            output_key: KMS key with which SageMaker encrypts the model; `encryption_key`, else the bucket's own
                encryption unless given.
            execution_key: KMS key for what Step Functions keeps of the runs: definitions, inputs, outputs, histories,
                and their log. Step Functions' own key, and `encryption_key` for the log, unless given. Whoever is
                granted to read runs may decrypt with it; whoever deploys needs its use too.
            output_compression: `NONE` stores the model's files as they are; one `model.tar.gz` unless given.
            max_runtime: Time after which SageMaker stops the job, from 1 second to 28 days; 1 day unless given.
            job_name: With what the names of the runs begin: lower-case letters, digits and single hyphens, at most 30
                characters; the construct's path unless given.
            tags: Tags of each run's training job, besides the job's name in `distributed-training:job`, the execution
                in `distributed-training:execution`, the stack's own tags, and what `Tags.of(...)` puts on this
                construct; at most 48 with these.
            poll_interval: Shortest time between two looks at a running job; 30 seconds unless given.

        Raises:
            ConfigurationError: Literal values cannot work; all of them are listed.
        """
        super().__init__(scope, id)
        self._begin(
            job_name=job_name,
            tags=tags,
            permissions_boundary=permissions_boundary,
            execution_key=execution_key,
        )
        runtime = limits.DEFAULT_RUNTIME_SECONDS if max_runtime is None else max_runtime.to_seconds(integral=False)
        poll = 30 if poll_interval is None else poll_interval.to_seconds(integral=False)
        values, findings = texts(self, "hyperparameters", hyperparameters or {})
        findings += [
            *job_findings.of_names(self._job_name, channels),
            *job_findings.of_times(runtime, None, poll),
            *job_findings.of_network(channels, network),
            *job_findings.of_places(channels, network, region=self._stack.region),
            *job_findings.of_texts(values, {}, ()),
            *tag_findings(tags or {}, own=2),
        ]
        self._judge(findings)

        training_role = self._training_role = TrainingRole(self, "Role", role=role)
        grantee = training_role.grantee
        output_key = output_key or encryption_key
        self._output_bucket = output_bucket or create_output_bucket(self, "Output", encryption_key=encryption_key)
        output = model_folder(
            grantee, self._output_bucket, prefix=output_prefix, key=output_key, compression=output_compression
        )
        model_permissions.allow_model(grantee, serverless)
        if model_package is not None:
            model_permissions.allow_model_package(grantee, model_package)
        if mlflow is not None:
            feature_permissions.allow_mlflow(grantee, mlflow)
        if output_key is not None:
            feature_permissions.allow_output_key(grantee, output_key)
        vpc = None if network is None else training_role.allow_network(network)
        request = TrainingJobRequest(
            channels=[channel.bind(grantee) for channel in channels],
            output=output,
            stopping=StoppingCondition(max_runtime=runtime),
            network_isolation=None,
            encrypt_inter_container_traffic=None,
            vpc=vpc,
            hyperparameters=values,
            tags=rendered_tags(self._tags, where=self._job_name, stack=self._stack, own=2),
            mlflow=mlflow,
            serverless=serverless,
            model_package=model_package,
            # last: the parts above have said what the role may do
            role_arn=training_role.settle().role_arn,
        )
        if serverless.job_type == "Evaluation" and role is None:
            training_role.trust(iam.ServicePrincipal("bedrock.amazonaws.com"))
        self._render(request, told=findings)
        run_elsewhere(self, runner="SageMaker runs it by a script and on machines of its own", request=self._request)
        self._make_runs(longest_run=runtime, poll_interval=poll, encryption_key=encryption_key)
