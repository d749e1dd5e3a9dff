"""Rules over the folders that are shipped to the machines, as they are on this one (DT801 to DT804)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cdk_distributed_training.checks.findings import Finding


def source_folder(path: str, *, is_folder: bool, is_file: bool, whole: str) -> Iterator[Finding]:
    """DT801: the folder with the user's code is there.

    Args:
        path: As given.
        is_folder: Whether it is a folder.
        is_file: Whether it is something else.
        whole: The absolute path.
    """
    if not is_folder:
        yield Finding(
            rule="DT801",
            prop="path",
            got=f"{path!r}, which is {'a file' if is_file else 'not there'}",
            allowed="an existing folder",
            fix=f"make the folder {whole}, or run from where the path is relative to",
        )


def inside_folder(entry_script: str, *, is_inside: bool) -> Iterator[Finding]:
    """DT802: the script is shipped with the folder."""
    if not is_inside:
        yield Finding(
            rule="DT802",
            prop="entry_script",
            got=repr(entry_script),
            allowed="a path inside the folder, relative to it",
            fix="name the script relative to the folder, or give the folder that holds it",
        )


def entry_script(name: str, *, exists: bool, folder: str, scripts: Sequence[str]) -> Iterator[Finding]:
    """DT803: the script is in the folder.

    Args:
        name: The script as given.
        exists: Whether it is there.
        folder: The folder.
        scripts: The scripts that the folder has.
    """
    if not exists:
        yield Finding(
            rule="DT803",
            prop="entry_script",
            got=f"{name!r}, which is not in {folder}",
            allowed="a file of the folder" + (f", such as {', '.join(scripts[:3])}" if scripts else ""),
            fix="check the spelling",
        )


def launcher_source(places: Sequence[str], *, found: bool) -> Iterator[Finding]:
    """DT804: the launcher's source came with this library.

    Args:
        places: Where it may be.
        found: Whether it is at one of them.
    """
    if not found:
        yield Finding(
            rule="DT804",
            prop="container/src",
            got="no src/__main__.py in " + " nor ".join(places),
            allowed="the launcher's source",
            fix="install the library again, or check the repository out whole",
        )
