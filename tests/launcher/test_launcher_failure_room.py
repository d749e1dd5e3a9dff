"""The failure file on a full disk."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from training_launcher import failure
from training_launcher.failure import LONGEST, discard_room, reserve_room, write_failure


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No new file takes a byte; those that are there can be written over."""
    really = open

    def opened(path: str, mode: str = "r", **options: Any) -> Any:
        if mode == "wb":
            raise OSError(errno.ENOSPC, "No space left on device", path)
        return really(path, mode, **options)

    monkeypatch.setattr(failure, "open", opened, raising=False)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_takes_the_room_that_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the letters: each of these takes three bytes."""
    reserve_room(str(tmp_path / "output"))
    fill_the_disk(monkeypatch)
    assert write_failure(str(tmp_path / "output"), "☃" * LONGEST)
    assert (tmp_path / "output/failure").read_text() == "☃" * LONGEST
    assert names(tmp_path / "output") == ["failure"]


def test_room_that_was_not_needed_is_given_back(tmp_path: Path) -> None:
    reserve_room(str(tmp_path))
    assert write_failure(str(tmp_path), "text")
    discard_room(str(tmp_path))
    assert names(tmp_path) == ["failure"]


def test_a_disk_that_was_full_from_the_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is nothing to be done; the log has the text."""
    fill_the_disk(monkeypatch)
    reserve_room(str(tmp_path))
    with pytest.raises(OSError, match="No space left on device"):
        write_failure(str(tmp_path), "text")
