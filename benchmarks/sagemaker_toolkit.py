"""SageMaker's own launcher: the toolkit that AWS's deep learning containers hold, in an environment of its own.

https://github.com/aws/sagemaker-training-toolkit
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from benchmarks.launcher_hosts import PROCESSES, ROOT, SCRIPT, Way

REQUIREMENTS = ("sagemaker-training==5.1.4", "sagemaker-pytorch-training==3.0.0")
MPI4PY = "mpi4py==4.1.2"
PLACE = ROOT / "build" / "peers"
KEYS = ROOT / "build" / "peers-ssh"

_SSHD = """
HostKey /etc/ssh/key
PidFile none
PermitRootLogin yes
UsePAM no
StrictModes no
AuthorizedKeysFile /etc/ssh/key.pub
"""
_SSH = """
Host *
  IdentityFile /etc/ssh/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""


@functools.cache
def environment() -> Path:
    """Its environment, which sees this one's torch; made at first use, in half a minute.

    Raises:
        subprocess.CalledProcessError: It cannot be installed; that needs the package index, a C compiler and Python's
            headers.
    """
    ready = PLACE / ".installed"
    wanted = " ".join([*REQUIREMENTS, MPI4PY])
    if not ready.exists() or ready.read_text() != wanted:
        shutil.rmtree(PLACE, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(PLACE)], check=True)
        pip = (str(PLACE / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        subprocess.run([*pip, *REQUIREMENTS], check=True)
        subprocess.run([*pip, "--target", str(PLACE / "mpi4py"), MPI4PY], check=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(PLACE)}))
        (packages / "elsewhere.pth").write_text(f"{PLACE / 'mpi4py'}\n{sysconfig.get_path('purelib')}\n")
        ready.write_text(wanted)
    return PLACE


def mpi4py() -> Path:
    """Folder with mpi4py alone, through which the toolkit runs every script under MPI."""
    return environment() / "mpi4py"


def toolkit_torchrun(processes: int = PROCESSES) -> Way:
    """The toolkit starts torchrun, as for the SDK's ``torch_distributed``."""
    return _toolkit({"sagemaker_torch_distributed_enabled": "true"}, processes)


def toolkit_mpirun() -> Way:
    """The toolkit starts mpirun, which reaches the other host through ssh.

    Raises:
        RuntimeError: There is no ssh daemon here.
    """
    if not shutil.which("sshd", path="/usr/sbin:/usr/bin"):
        raise RuntimeError("sagemaker-training runs MPI over ssh: install openssh-server and openssh-client")
    if not KEYS.exists():
        KEYS.mkdir(parents=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(KEYS / "key")], check=True)
        (KEYS / "sshd_config").write_text(_SSHD)
        (KEYS / "ssh_config").write_text(_SSH)
    # paramiko looks for keys in the home folder, ssh and sshd in /etc/ssh
    before = f"mount --bind {KEYS} /etc/ssh; mkdir -p /run/sshd ~/.ssh; cp {KEYS}/key ~/.ssh/id_ed25519"
    return _toolkit({"sagemaker_mpi_enabled": "true"}, PROCESSES, before)


def _toolkit(hyperparameters: dict[str, str], processes: int, before: str = ":") -> Way:
    binaries = environment() / "bin"
    return Way(
        argv=lambda _: (str(binaries / "train"),),
        environment={
            "SAGEMAKER_TRAINING_MODULE": "sagemaker_pytorch_container.training:main",
            "SAGEMAKER_REGION": "eu-west-1",
            "GLOO_SOCKET_IFNAME": "eth0",
            "PYTHONUNBUFFERED": "1",
        },
        hyperparameters={
            **hyperparameters,
            "sagemaker_mpi_num_of_processes_per_host": str(processes),
            "sagemaker_instance_type": '"ml.c5.xlarge"',
            "sagemaker_program": f'"{SCRIPT}"',
            "sagemaker_submit_directory": '"/opt/ml/code"',
        },
        folders=(Path(sys.executable).parent, binaries),
        before=before,
    )
