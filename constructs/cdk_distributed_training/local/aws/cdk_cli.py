"""The CDK's own command line, spoken to as a person does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cdk_distributed_training.local.aws.server import ACCOUNT, REGION
from cdk_distributed_training.local.errors import LocalModeError

_QUIET = ("--no-notices", "--ci")
_LAST_LINES = 15


class CdkCli:
    """`cdk`, with a synthesized app.

    Args:
        app: The synthesized app's folder.
        environment: The environment that leads to the emulation.

    Raises:
        LocalModeError: The CDK CLI or Node.js is missing.
    """

    def __init__(self, app: Path, environment: Mapping[str, str]) -> None:
        """Find the programs."""
        self._app = app
        self.environment = dict(environment)
        self._cdk = find(self.environment)

    def bootstrap(self) -> None:
        """Prepare the account and region."""
        self._call("bootstrap", f"aws://{ACCOUNT}/{REGION}")

    def deploy(self) -> dict[str, dict[str, str]]:
        """Deploy all stacks.

        Returns:
            Stack name -> its outputs.
        """
        with tempfile.TemporaryDirectory() as folder:
            outputs = Path(folder) / "outputs.json"
            # change sets lose the outputs in moto
            self._call(
                "deploy", "--all", "--require-approval", "never", "--method=direct", "--outputs-file", str(outputs)
            )
            found: dict[str, dict[str, str]] = json.loads(outputs.read_text()) if outputs.exists() else {}
            return found

    def destroy(self) -> None:
        """Delete all stacks; what they retain stays."""
        self._call("destroy", "--all", "--force")

    def _call(self, command: str, *arguments: str) -> None:
        line = [self._cdk, command, *arguments, "--app", str(self._app), *_QUIET]
        try:
            done = subprocess.run(
                line, env=self.environment, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
        except OSError as error:
            raise LocalModeError(f"{self._cdk} cannot be run ({error.strerror}): is it being installed?") from None
        if done.returncode:
            text = (done.stdout + done.stderr).strip().splitlines()[-_LAST_LINES:]
            raise LocalModeError(f"cdk {command} failed on the emulation of AWS:\n" + "\n".join(text))


def find(environment: Mapping[str, str]) -> str:
    """The CDK CLI: on the PATH, or installed by npm in this folder or one above it.

    Raises:
        LocalModeError: It or Node.js is missing.
    """
    local = [folder / "node_modules" / ".bin" for folder in (Path.cwd(), *Path.cwd().parents)]
    path = os.pathsep.join([environment.get("PATH", ""), *map(str, local)])
    cdk = shutil.which("cdk", path=path)
    if cdk is None:
        raise LocalModeError("the AWS CDK's command line is missing: npm install aws-cdk, or npm install -g aws-cdk")
    if shutil.which("node", path=path) is None:
        raise LocalModeError("Node.js, which the AWS CDK's command line needs, is missing: see https://nodejs.org")
    return cdk
