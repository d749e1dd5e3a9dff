"""Find libfabric and aws-ofi-nccl, NCCL's plug-in for it, and read their versions without loading them."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from training_launcher.collectives.versions import Version, parse_version

_PLUGIN_FOLDERS = (
    "/opt/amazon/ofi-nccl/lib64",
    "/opt/amazon/ofi-nccl/lib",
    "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
    "/opt/amazon/ofi-nccl/lib/aarch64-linux-gnu",
    "/opt/amazon/aws-ofi-nccl/lib",
    "/opt/aws-ofi-nccl/lib",
    "/usr/local/lib",
)
_PLUGIN_FILES = {"libnccl-net.so": "", "libnccl-net-ofi.so": "ofi", "libnccl-net-aws-ofi.so": "aws-ofi"}
"""File to the value of NCCL_NET_PLUGIN with which NCCL finds it; the first is what NCCL looks for by itself."""
_LIBFABRIC_FOLDERS = ("/opt/amazon/efa/lib64", "/opt/amazon/efa/lib", "/usr/local/lib", "/usr/lib64", "/usr/lib")
_LARGEST_PLUGIN = 64 << 20


class Library(NamedTuple):
    """A shared library that was found."""

    path: str
    """As the container sees it."""
    version: Version
    found_by_loader: bool
    """Whether the dynamic loader looks there by itself."""
    plugin_name: str = ""
    """What NCCL_NET_PLUGIN must say for NCCL to find it; empty when nothing."""

    @property
    def folder(self) -> str:
        """Where it lies."""
        return os.path.dirname(self.path)


def find_plugin(environment: Mapping[str, str], root: str) -> Optional[Library]:
    """aws-ofi-nccl: what the user names in NCCL_NET_PLUGIN, else what the loader finds, else the usual places.

    Another vendor's plug-in of the same file name is none.
    """
    known = _loader_folders(environment, root)
    named = environment.get("NCCL_NET_PLUGIN", "")
    files = {os.path.basename(named): ""} if "/" in named else _PLUGIN_FILES
    folders = [os.path.dirname(named)] if "/" in named else [*known, *_PLUGIN_FOLDERS]
    for folder in folders:
        for file, plugin_name in files.items():
            path = os.path.join(folder, file)
            marker = _plugin_marker(_under(root, path))
            if marker is not None:
                return Library(path, parse_version(marker), folder in known, plugin_name)
    return None


def find_libfabric(environment: Mapping[str, str], root: str) -> Optional[Library]:
    """libfabric; its version from pkg-config's file beside it or from the list that the EFA installer leaves."""
    known = _loader_folders(environment, root)
    for folder in [*known, *_LIBFABRIC_FOLDERS]:
        path = os.path.join(folder, "libfabric.so.1")
        if os.path.exists(_under(root, path)):
            return Library(path, _libfabric_version(folder, root), folder in known)
    return None


def _plugin_marker(path: str) -> Optional[str]:
    """The words ``aws-ofi-nccl 1.16.2`` in the file, which it prints when it starts; None when it is another's."""
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST_PLUGIN)
    except OSError:  # not there
        return None
    if b"aws-ofi-nccl" not in content:
        return None
    found = re.search(rb"aws-ofi-nccl[ /-]v?(\d+\.\d+(?:\.\d+)?)", content)
    return found.group(1).decode() if found else ""


def _libfabric_version(folder: str, root: str) -> Version:
    texts = [os.path.join(folder, "pkgconfig/libfabric.pc"), "/opt/amazon/efa_installed_packages"]
    patterns = [r"^Version:\s*(\S+)", r"^libfabric\d*-aws[-_: ]+v?(\d\S*)"]
    for path, pattern in zip(texts, patterns):  # noqa: B905  Python 3.9 has no `strict`
        try:
            with open(_under(root, path), encoding="utf-8", errors="replace") as file:
                found = re.search(pattern, file.read(), re.MULTILINE)
        except OSError:  # the image has no development files, or libfabric did not come with the EFA installer
            continue
        if found:
            return parse_version(found.group(1))
    return None


def _loader_folders(environment: Mapping[str, str], root: str) -> Sequence[str]:
    """LD_LIBRARY_PATH, then the folders of the loader's configuration."""
    folders = [folder for folder in environment.get("LD_LIBRARY_PATH", "").split(os.pathsep) if folder]
    for path in sorted(glob.glob(_under(root, "/etc/ld.so.conf.d/*.conf"))):
        with open(path, encoding="utf-8", errors="replace") as file:
            folders += [line.strip() for line in file if line.startswith("/")]
    return list(dict.fromkeys(folders))


def _under(root: str, path: str) -> str:
    return os.path.join(root, path.lstrip("/"))
