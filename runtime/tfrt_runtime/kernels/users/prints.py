"""`print` in Python kernels: what the kernel of a watched run prints is the run's.

Such a run has a place of its own for what it prints, a board in a notebook for instance.  The process has one
standard output, which a notebook takes for that of the cell that runs at the moment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import TextIO, cast

from tfrt_runtime.host.request import Request
from tfrt_runtime.host.tracing.events import event_log
from tfrt_runtime.host.waiting.kernel_waits import COROUTINE

_IS_PRINTING: ContextVar[bool] = ContextVar("_IS_PRINTING", default=False)
"""Whether a run prints here: where its text goes may be standard output again."""


def divert_prints() -> Callable[[], None]:
    """From now on what kernels of watched runs write to standard output goes to their runs; returns the undo."""
    stream = sys.stdout
    # Another object: to give the stream another `write` would last until the end of the cell, as IPython does that, too.
    diverted = sys.stdout = cast(TextIO, _Diverted(stream))

    def undo() -> None:
        if sys.stdout is diverted:
            sys.stdout = stream

    return undo


class _Diverted:
    """A text stream, but for what kernels of watched runs write.  Any thread may write."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        run = None if _IS_PRINTING.get() or not isinstance(text, str) else _run_here()
        if run is None:
            return self._stream.write(text)
        token = _IS_PRINTING.set(True)
        try:
            run.output(text)
        finally:
            _IS_PRINTING.reset(token)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


def _run_here() -> Request | None:
    """The watched run whose kernel this thread or coroutine runs."""
    coroutine = COROUTINE.get()
    if coroutine is not None:
        run = getattr(coroutine, "run", None)  # it has none any more when it is over
        return run if isinstance(run, Request) and run.watched is not None else None
    watch = event_log().watch_here()
    run = None if watch is None else watch.run
    return run if isinstance(run, Request) else None
