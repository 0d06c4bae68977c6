"""`print` in Python kernels: what the kernel of a run prints is the run's, where that has a place of its own for it.

A watched run has one, a board in a notebook for instance, and so has a run whose schedules are explored.  The
process has one standard output, which a notebook takes for that of the cell that runs at the moment; of warnings and
other text on standard error the same is true.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import TextIO, cast

from tfrt_runtime.host.request import Request
from tfrt_runtime.host.tracing.events import event_log
from tfrt_runtime.host.waiting import COROUTINE

_IS_PRINTING: ContextVar[bool] = ContextVar("_IS_PRINTING", default=False)
"""Whether a run prints here: where its text goes may be standard output again."""


def divert_prints(only: Request | None = None) -> Callable[[], None]:
    """From now on what kernels of all watched runs write to standard output or error goes to the run; returns the undo.

    Of `only`, if it is given, and then to standard output: warnings, which come once, are no part of an outcome.
    """
    names = ("stdout", "stderr") if only is None else ("stdout",)
    streams = {name: getattr(sys, name) for name in names}
    # Other objects: to give a stream another `write` would last until the end of the cell, as IPython does that, too.
    diverted = {name: cast(TextIO, _Diverted(stream, only)) for name, stream in streams.items()}
    for name, stream in diverted.items():
        setattr(sys, name, stream)

    def undo() -> None:
        for name, stream in diverted.items():
            if getattr(sys, name) is stream:
                setattr(sys, name, streams[name])

    return undo


class _Diverted:
    """A text stream, but for what kernels of runs write.  Any thread may write."""

    def __init__(self, stream: TextIO, only: Request | None) -> None:
        self._stream, self._only = stream, only

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        run = None if _IS_PRINTING.get() or not isinstance(text, str) else _run_here(self._only)
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


def _run_here(only: Request | None) -> Request | None:
    """The run whose kernel this thread or coroutine runs, if it is `only`, or else if it is watched."""
    coroutine = COROUTINE.get()
    run: object
    if coroutine is not None:
        run = getattr(coroutine, "run", None)  # it has none any more when it is over
    elif only is not None:
        run = only if only.queue.is_at_work_here else None
    else:
        watch = event_log().watch_here()
        run = None if watch is None else watch.run
    if not isinstance(run, Request) or (run.watched is None if only is None else run is not only):
        return None
    return run
