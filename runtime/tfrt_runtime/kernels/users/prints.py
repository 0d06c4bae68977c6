"""`print` in Python kernels.

Text that a kernel writes to standard output belongs to the run, like the output of
`tfrt.print.i32`.

Therefore, the text is in `run.output`, and goes to `output=` or, without it, to the output of the
call that started the run: in a notebook, to that call's cell.  Standard error stays a separate
stream, in the right cell.  If a run is watched, for example in a `%%tfrt` cell, its board shows
standard error, too.  The run is found through the context variable RUN, which asyncio's tasks and
`asyncio.to_thread` inherit.  Bytes that another process or a C library writes to the file
descriptor are not captured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TextIO, cast

from tfrt_runtime.host.payload import RUN, address_of_words
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request


def divert_output() -> None:
    """Divert kernels' standard output to their runs from now on.

    This lasts until another stream replaces standard output, as in `contextlib.redirect_stdout`, so
    each start of a run checks it.
    """
    if type(sys.stdout) is not Diverted and sys.stdout is not None:
        sys.stdout = cast(TextIO, Diverted(sys.stdout, of_watched=False))


def divert_errors() -> Callable[[], None]:
    """Divert the standard error of kernels in watched runs to these runs.

    Return a function that undoes this.
    """
    stream = sys.stderr
    diverted = sys.stderr = cast(TextIO, Diverted(stream, of_watched=True))

    def undo() -> None:
        if sys.stderr is diverted:
            sys.stderr = stream

    return undo


class Diverted:
    """A text stream that diverts the text that kernels write.  Any thread may write to it.

    This is a separate object, because replacing the stream's `write` would last only until the end
    of the cell: IPython replaces it as well.
    """

    def __init__(self, stream: TextIO, *, of_watched: bool) -> None:
        self._stream, self._of_watched = stream, of_watched
        self._owner = RUN.get()
        """The run whose kernel installed the stream as its own standard output."""

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
