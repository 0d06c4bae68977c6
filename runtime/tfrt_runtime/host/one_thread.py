"""The work that a web page's only thread does during a wait.

Elsewhere, timers, event loops of kernels, and the notebook's pump each have a thread.  On a page,
each of them is a *source*: a function that does the work that is currently due.  Sources are called
in only two places:

    a wait in native code     futex_wait -> `idle`: do what is due, or sleep until something is
    between cells             a timer of the page's own event loop (`_between`)

While a kernel sleeps, only sources that run no kernels (`looks_on`) are called: other work would
run in the middle of the sleeping kernel.  A source that runs no kernels may end the sleep
(`end_sleep`).  If no source is left that could end a wait, `gives_up` detects this, and the waiting
code raises an error.

No wait depends on switching stacks (JavaScript promise integration).  Not all browsers support it,
and switching below a callback from native code crashes the interpreter.  Where stacks can be
switched, a wait lets the page's event loop run from time to time, so that messages from the page
arrive (`let_page_in`).
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from time import sleep as block
from typing import Any, TypeVar

from tfrt_runtime.native.machine import HAS_THREADS
from tfrt_runtime.once import once

# A function that does the work that is due.  It returns the seconds until its next call, or None if
# it has no work left.
Source = Callable[[], float | None]
Function = TypeVar("Function", bound=Callable[..., Any])
# Maximum number of nested entries into native code.  About a hundred nested entries crash a page.
MAX_NESTED = 40
LONGEST_SLEEP = 0.02
DEAD_WAITS = 4
IDLE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class OneThread:
    """Calls this process's sources when their work is due.  Unused if threads can be started."""

    def __init__(self) -> None:
        self._sources: dict[Source, bool] = {}
        self._onlookers: set[Source] = set()
        self._running: set[Source] = set()
        self._timer: tuple[float, Any] | None = None
        self._dead_waits = 0
        """The number of consecutive waits that no source could end."""
        self._depth = 0
        self._is_awake = True
        self.callback = IDLE(self._idle)

    def add(self, source: Source, *, resolves: bool = True, looks_on: bool = False) -> None:
        """Add a source, which is called soon.

        Args:
            resolves: whether the source may end a wait.
            looks_on: whether the source runs no kernels, and may be called while a kernel sleeps.
        """
        self._sources[source] = resolves
        if looks_on:
            self._onlookers.add(source)
        self.wake()

    def end_sleep(self) -> None:
        """If a kernel is sleeping, end its sleep with an error."""
        self._is_awake = True

    def remove(self, source: Source) -> None:
        """Remove a source."""
        self._sources.pop(source, None)
        self._onlookers.discard(source)

    def wake(self, delay: float = 0.0) -> None:
        """Have the page's event loop call the sources in `delay` seconds.

        Thus, they do the work that becomes due while no code waits, such as between two cells.
        """
        import asyncio

        try:
            loop = asyncio.get_event_loop()
        except RuntimeError:
            return  # without the page's event loop, nothing runs between waits
        due = time.monotonic() + max(0.0, delay)
        if self._timer is None or due < self._timer[0]:
            if self._timer is not None:
                self._timer[1].cancel()
            self._timer = due, loop.call_later(max(0.0, delay), self._between)

    def _between(self) -> None:
        # Clear this before `run`, because a source may call `wake`.
        self._timer = None
        if (delay := self.run()) is not None:
            self.wake(max(delay, 0.001))

    def run(self, *, in_kernel: bool = False) -> float | None:
        """Do the work that is due.

        Return the seconds until the next work is due, or None if no work is left.  With
        `in_kernel`, call only the sources that may run while a kernel sleeps.
        """
        soonest: float | None = None
        is_alive = False
        for source, resolves in list(self._sources.items()):
            # A source that waits must not be called again during its own wait.
            if source in self._running or (in_kernel and source not in self._onlookers):
                continue
            self._running.add(source)
            try:
                delay = source()
            finally:
                self._running.discard(source)
            if delay is not None:
                soonest = delay if soonest is None else min(soonest, delay)
                is_alive = is_alive or resolves
        if is_alive:
            self._dead_waits = 0
        return soonest

    @property
    def hears_page(self) -> bool:
        """Whether messages from the page arrive while this code runs; outside a page, True."""
        if HAS_THREADS:
            return True
        return self._depth == 0 and _switching()[0]()

    def let_page_in(self) -> None:
        """Let the page's event loop run, if stacks can be switched now."""
        if self.hears_page:
            import asyncio

            from pyodide.ffi import run_sync

            run_sync(asyncio.sleep(0))

    @property
    def is_nested(self) -> bool:
        """Whether native code is waiting inside a kernel."""
        return self._depth > 1

    def gives_up(self) -> bool:
        """Return True if a wait has no time limit, and no source is left that could end it.

        This wait then ends, and the count of such waits restarts at 0, because the kernel that
        contains this wait may be inside another wait, which needs its own count.
        """
        is_dead = self._dead_waits >= DEAD_WAITS
        if is_dead:
            self._dead_waits = 0
        return is_dead

    def _idle(self, timeout_ns: int) -> int:
        """Work or sleep while native code waits for `timeout_ns`.

        A negative `timeout_ns` means no limit.
        """
        try:
            self._dead_waits += 1
            delay = self.run()
            limit = LONGEST_SLEEP if timeout_ns < 0 else timeout_ns / 1e9
            pause = min(limit, LONGEST_SLEEP if delay is None else delay)
            if pause > 0:
                block(pause)
        except BaseException as problem:  # noqa: BLE001 - native code cannot receive an exception
            import sys

            sys.excepthook(type(problem), problem, problem.__traceback__)
        return 0

    def entering(self, function: Function) -> Function:
        """Wrap a native function that may run kernels, for calls on a web page.

        If stacks can be switched, the call goes through a synchronous JavaScript frame.  Python
        then knows that stacks cannot be switched below it, so a sleeping kernel blocks instead of
        crashing the interpreter.

        Raises:
            RecursionError: in the wrapper, if calls are nested too deeply.
        """
        if HAS_THREADS:
            return function

        def enter(*arguments: Any) -> Any:
            if self._depth >= MAX_NESTED:
                raise RecursionError(
                    f"native code was entered {MAX_NESTED} times on top of itself: a page's stack"
                    " has no room for more"
                )
            self._depth += 1
            try:
                can_switch, call_in_frame = _switching()
                if can_switch():
                    return _through_javascript(call_in_frame, function, arguments)
                return function(*arguments)
            finally:
                self._depth -= 1

        return enter  # type: ignore[return-value]


def _sleep(seconds: float) -> None:
    """Replace `time.sleep` on a page; inside a kernel, call the sources that run no kernels.

    Raises:
        asyncio.CancelledError: after `end_sleep`.
    """
    one = ONE_THREAD
    if not one._depth:
        block(seconds)
        return
    end, one._is_awake = time.monotonic() + seconds, False
    while (left := end - time.monotonic()) > 0:
        block(min(left, LONGEST_SLEEP))
        one.run(in_kernel=True)
        if one._is_awake:
            import asyncio

            raise asyncio.CancelledError("the run was stopped")


_pending: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
_done: list[tuple[Any, BaseException | None]] = []


def _call_pending() -> None:
    function, arguments = _pending.pop()
    try:
        _done.append((function(*arguments), None))
    except BaseException as problem:  # noqa: BLE001 - `_through_javascript` raises it again
        _done.append((None, problem))


@once
def _switching() -> tuple[Callable[[], bool], Callable[[], None]]:
    """Return two functions, which deal with switching stacks.

    The first returns whether stacks can be switched.  The second runs `_call_pending` through
    JavaScript.
    """
    from pyodide.code import run_js
    from pyodide.ffi import can_run_sync, create_proxy

    return can_run_sync, run_js("(call) => () => { call(); }")(create_proxy(_call_pending))


def _through_javascript(
    call_in_frame: Callable[[], None], function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    """Call `function` through a synchronous JavaScript frame, which `call_in_frame` makes."""
    _pending.append((function, arguments))
    call_in_frame()
    result, problem = _done.pop()
    if problem is not None:
        raise problem
    return result


ONE_THREAD = OneThread()
if not HAS_THREADS:
    time.sleep = _sleep  # type: ignore[assignment]
