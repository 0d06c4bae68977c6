"""`print` in Python kernels: text on standard output belongs to the run, like that of
`tfrt.print.i32`.

Therefore it is in `run.output`, and goes to `output=`, or otherwise to the output of the call that
started the run: in a notebook, to its cell.  Standard error stays a separate stream, in the right
cell; the board of a watched run, such as that of a `%%tfrt` cell, shows it.  The run is found by
the context variable RUN, which tasks of asyncio and `asyncio.to_thread` pass on. Bytes that another
process or a C library writes to the file descriptor are not captured.
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

    This lasts until another stream replaces standard output, as in `contextlib.redirect_stdout`:
    each start of a run checks.
    """
    if type(sys.stdout) is not Diverted and sys.stdout is not None:
        sys.stdout = cast(TextIO, Diverted(sys.stdout, of_watched=False))


def divert_errors() -> Callable[[], None]:
    """Divert kernels' standard error in watched runs to their runs; return a function that undoes
    it.
    """
    stream = sys.stderr
    diverted = sys.stderr = cast(TextIO, Diverted(stream, of_watched=True))

    def undo() -> None:
        if sys.stderr is diverted:
            sys.stderr = stream

    return undo


class Diverted:
    """A text stream that diverts the text of kernels.  Any thread may write.

    This is a separate object: replacing the stream's `write` would last only until the end of the
    cell, because IPython replaces it, too.
    """

    def __init__(self, stream: TextIO, *, of_watched: bool) -> None:
        self._stream, self._of_watched = stream, of_watched
        self._owner = RUN.get()
        """The run whose kernel has installed the stream as standard output, for itself."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        words = RUN.get()
        if words is None or words is self._owner or not isinstance(text, str):
            return self._stream.write(text)
        run = native_process().requests.get(address_of_words(words))
        # A task or thread that a kernel has left running no longer belongs to a run, nor does a
        # child process.
        if (
            not isinstance(run, Request)
            or run.is_done
            or run.queue.is_of_parent
            or (self._of_watched and run.watched is None)
        ):
            return self._stream.write(text)
        # In the context of the call that started the run, which may be inside a kernel of another
        # run.
        run.output(text, cast(TextIO, self))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)
