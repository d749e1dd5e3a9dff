"""A job as a batch script for Slurm: what SageMaker does around a container, on the nodes of a cluster."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from cdk_distributed_training.engines.hyperpod.job_inputs import JobInputs

_END = "END_OF_HYPERPARAMETERS"
_FOLDERS = "input model checkpoints"


@dataclass(frozen=True, kw_only=True)
class SlurmScript:
    """A batch script. Tokens may be in it: it is whole once the stack is deployed.

    Attributes:
        inputs: The job.
        job_name: Its name.
        nodes: Number of nodes, as text.
        partition: Slurm's partition.
        mount_path: Where every node sees the shared file system.
        hyperparameters: The hyperparameters, as JSON in one line.
        region: The region.
        python_environment: Folder of a virtual environment on the shared file system; empty for a container.
        container_image: Image for Pyxis; empty for a virtual environment.
        auto_resume: Whether HyperPod starts the step again after it has replaced a node.
    """

    inputs: JobInputs
    job_name: str
    nodes: str
    partition: str
    mount_path: str
    hyperparameters: str
    region: str
    python_environment: str = ""
    container_image: str = ""
    auto_resume: bool = True

    def render(self) -> str:
        """The script."""
        return "\n".join([*self._head(), "", *self._files(), "", *self._host(), "", *self._run(), ""])

    def _head(self) -> Iterator[str]:
        yield "#!/bin/bash"
        yield f"#SBATCH --job-name={self.job_name}"
        yield f"#SBATCH --nodes={self.nodes}"
        yield "#SBATCH --ntasks-per-node=1"  # the launcher starts the ranks of its node
        yield "#SBATCH --exclusive"
        yield f"#SBATCH --partition={self.partition}"
        if self.inputs.max_runtime is not None:
            yield f"#SBATCH --time={_time(self.inputs.max_runtime)}"
            yield "#SBATCH --signal=TERM@120"  # SageMaker gives two minutes too
        yield "set -euo pipefail"

    def _files(self) -> Iterator[str]:
        yield "# What SageMaker puts into /opt/ml, once for all nodes, on the file system that they share."
        yield f"export AWS_REGION={shlex.quote(self.region)}"
        yield f'export TRAINING_JOB_NAME={shlex.quote(self.job_name)}"-$SLURM_JOB_ID"'
        yield f"job={shlex.quote(f'{self.mount_path}/training/{self.job_name}')}"
        yield 'export TRAINING_RUN="$job/runs/$SLURM_JOB_ID"'
        yield 'mkdir -p "$TRAINING_RUN"/{input/config,input/data,model} "$job/checkpoints"'
        yield "# checkpoints are the job's, not the run's, so that the next run goes on from them"
        yield 'ln -sfn "$job/checkpoints" "$TRAINING_RUN/checkpoints"'
        yield f"cat > \"$TRAINING_RUN/input/config/hyperparameters.json\" <<'{_END}'"
        yield self.hyperparameters
        yield _END
        yield 'cd "$TRAINING_RUN/input/data"'
        for channel in self.inputs.mounted:
            target = f"{self.mount_path}/{channel.path}".rstrip("/")
            yield f"ln -sfn {shlex.quote(target)} {channel.name}"
        for copied in self.inputs.copied:
            yield f"mkdir -p {copied.name}"
            if copied.is_object:
                name = copied.uri.rsplit("/", 1)[-1]
                yield f"aws s3 cp --only-show-errors {shlex.quote(copied.uri)} {copied.name}/{shlex.quote(name)}"
            else:
                yield f"aws s3 sync --only-show-errors {shlex.quote(copied.uri)} {copied.name}"

    def _host(self) -> Iterator[str]:
        yield "# What each node runs: its own /opt/ml, with what is shared linked into it, then the launcher."
        yield "cat > \"$TRAINING_RUN/host.sh\" <<'END_OF_HOST'"
        yield "set -euo pipefail"
        yield 'export SAGEMAKER_BASE_DIR="$TRAINING_RUN/hosts/$SLURMD_NODENAME"'
        yield 'mkdir -p "$SAGEMAKER_BASE_DIR/output"'
        yield f"for folder in {_FOLDERS}; do"
        yield '  ln -sfn "$TRAINING_RUN/$folder" "$SAGEMAKER_BASE_DIR/$folder"'
        yield "done"
        if self.container_image:
            yield "# scripts that name /opt/ml find it in the container, unless its files are read-only; on the node"
            yield "# itself HyperPod's own files lie there"
            yield "if [ ! -e /opt/ml/config ]; then"
            yield '  { rm -rf /opt/ml && ln -s "$SAGEMAKER_BASE_DIR" /opt/ml; } 2>/dev/null || true'
            yield "fi"
        else:
            yield f'export PATH={shlex.quote(self.python_environment)}/bin:"$PATH"'
        for name, value in self.inputs.environment.items():
            yield f"export {name}={shlex.quote(value)}"
        yield f"exec {shlex.join(self.inputs.command)}"
        yield "END_OF_HOST"

    def _run(self) -> Iterator[str]:
        options = ["--kill-on-bad-exit=0"]  # the launcher ends all nodes itself, and says why
        if self.auto_resume:
            options.append("--auto-resume=1")
        if self.container_image:
            options += [
                f"--container-image={shlex.quote(self.container_image)}",
                f"--container-mounts={shlex.quote(f'{self.mount_path}:{self.mount_path}')}",
            ]
        yield "status=0"
        yield f'srun {" ".join(options)} bash "$TRAINING_RUN/host.sh" || status=$?'
        yield 'if [ "$status" -ne 0 ]; then'
        yield "  # every node has the same one, of the rank that failed first"
        yield '  for failure in "$TRAINING_RUN"/hosts/*/output/failure; do'
        yield '    if [ -s "$failure" ]; then cat "$failure" >&2; echo >&2; break; fi'
        yield "  done"
        yield '  exit "$status"'
        yield "fi"
        output = f"{self.inputs.output_path.rstrip('/')}"
        key = "" if self.inputs.output_key is None else f" --sse aws:kms --sse-kms-key-id {self.inputs.output_key}"
        yield 'tar -C "$TRAINING_RUN/model" -czf "$TRAINING_RUN/model.tar.gz" .'
        yield (
            f'aws s3 cp --only-show-errors{key} "$TRAINING_RUN/model.tar.gz" '
            f'{shlex.quote(output)}"/$TRAINING_JOB_NAME/output/model.tar.gz"'
        )


def _time(seconds: int) -> str:
    """A time as Slurm writes it: days-hours:minutes:seconds."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days}-{hours:02d}:{minutes:02d}:{rest:02d}"
