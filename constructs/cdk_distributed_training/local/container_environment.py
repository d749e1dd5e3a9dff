"""The environment that a container's entrypoint gets on a local host."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# What this machine's interpreter may need to find its libraries; nothing else is inherited, least of all credentials.
INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "TZ", "SSL_CERT_FILE")


def container_environment(request: Mapping[str, Any], *, job_name: str, region: str, account: str) -> dict[str, str]:
    """Variables as SageMaker sets them, with this interpreter's environment in place of the image; the job's own win.

    Args:
        request: The request, with its intrinsics evaluated.
        job_name: The run's name.
        region: Region that the container is told.
        account: Account in the job's ARN.
    """
    # the folder of the interpreter as it was called, not of what it links to: that is the virtual environment's
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return {
        "PATH": path,
        "LANG": "C.UTF-8",
        "PYTHONUSERBASE": site.getuserbase(),
        "AWS_REGION": region,
        "TRAINING_JOB_NAME": job_name,
        "TRAINING_JOB_ARN": f"arn:aws:sagemaker:{region}:{account}:training-job/{job_name}",
        **{name: os.environ[name] for name in INHERITED if name in os.environ},
        **{name: str(value) for name, value in request.get("Environment", {}).items()},
    }
