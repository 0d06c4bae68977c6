"""Send text that Python kernels print to the output of their runs.

The text that a kernel writes to standard output is stored in `run.output`, like the output of
`tfrt.print.i32`.  It is also written to `output=`.  Without that argument, it is written to the
standard output of the call that started the run; in a notebook, it appears in the cell that
contains the call.

Standard error stays a separate stream, and appears in the cell that started the run.  If a run is
watched, for example in a `%%tfrt` cell, its board shows standard error, too.

The context variable RUN identifies the run.  Asyncio's tasks and `asyncio.to_thread` inherit the
variable.  Bytes that another process or a C library writes to the file descriptor are not captured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TextIO, cast

from tfrt_runtime.host.payload import RUN, address_of_words
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request


def divert_output() -> None:
    """Replace standard output with a stream that passes kernels' text on to their runs.

    Other code may replace standard output again, for example `contextlib.redirect_stdout`, so each
    start of a run calls this function.
    """
    if type(sys.stdout) is not Diverted and sys.stdout is not None:
        sys.stdout = cast(TextIO, Diverted(sys.stdout, of_watched=False))


def divert_errors() -> Callable[[], None]:
    """Replace standard error with a stream that passes on the text of kernels in watched runs.

    Return a function that restores standard error.
    """
    stream = sys.stderr
    diverted = sys.stderr = cast(TextIO, Diverted(stream, of_watched=True))

    def undo() -> None:
        if sys.stderr is diverted:
            sys.stderr = stream

    return undo


class Diverted:
    """A text stream that passes kernels' text on to their runs, and other text on to a stream.

    The alternative, replacing the original stream's `write` method, does not work, because IPython
    also replaces that method, and restores it at the end of the cell.

    Threads:
        any
    """

    def __init__(self, stream: TextIO, *, of_watched: bool) -> None:
        self._stream, self._of_watched = stream, of_watched
        self._owner = RUN.get()
        """The run in which a kernel made this stream, or None.

        This run's text is not diverted.
        """

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        words = RUN.get()
        if words is None or words is self._owner or not isinstance(text, str):
            return self._stream.write(text)
        run = native_process().requests.get(address_of_words(words))
        # A task or thread that a kernel has left running no longer belongs to a run, and neither
        # does a child process.
        if (
            not isinstance(run, Request)
            or run.is_done
            or run.queue.is_of_parent
            or (self._of_watched and run.watched is None)
        ):
            return self._stream.write(text)
        # This runs in the context of the call that started the run, which may be inside a kernel of
        # another run.
        run.output(text, cast(TextIO, self))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)
