"""Images built and read by buildah, in a store of their own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class ImageStore:
    """A store that holds this test run's images only and goes away with its folder.

    The driver copies every layer instead of mounting it, and ``chroot`` isolation needs no namespaces: both work
    in a container without rights over the kernel, as CI machines often are.
    """

    def __init__(self, directory: Path) -> None:
        self._command = ["buildah", "--root", f"{directory}/store", "--runroot", f"{directory}/run"]
        self._command += ["--storage-driver", "vfs"]

    def build(self, tag: str, context: Path, *, dockerfile: Path | None = None, arguments: Sequence[str] = ()) -> str:
        """Build every stage anew, with file times of zero; returns the digest of the image's configuration."""
        options = ["--isolation", "chroot", "--layers=false", "--no-cache", "--timestamp", "0", "--quiet"]
        if dockerfile:
            options += ["--file", str(dockerfile)]
        for argument in arguments:
            options += ["--build-arg", argument]
        return self._run("build", *options, "--tag", tag, str(context))

    def configuration(self, tag: str) -> dict[str, Any]:
        """The image's OCI configuration: entry point, environment, labels, layers."""
        configuration: dict[str, Any] = json.loads(self._run("inspect", "--type", "image", tag))["OCIv1"]
        return configuration

    def root_file_system(self, tag: str) -> Path:
        """A writable copy of the image's files."""
        return Path(self._run("mount", self._run("from", "--pull-never", tag)))

    def _run(self, *arguments: str) -> str:
        finished = subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=False)
        assert finished.returncode == 0, f"buildah {' '.join(arguments)}:\n{finished.stdout}{finished.stderr}"
        return finished.stdout.strip()


def build_debian_base(store: ImageStore, tag: str, directory: Path) -> None:
    """An image of this machine's own Debian or Ubuntu release with Python, built from its package archives.

    Packages are unpacked and not configured: a third of the time and half the size of ``debootstrap``, and Python,
    a shell and the core utilities need no configuration.
    """
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    suite = release["VERSION_CODENAME"].strip('"')
    packages = ["base-files", "base-passwd", "bash", "coreutils", "dash", "findutils", "libc-bin", "python3"]
    packages += ["libstdc++6"]  # torch's one library that Python does not bring along
    sources = [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("*.sources")]
    command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=extract", f"--include={','.join(packages)}"]
    command += [suite, f"{directory}/root.tar", *map(str, sources)]
    # apt's own user must reach the folder it works in, and pytest's folders are closed to others
    environment = {**os.environ, "TMPDIR": "/tmp"}
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert finished.returncode == 0, finished.stderr
    (directory / "Dockerfile").write_text(
        "FROM scratch\n"
        "ADD root.tar /\n"
        "RUN cp /usr/share/base-passwd/passwd.master /etc/passwd && cp /usr/share/base-passwd/group.master /etc/group\n"
        'ENV PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"\n'
    )
    store.build(tag, directory)
