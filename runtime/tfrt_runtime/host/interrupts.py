"""Handle Ctrl-C while the runtime works on the main thread.

Python may raise KeyboardInterrupt between any two bytecodes of the main thread.  If Python raises
it halfway through the start of a run, the native parts of the run have no owner.  If Python raises
it in a finalizer or in a callback of the native core, no code can catch it.  Therefore, this
module's handler receives SIGINT.  What it does depends on the code that the thread is running:

    in user code             It raises KeyboardInterrupt, as Python's handler does.  Kernels written
                             in Python are user code, too.
    in a wait for a queue    It sets a flag.  The waiting loop sees the flag, stops waiting, and
                             raises KeyboardInterrupt.
    in the runtime's code    It defers the signal: it has the interpreter call it again and again,
                             until the thread is back in user code or DEFER_NS has elapsed.

A wait in native code regularly returns to Python (`in_slices`), so that signals are handled.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from threading import get_ident
from time import monotonic_ns
from types import FrameType

from tfrt_runtime.diagnostics import FOREVER, TfrtError, error
from tfrt_runtime.host import structs
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.machine import HAS_THREADS

DEFER_NS = 250_000_000
"""How long an interrupt is deferred while the runtime's code is running.

Starting a run never takes that long, but waiting for a lock may.
"""
SLICE_NS = 20_000_000
"""The time after which a waiting thread leaves native code, so that Python can handle signals."""
RUNTIME = "tfrt_runtime"
FINALIZERS = ("weakref", "_weakrefset")
"""Modules whose functions run when objects are destroyed.  Exceptions that they raise are lost."""
WAS_RAISED = "tfrt_was_raised"
"""The attribute that marks an interrupt that a result has raised.

A wait for that result's run does not raise the interrupt again.
"""
NAMED_TUPLE = "namedtuple_"
"""The prefix of the module name of a named tuple's constructor; the class name follows."""


class Interrupts:
    """The SIGINT handler and its note; `INTERRUPTS` is the process's instance.

    Use the instance as a context manager around a wait.  Inside the block, its handler receives
    SIGINT if this is the main thread and Python's own handler was installed.  The handler stays
    installed, because changing it costs more than a short run.  In user code, it does what Python's
    handler does.
    """

    def __init__(self) -> None:
        self._main = threading.main_thread().ident
        self.handler: Callable[[int, FrameType | None], None] | None = None
        """The native function that calls `answer`; None until the native core is loaded."""
        self.answer = self._answer
        self._words = structs.Interrupts.new(at.INTERRUPTS_SIZE)
        self.address = self._words.address
        """The address of the words that Python and native code share."""
        self._deferred_at = 0
        """When an interrupt was deferred, in ns of the monotonic clock; 0 if none is deferred."""
        self._has_reminder = False
        self.when_installed: Callable[[], None] = lambda: None
        self.when_noted: Callable[[], None] = lambda: None
        """Called on the main thread when a signal arrives.

        The other attribute, `when_installed`, is called after `install`.
        """
        # The thread that runs `_remind` does not exist in a child process.
        os.register_at_fork(after_in_child=partial(setattr, self, "_has_reminder", False))

    @property
    def waits(self) -> int:
        """How many nested waits the main thread is in.

        Inside a wait, user code must be surrounded by `allow` and `forbid`.
        """
        return self._words.waits

    @property
    def may_raise(self) -> bool:
        """Whether the main thread is running user code inside a wait.

        User code may be interrupted (`allow`).
        """
        return self._words.may_raise != 0

    @property
    def is_installed(self) -> bool:
        """Whether the handler is installed."""
        return self.handler is not None and signal.getsignal(signal.SIGINT) is self.handler

    def install(self) -> None:
        """Replace Python's handler, if it is installed and this is the main thread."""
        if (
            self.handler is not None
            and get_ident() == self._main
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            signal.signal(signal.SIGINT, self.handler)
            self.when_installed()

    def _answer(self, _number: int, frame: FrameType | None) -> bool:
        """Handle a signal that arrived in `frame`; return True if the signal must be raised again.

        Raises:
            KeyboardInterrupt: if the thread is running user code.
        """
        self.when_noted()
        if self.waits and not self.may_raise:
            self._words.noted = 1
        elif self._is_deferred(frame):
            return True
        else:
            self._words.may_raise = 0  # code that handles the exception must not be interrupted
            self._deferred_at = 0
            raise KeyboardInterrupt
        self._deferred_at = 0
        return False

    def _is_deferred(self, frame: FrameType | None) -> bool:
        if not _is_of_runtime(frame):
            return False
        if self._deferred_at:
            return monotonic_ns() - self._deferred_at < DEFER_NS
        self._deferred_at = monotonic_ns()
        if not self._has_reminder:
            self._has_reminder = True
            # Do not use `threading`: this thread may hold its locks.
            with contextlib.suppress(RuntimeError):
                _thread.start_new_thread(self._remind, ())
        return True

    def _remind(self) -> None:
        """Interrupt the main thread again while it stays in the runtime's code.

        The main thread may be asleep there.
        """
        while since := self._deferred_at:
            time.sleep(max(0, since + DEFER_NS - monotonic_ns()) / 1e9)
            if self._deferred_at == since:
                signal.pthread_kill(self._main or 0, signal.SIGINT)
                time.sleep(DEFER_NS / 1e9)
        self._has_reminder = False

    def __enter__(self) -> None:
        if get_ident() == self._main:
            # A notebook restores Python's handler before each cell, but does not change it within a
            # cell.
            now = monotonic_ns()
            if now - self._words.looked > at.INTERRUPTS_LOOK_NS:
                self._words.looked = now
                self.install()
            self._words.waits += 1

    def __exit__(self, *_: object) -> None:
        """End the wait.

        Raises:
            KeyboardInterrupt: if an interrupt has arrived and was not raised in a kernel.
        """
        if get_ident() == self._main:
            self._words.waits -= 1
            self.raise_if_noted()

    def raise_if_noted(self) -> None:
        """On the main thread, raise an interrupt that was noted.

        Raises:
            KeyboardInterrupt: if an interrupt was noted.
        """
        if self._words.noted and get_ident() == self._main:
            self._words.noted = 0
            raise KeyboardInterrupt

    @property
    def is_noted(self) -> bool:
        """Whether an interrupt has arrived, but the main thread has not handled it yet."""
        return self._words.noted != 0

    def allow(self) -> None:
        """Record that this thread runs user code from now on, which may be interrupted.

        Raises:
            KeyboardInterrupt: if an interrupt was noted.  Until `forbid` is called, a new interrupt
                raises it, too.
        """
        if self.waits and get_ident() == self._main:
            self._words.may_raise = 1
            self.raise_if_noted()

    def forbid(self) -> None:
        """Record that the user code has returned."""
        if get_ident() == self._main:
            self._words.may_raise = 0


def _is_of_runtime(frame: FrameType | None) -> bool:
    """Return whether `frame` runs a finalizer or the runtime's code.

    Standard library code that either of them calls counts, too.
    """
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module in FINALIZERS or frame.f_code.co_name == "__del__":
            return True
        package = module.partition(".")[0]
        if package not in sys.stdlib_module_names and not package.startswith(NAMED_TUPLE):
            return package == RUNTIME
        frame = frame.f_back
    return False


INTERRUPTS = Interrupts()


class Waits(threading.local):
    """Per-thread state that tells machine code whether the wait on its thread continues."""

    goes_on: Callable[[], bool] = staticmethod(lambda: not INTERRUPTS.is_noted)
    """A function that returns whether this thread's wait continues.

    If the wait does not continue, machine code bails out, because machine code cannot be suspended.
    """


WAITS = Waits()


def _go_on_alone(deadline: int | None) -> None:
    """Do the work that is due on a web page, which has only one thread, during a wait.

    Raises:
        TfrtError: if this wait would never return.
    """
    ONE_THREAD.run()
    ONE_THREAD.let_page_in()
    if deadline is None and ONE_THREAD.gives_up():
        text = (
            "deadlock: this call is waiting for a value that nothing else can resolve, because a"
            " page has only one thread. Resolve the value first, or `await` it"
        )
        raise TfrtError(error(text))


def in_slices(
    step: Callable[[int], int],
    timeout: float | None,
    interrupted: Callable[[], bool],
    slice_ns: int = SLICE_NS,
) -> bool:
    """Call `step` with the end time of each slice until it returns 0.

    `WorkQueue.wait` documents the parameters and the result.
    """
    now = time.monotonic_ns()
    deadline = None if timeout is None else now + int(min(timeout, FOREVER) * 1e9)

    def goes_on() -> bool:
        is_late = deadline is not None and time.monotonic_ns() >= deadline
        return not is_late and not INTERRUPTS.is_noted and not interrupted()

    former, WAITS.goes_on = WAITS.goes_on, goes_on
    try:
        while deadline is None or now < deadline:
            if step(now + slice_ns if deadline is None else min(now + slice_ns, deadline)) == 0:
                return True
            INTERRUPTS.raise_if_noted()
            if interrupted():
                # A step whose end has passed does not wait. It only checks whether the word has
                # become 0 meanwhile.
                return step(0) == 0
            if not HAS_THREADS:
                _go_on_alone(deadline)
            now = time.monotonic_ns()
        return False
    finally:
        WAITS.goes_on = former
