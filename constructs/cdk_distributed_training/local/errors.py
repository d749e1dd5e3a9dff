"""What a person reads when local mode cannot do what was asked."""


class LocalModeError(Exception):
    """Something that the person at the terminal can mend: one message, with the fix in it, and no traceback."""
