"""Starting threads, where the system may refuse to."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from tfrt_runtime.diagnostics import TfrtError, error


def start_thread(name: str, target: Callable[..., object], *arguments: object) -> threading.Thread:
    """A daemon thread that runs `target`.

    Raises:
        TfrtError: if the system starts no more threads, or the interpreter is ending.
    """
    if sys.is_finalizing():  # before Python 3.12 the start would wait for ever for the thread
        raise TfrtError(error(f"the interpreter is ending: it starts no thread '{name}'"))
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as refused:
        text = (
            f"the system starts no thread '{name}': {refused} (`ulimit -u` and `-v` limit threads)"
        )
        raise TfrtError(error(text)) from None
    return thread
