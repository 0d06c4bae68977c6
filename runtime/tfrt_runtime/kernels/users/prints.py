"""`print` in Python kernels: what a kernel writes to standard output is its run's, as what
`tfrt.print.i32` writes.

So it is in `run.output`, goes to `output=`, and else to where the call that started the run would
print: in a notebook, to its cell.  Standard error stays a stream of its own, in the right cell; a
watched run, as that of a `%%tfrt` cell, has its board for it.  The run is that of the context
variable RUN, which tasks of asyncio and `asyncio.to_thread` hand on. Bytes that another process, or
a library in C, writes to the file descriptor are not seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TextIO, cast

from tfrt_runtime.host.payload import RUN, address_of_words
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request


def divert_output() -> None:
    """From now on what kernels of runs write to standard output goes to their runs.

    Until another stream takes its place, as within `contextlib.redirect_stdout`: each start of a
    run looks.
    """
    if type(sys.stdout) is not Diverted and sys.stdout is not None:
        sys.stdout = cast(TextIO, Diverted(sys.stdout, of_watched=False))


def divert_errors() -> Callable[[], None]:
    """From now on what kernels of watched runs write to standard error goes to their runs;
    returns the undo.
    """
    stream = sys.stderr
    diverted = sys.stderr = cast(TextIO, Diverted(stream, of_watched=True))

    def undo() -> None:
        if sys.stderr is diverted:
            sys.stderr = stream

    return undo


class Diverted:
    """A text stream, but for what kernels of runs write.  Any thread may write.

    Another object than the stream: to give that another `write` would last until the end of the
    cell, as IPython does that, too.
    """

    def __init__(self, stream: TextIO, *, of_watched: bool) -> None:
        self._stream, self._of_watched = stream, of_watched
        self._owner = RUN.get()
        """The run whose kernel has made the stream standard output, for itself."""

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        words = RUN.get()
        if words is None or words is self._owner or not isinstance(text, str):
            return self._stream.write(text)
        run = native_process().requests.get(address_of_words(words))
        # A task or thread that a kernel has left running no longer belongs to a run, nor does a #
        # child process.
        if not isinstance(run, Request) or run.is_done or run.queue.is_of_parent:
            return self._stream.write(text)
        if self._of_watched and run.watched is None:
            return self._stream.write(text)
        # In the context of the call that started the run, which is perhaps within a kernel of
        # another one.
        run.output(text, cast(TextIO, self))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)
