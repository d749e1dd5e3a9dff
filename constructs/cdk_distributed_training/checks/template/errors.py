"""What stops a file from being read."""

from __future__ import annotations


class UnreadableFileError(Exception):
    """A file that is no document that can be judged; the message names the file, and the line if there is one."""
