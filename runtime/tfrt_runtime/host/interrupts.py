"""Ctrl-C while the main thread works for a queue.

Python raises KeyboardInterrupt between any two bytecodes of the main thread, also within a callback
of the native core, where no code can catch it: the interrupt would be lost, and the core would take
the callback's missing answer for an address.  So while the main thread works for a queue, SIGINT goes
to a handler that raises only within the user's own kernels, and otherwise makes a note for the
waiting loop.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from threading import get_ident
from time import monotonic_ns
from types import FrameType

from tfrt_runtime.host import structs
from tfrt_runtime.native import layouts as at


class Interrupts:
    """The handler and its note; `INTERRUPTS` is the one of the process.

    Used as a context manager around a wait: within, SIGINT is ours, if this is the main thread and
    Python had its own handler there.  The handler stays installed, as changing it costs more than a
    short run; outside of a wait it does what Python's does.
    """

    def __init__(self) -> None:
        self._main = threading.main_thread().ident
        self._handler = self._handle
        self._words = structs.Interrupts.new(at.INTERRUPTS_SIZE)
        self.address = self._words.address
        """Of the words that native code writes and reads, too."""
        self.when_installed: Callable[[], None] = lambda: None
        self.when_noted: Callable[[], None] = lambda: None
        """What else has to be done then; both on the main thread."""

    @property
    def waits(self) -> int:
        """How many waits of the main thread there are: within, what it runs must `allow` interrupts."""
        return self._words.waits

    @property
    def may_raise(self) -> bool:
        """Whether the main thread runs the user's code: see `allow`."""
        return self._words.may_raise != 0

    @property
    def is_installed(self) -> bool:
        """Whether the handler is installed."""
        return signal.getsignal(signal.SIGINT) == self._handler

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.when_noted()
        if self.may_raise or self.waits == 0:
            self._words.may_raise = 0  # what handles the exception must not be interrupted
            raise KeyboardInterrupt
        self._words.noted = 1

    def __enter__(self) -> None:
        if get_ident() == self._main:
            # A notebook puts Python's handler back before each cell; within one it stays as it is.
            now = monotonic_ns()
            if now - self._words.looked > at.INTERRUPTS_LOOK_NS:
                self._words.looked = now
                if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                    signal.signal(signal.SIGINT, self._handler)
                    self.when_installed()
            self._words.waits += 1

    def __exit__(self, *_: object) -> None:
        """
        Raises:
            KeyboardInterrupt: if an interrupt came that no kernel has raised.
        """
        if get_ident() == self._main:
            self._words.waits -= 1
            self.raise_if_noted()

    def raise_if_noted(self) -> None:
        """On the main thread: answer an interrupt that came in the meantime.

        Raises:
            KeyboardInterrupt: if one came.
        """
        if self._words.noted and get_ident() == self._main:
            self._words.noted = 0
            raise KeyboardInterrupt

    @property
    def is_noted(self) -> bool:
        """Whether an interrupt came that the main thread has not answered."""
        return self._words.noted != 0

    def allow(self) -> None:
        """From now on this thread runs the user's code, which may be interrupted.

        Raises:
            KeyboardInterrupt: if an interrupt came before, and at any time until `forbid`.
        """
        if self.waits and get_ident() == self._main:
            self._words.may_raise = 1
            self.raise_if_noted()

    def forbid(self) -> None:
        """The user's code is over."""
        if get_ident() == self._main:
            self._words.may_raise = 0


INTERRUPTS = Interrupts()
