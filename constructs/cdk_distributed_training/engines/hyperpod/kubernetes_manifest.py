"""A job as a manifest for Kubernetes: a PyTorchJob of Kubeflow's, which HyperPod's auto-resume knows."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

from cdk_distributed_training.data.tables import InstanceType
from cdk_distributed_training.engines.hyperpod.job_inputs import JobInputs

# Kubeflow's operator tells every pod of one process each; the launcher's ranks are others
_OPERATORS_OWN = (
    "MASTER_ADDR",
    "MASTER_PORT",
    "RANK",
    "WORLD_SIZE",
    "PET_MASTER_ADDR",
    "PET_MASTER_PORT",
    "PET_NNODES",
    "PET_NODE_RANK",
    "PET_NPROC_PER_NODE",
)
_PREPARE = "public.ecr.aws/aws-cli/aws-cli:2.31.0"
_OPT_ML = "/opt/ml"


@dataclass(frozen=True, kw_only=True)
class KubernetesManifest:
    """A manifest. Tokens may be in it.

    Attributes:
        inputs: The job.
        job_name: Its name, and with it those of its pods.
        namespace: The namespace; auto-resume works in `kubeflow` and in those that begin with `hyperpod`.
        hosts: Number of pods.
        instance_type: The nodes' type.
        facts: What is known of the type; None for one that nobody knows yet.
        hyperparameters: The hyperparameters, as JSON.
        hosts_json: Names of all pods, as JSON.
        region: The region.
        volume_claim: Claim of the shared file system.
        mount_path: Where pods see it.
        service_account: Service account with the job's permissions.
        max_retries: How often HyperPod starts the job again after it has replaced a node; 0 for never.
    """

    inputs: JobInputs
    job_name: str
    namespace: str
    hosts: int
    instance_type: str
    facts: InstanceType | None
    hyperparameters: str
    hosts_json: str
    region: str
    volume_claim: str
    mount_path: str
    service_account: str
    max_retries: int

    def render(self) -> dict[str, Any]:
        """The manifest."""
        annotations = {
            "sagemaker.amazonaws.com/enable-job-auto-resume": "true",
            "sagemaker.amazonaws.com/job-max-retry-count": str(self.max_retries),
        }
        limit = {} if self.inputs.max_runtime is None else {"activeDeadlineSeconds": self.inputs.max_runtime}
        return {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": {
                "name": self.job_name,
                "namespace": self.namespace,
                **({"annotations": annotations} if self.max_retries else {}),
            },
            "spec": {
                "runPolicy": {"cleanPodPolicy": "None", **limit},
                "pytorchReplicaSpecs": {
                    "Worker": {
                        "replicas": self.hosts,
                        "restartPolicy": "OnFailure" if self.max_retries else "Never",
                        "template": {"spec": self._pod()},
                    }
                },
            },
        }

    def _pod(self) -> dict[str, Any]:
        shared = f"training/{self.job_name}"
        mounts = [
            {"name": "opt-ml", "mountPath": _OPT_ML},
            {"name": "shared", "mountPath": self.mount_path},
            {"name": "shared", "mountPath": f"{_OPT_ML}/model", "subPath": f"{shared}/model"},
            {"name": "shared", "mountPath": f"{_OPT_ML}/checkpoints", "subPath": f"{shared}/checkpoints"},
        ]
        devices = self._devices()
        return {
            "serviceAccountName": self.service_account,
            "nodeSelector": {
                "node.kubernetes.io/instance-type": self.instance_type,
                "sagemaker.amazonaws.com/node-health-status": "Schedulable",
            },
            "initContainers": [
                {
                    "name": "input",
                    "image": _PREPARE,
                    "command": ["/bin/sh", "-ec", _literal(self._input())],
                    "env": [
                        {"name": "AWS_REGION", "value": self.region},
                        {"name": "HYPERPARAMETERS", "value": _literal(self.hyperparameters)},
                    ],
                    "volumeMounts": mounts[:2],
                }
            ],
            "containers": [
                {
                    "name": "pytorch",  # the operator asks for this name
                    "image": self.inputs.image,
                    "command": ["env", *(word for name in _OPERATORS_OWN for word in ("-u", name))],
                    "args": [_literal(word) for word in self.inputs.command],
                    "env": [
                        {"name": name, "value": _literal(value)}
                        for name, value in {
                            "AWS_REGION": self.region,
                            "TRAINING_JOB_NAME": self.job_name,
                            "TRAINING_HOSTS": self.hosts_json,
                            **self.inputs.environment,
                        }.items()
                    ],
                    "resources": {"limits": devices, "requests": devices},
                    "volumeMounts": [*mounts, {"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108  a mount
                }
            ],
            "volumes": [
                {"name": "opt-ml", "emptyDir": {}},
                {"name": "shared", "persistentVolumeClaim": {"claimName": self.volume_claim}},
                {"name": "shm", "emptyDir": {"medium": "Memory"}},  # NCCL and data loaders share memory in it
            ],
        }

    def _devices(self) -> dict[str, int]:
        if self.facts is None:
            return {}
        counts = {
            "nvidia.com/gpu": self.facts.gpu_count,
            "aws.amazon.com/neuron": self.facts.neuron_devices,
            "vpc.amazonaws.com/efa": self.facts.efa_interfaces,
        }
        return {name: count for name, count in counts.items() if count}

    def _input(self) -> str:
        lines = [
            f"mkdir -p {_OPT_ML}/input/config {_OPT_ML}/input/data {_OPT_ML}/output",
            f'printf %s "$HYPERPARAMETERS" > {_OPT_ML}/input/config/hyperparameters.json',
            f"cd {_OPT_ML}/input/data",
        ]
        for channel in self.inputs.mounted:
            target = f"{self.mount_path}/{channel.path}".rstrip("/")
            lines.append(f"ln -sfn {shlex.quote(target)} {channel.name}")
        for copied in self.inputs.copied:
            lines.append(f"mkdir -p {copied.name}")
            if copied.is_object:
                name = copied.uri.rsplit("/", 1)[-1]
                lines.append(
                    f"aws s3 cp --only-show-errors {shlex.quote(copied.uri)} {copied.name}/{shlex.quote(name)}"
                )
            else:
                lines.append(f"aws s3 sync --only-show-errors {shlex.quote(copied.uri)} {copied.name}")
        return "\n".join(lines)


def _literal(text: str) -> str:
    """A text as Kubernetes leaves it: it would take `$(NAME)` for a variable, and `$$` for one dollar sign.

    CDK's tokens begin with `${`, which means nothing to it.
    """
    return re.sub(r"\$(?=[$(])", "$$", text)
