"""The engine that runs a job on a cluster of SageMaker HyperPod."""

from __future__ import annotations

from collections.abc import Iterator

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_distributed_training.checks.annotations import annotate_warnings
from cdk_distributed_training.checks.findings import Finding, raise_errors
from cdk_distributed_training.checks.rules import hyperpod_jobs as rules
from cdk_distributed_training.data.tables import instance_types
from cdk_distributed_training.engines.hyperpod.hyperpod_cluster import HyperPodCluster
from cdk_distributed_training.engines.hyperpod.job_inputs import JobInputs
from cdk_distributed_training.engines.hyperpod.kubernetes_manifest import KubernetesManifest
from cdk_distributed_training.engines.hyperpod.slurm_script import SlurmScript
from cdk_distributed_training.engines.run_elsewhere import run_elsewhere
from cdk_distributed_training.engines.training_definition import ITrainingDefinition


class HyperPodJob(Construct):
    """A job on a cluster: a batch script for Slurm, or a manifest for Kubernetes, with the job's own launcher line.

    The deployment puts the file into the cluster's bucket of scripts, and starts nothing:

        aws s3 cp s3://.../digits.sbatch . && sbatch digits.sbatch
        aws s3 cp s3://.../digits.json - | kubectl apply -f -

    Every run has its own `/opt/ml` on the shared file system. Checkpoints stay in the job's folder there, so that the
    next run, and one that HyperPod resumes after it has replaced a node, go on from them. On Slurm the model ends in
    S3 as a training job's does; on EKS it stays on the file system.

    Construct ids, which are part of the interface: none; the file is a child of the cluster's `Scripts`.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm.html
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        job: ITrainingDefinition,
        cluster: HyperPodCluster,
        group: str,
        auto_resume: bool = True,
        python_environment: str | None = None,
        container_image: str | None = None,
        namespace: str = "kubeflow",
        volume_claim: str = "fsx-claim",
        service_account: str = "default",
        max_retries: int = 2,
    ) -> None:
        """Render the job, and allow the group's nodes what it reads and writes.

        Args:
            scope: The parent construct.
            id: The construct id.
            job: The job.
            cluster: The cluster.
            group: Name of the cluster's group that runs it.
            auto_resume: Whether HyperPod starts the job again after it has replaced a node.
            python_environment: On Slurm, folder of a virtual environment on the shared file system, in which the ranks
                run on the nodes themselves; in a container unless given.
            container_image: On Slurm, image for Pyxis, such as a file that `enroot import` made on the shared file
                system; the job's image, pulled by each node, unless given. The nodes must be logged in to its registry.
            namespace: On EKS, the namespace; auto-resume works in `kubeflow` and in those that begin with `hyperpod`.
            volume_claim: On EKS, name of the claim of the shared file system.
            service_account: On EKS, name of the service account with `required_statements`.
            max_retries: On EKS, how often the job is resumed.

        Raises:
            ConfigurationError: The request has members that a cluster has no place for, or the job does not fit into
                the group; all is listed.
        """
        super().__init__(scope, id)
        self._inputs = inputs = JobInputs(job.request)
        self._cluster, self._group = cluster, group
        findings = [*inputs.findings(), *self._fits(job)]
        raise_errors(findings, where=self.node.path)
        annotate_warnings(self, inputs.left_out())
        run_elsewhere(self, runner="the nodes of a HyperPod cluster run it", job=job)
        stack = cdk.Stack.of(self)
        self._job_name = job.job_name
        nodes = cluster.instance_groups[group]
        self._is_slurm = cluster.orchestrator.kind.slurm_node(nodes) is not None
        hyperparameters = stack.to_json_string(dict(inputs.hyperparameters))
        if self._is_slurm:
            image = "" if python_environment else container_image or _enroot(inputs.image)
            self._text = SlurmScript(
                inputs=inputs,
                job_name=job.job_name,
                nodes=_whole(inputs.instance_count),
                partition=nodes.partition or nodes.name,
                mount_path=cluster.mount_path,
                hyperparameters=hyperparameters,
                region=stack.region,
                python_environment=python_environment or "",
                container_image=image,
                auto_resume=auto_resume,
            ).render()
            for statement in self.required_statements:
                cluster.allow_group(group, statement)
        else:
            count = int(inputs.instance_count)
            manifest = KubernetesManifest(
                inputs=inputs,
                job_name=job.job_name,
                namespace=namespace,
                hosts=count,
                instance_type=nodes.instances.instance_type,
                facts=instance_types().get(nodes.instances.instance_type),
                hyperparameters=hyperparameters,
                hosts_json=stack.to_json_string([f"{job.job_name}-worker-{number}" for number in range(count)]),
                region=stack.region,
                volume_claim=volume_claim,
                mount_path=cluster.mount_path,
                service_account=service_account,
                max_retries=max_retries if auto_resume else 0,
            )
            self._manifest = manifest.render()
            self._text = stack.to_json_string(self._manifest)
        self._file = f"{job.job_name}.{'sbatch' if self._is_slurm else 'json'}"
        folder = f"jobs/{self.node.addr}"
        cluster.scripts.add_files(f"jobs-{self.node.addr}", {self._file: self._text}, folder)
        if self._is_slurm:  # whichever node people submit it from
            for name in cluster.instance_groups:
                for statement in cluster.scripts.read_statements(folder):
                    cluster.allow_group(name, statement)

    @property
    def text(self) -> str:
        """The batch script, or the manifest as JSON, which `kubectl` takes; tokens may be in it."""
        return self._text

    @property
    def file_uri(self) -> str:
        """Where the deployment puts it in S3."""
        return self._cluster.scripts.bucket.s3_url_for_object(f"jobs/{self.node.addr}/{self._file}")

    @property
    def required_statements(self) -> list[iam.PolicyStatement]:
        """What the job's processes must be allowed: reading its inputs, writing its model.

        On Slurm the group's nodes are allowed it. On EKS attach it to the role of the service account, by EKS Pod
        Identity or IRSA: pods do not get the nodes' role.
        """
        partition = cdk.Stack.of(self).partition
        inputs, output = self._inputs, _s3_path(self._inputs.output_path)
        read = [_s3_path(copied.uri) for copied in inputs.copied]
        buckets = list(dict.fromkeys(path.split("/", 1)[0] for path in read))
        statements = [
            iam.PolicyStatement(
                actions=["s3:ListBucket"], resources=[f"arn:{partition}:s3:::{bucket}" for bucket in buckets]
            ),
            iam.PolicyStatement(
                actions=["s3:GetObject"], resources=[f"arn:{partition}:s3:::{path.rstrip('/')}*" for path in read]
            ),
            iam.PolicyStatement(actions=["s3:PutObject"], resources=[f"arn:{partition}:s3:::{output.rstrip('/')}/*"]),
        ]
        if inputs.output_key is not None:
            statements.append(
                iam.PolicyStatement(actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[inputs.output_key])
            )
        return [statement for statement in statements if statement.resources]

    def _fits(self, job: ITrainingDefinition) -> Iterator[Finding]:
        groups = self._cluster.instance_groups
        if self._group not in groups:
            yield from rules.unknown_group(self._group, list(groups))
            return
        group, resources = groups[self._group], job.request.get("ResourceConfig", {})
        kind, count = resources.get("InstanceType"), resources.get("InstanceCount", 1)
        if kind is not None and not any(map(cdk.Token.is_unresolved, (kind, group.instances.instance_type))):
            known = None if cdk.Token.is_unresolved(count) else count
            yield from rules.job_fits(self._group, known, group.machines, [kind], group.instances.instance_type)
        file_system = self._cluster.file_system
        own = None if file_system is None else file_system.file_system_id
        for channel in self._inputs.mounted:
            if channel.file_system_id != own:
                yield from rules.other_file_system(channel.name)
        if self._cluster.orchestrator.kind.slurm_node(group) is None and cdk.Token.is_unresolved(count):
            yield from rules.names_of_pods()


def _enroot(image: str) -> str:
    """An image's address as enroot writes it: the registry ends at a number sign."""
    registry, _, rest = image.partition("/")
    return f"{registry}#{rest}" if rest else image


def _s3_path(uri: str) -> str:
    """Bucket and key, without the scheme."""
    return uri.partition("://")[2]


def _whole(count: float) -> str:
    return cdk.Tokenization.stringify_number(count) if cdk.Token.is_unresolved(count) else f"{count:g}"
