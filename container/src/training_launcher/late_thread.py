"""Know the abort of a script that was at its end; see ``torch/gloo_threads.py`` for how it comes about."""

from __future__ import annotations

from typing import Optional

from training_launcher.traceback_text import Explanation, explain

REMEDY = (
    "probably a gloo thread that still held a tensor while Python ended, with all work done: call "
    "training_launcher.torch.destroy_process_group() last in the script"
)
_WORDS = b"terminate called without an active exception"


def explain_late_thread(output: bytes) -> Optional[Explanation]:
    """What to say of a process that SIGABRT has ended, if its last words are those of a thread that was late.

    Args:
        output: The last of what it wrote.

    Returns:
        The exception that had ended the script already where there was one, else the likely cause and the remedy.
    """
    before, words, after = output.rpartition(_WORDS)
    # faulthandler may go on; a thread with Python frames is no thread of gloo's
    if not words or (after.strip() and not (b"Python error: Aborted" in after and b"<no Python frame>" in after)):
        return None
    earlier = explain(before, exit_code=1)
    last_line = before.decode(errors="replace").rstrip().rsplit("\n", 1)[-1]
    if earlier.is_exception and last_line.endswith(earlier.detail.rsplit("\n", 1)[-1]):  # nothing came after it
        return earlier
    return explain(output, exit_code=134)._replace(summary=REMEDY)
