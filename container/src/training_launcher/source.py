"""Bring the user's source code from the ``code`` channel to the working directory, ``/opt/ml/code``."""

from __future__ import annotations

import os
import stat
from typing import IO, TYPE_CHECKING

from training_launcher.problems import Problem

if TYPE_CHECKING:
    import tarfile
    import zipfile

CHANNEL = "code"


def unpack_source(channel_directory: str, destination: str) -> None:
    """Unpack the channel's one archive, or copy its files; channels may be read-only, so never run there.

    Without the channel, what lies in `destination` already (an image with the code built in) stays as it is.

    Raises:
        Problem: The archive is broken or holds a path that leads out of `destination`, or the disk is full.
    """
    try:
        os.makedirs(destination, exist_ok=True)
        names = os.listdir(channel_directory) if os.path.isdir(channel_directory) else []
        archive = os.path.join(channel_directory, names[0]) if len(names) == 1 else ""
        if archive.endswith(".zip") and os.path.isfile(archive):
            _unzip(archive, destination)
        elif archive.endswith((".tar.gz", ".tgz", ".tar")) and os.path.isfile(archive):
            _untar(archive, destination)
        elif names:
            import shutil  # noqa: PLC0415  costs eight modules

            shutil.copytree(channel_directory, destination, symlinks=True, dirs_exist_ok=True)
    except OSError as error:
        raise Problem(f"the source code cannot be unpacked to {destination}: {error}") from error


def _unzip(path: str, destination: str) -> None:
    import zipfile  # noqa: PLC0415  costs 10 ms that a host without an archive need not pay

    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                _unzip_member(archive, member, destination, path)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise Problem(f"the source code archive {path} is broken: {error}") from error


def _unzip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, destination: str, path: str) -> None:
    target = _inside(destination, member.filename, path)
    mode = member.external_attr >> 16
    if member.is_dir():
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if stat.S_ISLNK(mode):
        _link(archive.read(member).decode(errors="surrogateescape"), target, destination, path)
        return
    with archive.open(member) as source:
        _write(source, target)
    if mode & 0o111:  # the zipfile module forgets that a file is executable
        os.chmod(target, os.stat(target).st_mode | 0o111)  # noqa: S103


def _untar(path: str, destination: str) -> None:
    import tarfile  # noqa: PLC0415

    try:
        with tarfile.open(path) as archive:
            for member in archive:
                _untar_member(archive, member, destination, path)
    except (tarfile.TarError, EOFError) as error:
        raise Problem(f"the source code archive {path} is broken: {error}") from error


def _untar_member(archive: tarfile.TarFile, member: tarfile.TarInfo, destination: str, path: str) -> None:
    target = _inside(destination, member.name, path)
    if member.isdir():
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if member.issym():
        _link(member.linkname, target, destination, path)
        return
    source = archive.extractfile(member)
    if source is None:
        raise Problem(f"the source code archive {path} holds {member.name!r}, which is neither file, folder nor link")
    with source:
        _write(source, target)
    os.chmod(target, 0o644 | (member.mode & 0o111))


def _write(source: IO[bytes], target: str) -> None:
    with open(target, "wb") as copy:
        while data := source.read(1 << 20):
            copy.write(data)


def _inside(destination: str, name: str, archive: str) -> str:
    """The member's place, or a refusal: an archive must not write anywhere else."""
    root = os.path.realpath(destination)
    target = os.path.realpath(os.path.join(root, os.path.dirname(name)))
    if os.path.isabs(name) or os.path.commonpath([root, target]) != root or os.path.basename(name) == "..":
        raise Problem(f"the source code archive {archive} holds {name!r}, which leads out of {destination}")
    return os.path.join(root, name)


def _link(points_to: str, target: str, destination: str, archive: str) -> None:
    root = os.path.realpath(destination)
    end = os.path.realpath(os.path.join(os.path.dirname(target), points_to))
    if os.path.isabs(points_to) or os.path.commonpath([root, end]) != root:
        raise Problem(
            f"the source code archive {archive} holds the link {os.path.relpath(target, root)!r} to {points_to!r}, "
            f"which leads out of {destination}"
        )
    if os.path.lexists(target):
        os.remove(target)
    os.symlink(points_to, target)
