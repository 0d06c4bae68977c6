"""A host on which every ready kernel, ready task, and arrival waits until it is picked.

The native core asks this host which task in a thread's list to run next, even while a kernel is
waiting for an object and its thread runs other tasks. A blocking kernel runs on the same thread,
and an await returns to the list.

Arrivals come from timers, coroutines, and threads that resolve values. Time is virtual: a timer may
be chosen at once, whatever its delay, and coroutines' sleeps take no time. When a coroutine is
chosen, it runs until it finishes or waits for something other than time. Threads run freely, but
the values that they resolve reach the run only when they are chosen.
"""

from __future__ import annotations

import asyncio
import contextvars
import selectors
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfrt_nb.passes.log_events import TOUCH
from tfrt_runtime.async_runtime.externals import provide
from tfrt_runtime.diagnostics import error
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext, HostRun
from tfrt_runtime.host.process import Callback2, Callback3, native_process, shielded
from tfrt_runtime.host.queues.threads import Timer, TimerQueue
from tfrt_runtime.host.structs import Context, Task
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.users.stepped_loop import SocketlessLoop
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.machine import HAS_THREADS

PATIENCE_SECONDS = 2.0
"""How many seconds a choice waits for values that threads have not resolved yet.

The wait makes the choices independent of the threads' speed.
"""
_LOOK_SECONDS = 0.001

Offer = Callable[[Callable[[], object], Callable[[], bool], bool], bool]
"""A function `offer(action, is_open, is_python)` that offers a step, which calls `action`.

The caller must be on a thread that runs a chosen kernel. On any other thread, the result is False,
and no step is offered. The step can be chosen while `is_open()` is true. With `is_python`, the step
runs users' code.
"""


class Outside:
    """Turns the arrivals for one host's runs into steps that can be chosen.

    One thread chooses all of the host's steps.
    """

    def __init__(self, offer: Offer) -> None:
        self.timers = _ChosenTimers(offer)
        self.loop = _ChosenLoop(offer)
        self._offer = offer
        self._held: set[AsyncValue] = set()
        self._late: set[object] = set()
        """The values and tasks for which a wait timed out."""

    def begin(self) -> None:
        """Start another run."""
        self._held.clear()
        self._late.clear()

    def hold(self, request: HostRun, value: AsyncValue) -> AsyncValue:
        """Return a replacement for `value`, a kernel's result that a thread resolves.

        The replacement is resolved like `value` when its step is chosen.
        """
        text = "the run has dropped a value that a thread should have resolved"
        held: AsyncValue = request.allocate(value.type, lambda: error(text))
        self._held.add(value)
        self._offer(lambda: held.follow(value), value.done, False)
        return held

    def wait(self) -> None:
        """Wait, for a limited time, until threads and coroutines have resolved their values."""
        end = time.monotonic() + PATIENCE_SECONDS
        while awaited := self._unresolved() - self._late:
            if time.monotonic() > end:
                self._late |= awaited
            time.sleep(_LOOK_SECONDS)
            self.loop.run_until_idle()

    def _unresolved(self) -> set[object]:
        self._held = {value for value in self._held if not value.done()}
        return {*self._held, *asyncio.all_tasks(self.loop)}

    def close(self) -> None:
        """Cancel the remaining coroutines."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_idle()
        self.loop.close()


class _ChosenTimers(TimerQueue):
    """Timers for kernels. Each timer fires when it is chosen."""

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self._offer = offer

    def at(self, due: float, callback: Callable[[], object]) -> Timer:
        timer = Timer(due, callback)
        if self._offer(timer.fire, lambda: not timer.is_cancelled, False):
            return timer
        return super().at(due, callback)


if HAS_THREADS or TYPE_CHECKING:
    _Loop = asyncio.SelectorEventLoop
else:
    _Loop = SocketlessLoop


class _ChosenLoop(_Loop):
    """An event loop for kernels' coroutines. Each coroutine starts when it is chosen."""

    def __init__(self, offer: Offer) -> None:
        self._skipped = 0.0
        self._offer = offer
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return super().time() + self._skipped

    def skip(self, seconds: float) -> None:
        """Advance the loop's time by the given number of seconds."""
        self._skipped += seconds

    def call_soon_threadsafe(  # type: ignore[override]
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        context = contextvars.copy_context() if context is None else context

        def begin() -> None:
            self.call_soon(callback, *args, context=context)
            self.run_until_idle()

        if not self.is_running() and self._offer(begin, lambda: True, True):
            return asyncio.Handle(begin, (), self)
        return super().call_soon_threadsafe(callback, *args, context=context)

    def run_until_idle(self) -> None:
        """Run everything that is ready. A wait for time to pass ends immediately."""
        outer = asyncio._get_running_loop()  # the notebook's loop, if a cell explores
        asyncio._set_running_loop(None)
        try:
            self.run_forever()
        finally:
            asyncio._set_running_loop(outer)


class _Skipping(selectors.DefaultSelector):
    """A selector that never waits.

    If the loop waits only for time to pass, the selector advances the loop's time. If the loop has
    nothing to wait for, the selector stops the loop.
    """

    def __init__(self, loop: _ChosenLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0) if HAS_THREADS else []
        if not found and timeout is None:
            self._loop.stop()
        elif not found and timeout:
            self._loop.skip(timeout)
        return found


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event outside the run's own steps.

    The event is a value that a thread resolves, a timer that is due, or a callback for the event
    loop. `action` makes it happen, and may be called while `is_open()` is true. With `is_python`,
    `action` runs users' code.
    """

    action: Callable[[], object]
    is_open: Callable[[], bool]
    is_python: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A ready kernel, a task of compiled code, or an arrival for a kernel that has returned.

    `key` is the step's ordinal within the run, which is the same in all runs with the same earlier
    choices. `kernel` is the kernel's number in its program, or -1 for a task.
    """

    key: int
    task: int
    kernel: int = -1
    program: Executable | None = None
    arrival: Arrival | None = None
    """The arrival, if the step is one. A step with an arrival has no task."""

    @property
    def activation(self) -> int:
        """The activation whose registers the kernel uses, or the task's frame in compiled code."""
        return Task.at(self.task).first

    @property
    def record(self) -> int:
        """The record of the kernel."""
        return Task.at(self.task).second

    handle = activation


Pick = Callable[[Mapping[int, Step]], Step | None]
"""A function that chooses one of the ready steps.

It takes the steps by key, in the order in which they became ready. If it returns None, no step runs
now.
"""

Touched = Callable[[int, int, int], None]
"""A function that is called at each effect of compiled code.

It takes the same arguments as `passes.log_events.TOUCH`.
"""

_queues: dict[int, ChosenHost] = {}
_callbacks: list[object] = []


class ChosenHost:
    """A host without workers.

    `pick` chooses the steps. It is called on the thread that waits for the run.
    """

    def __init__(self, pick: Pick, touched: Touched = lambda *_: None) -> None:
        self.touched = touched
        self._outside = Outside(self._offer)
        self.host = HostContext(
            "s",
            output=lambda _: None,
            on_diagnostic=lambda _: None,
            loop=self._outside.loop,
            timers=self._outside.timers,
        )
        self.host.hold = self._hold
        self.host.work_queue.on_resolve = self._resolve
        self.host.work_queue.is_of_users = True  # `pick` may refer to runs and their results
        self._pick = pick
        self._arrivals: dict[int, Step] = {}
        self._running: Step | None = None
        """The running kernel, on the thread with the number `_thread`."""
        self._thread = 0
        self._has_offered = False
        self._from_threads: set[int] = set()
        """Addresses of values that other threads resolved while the kernel ran."""
        self._process = native_process()
        self._keys: dict[int, Step] = {}
        self._count = 0
        self.problem: BaseException | None = None
        """The exception that `pick` raised.

        From then on, steps run in the order in which they become ready.
        """
        self.hurries = False
        """Whether tasks run unpicked until the next run starts, because this run is cancelled.
        """
        if not _callbacks:
            callback = Callback2(_choose)
            _callbacks.append(callback)
            self._process.words.choose = self._process.keep(callback)
            provide(TOUCH, Callback3(_touch))
        self._address = self.host.work_queue.address
        _queues[self._address] = self
        self.host.work_queue.native.choose = 1

    def begin(self) -> None:
        """Start another run, whose steps are counted from 1 again."""
        self.hurries = False
        self._keys.clear()
        self._arrivals.clear()
        self._running = None
        self._outside.begin()
        self._count = 0

    def close(self) -> None:
        """Let the remaining steps run in any order, and close the host."""
        self.host.work_queue.native.choose = 0
        self._outside.close()
        self.host.close()
        _queues.pop(self._address, None)

    def choose(self, context: int) -> int:
        """Remove the next task from the thread's list, and return it.

        Return 0 if there is no task, or if an arrival was picked.
        """
        self._running = None
        if self.hurries and (first := Context.at(context).pending):
            return self._take(context, first, 0)
        before_of = dict(_pending(context))
        ready: dict[int, Step] = {}
        for task, before in before_of.items():
            step = self._keys.get(task)
            if step is None:
                step = self._step(task)
                if step is None:  # this is the start of a run, or another step that is not a choice
                    return self._take(context, task, before)
                self._keys[task] = step
            ready[step.key] = step
        if self._arrivals:
            # Wait for threads first, so that the choices do not depend on their speed.
            self._outside.wait()
            arrived = ((key, step, step.arrival) for key, step in self._arrivals.items())
            ready |= {key: step for key, step, one in arrived if one is not None and one.is_open()}
        picked = self._picked(ready) if ready else None
        if picked is None:
            return 0
        self._thread, self._has_offered = threading.get_ident(), False
        self._from_threads.clear()
        if picked.arrival is not None:
            del self._arrivals[picked.key]
            shielded(picked.arrival.action)
            return 0
        # Forget the address, because a later task may get it.
        del self._keys[picked.task]
        self._running = picked
        return self._take(context, picked.task, before_of[picked.task])

    def _picked(self, ready: Mapping[int, Step]) -> Step | None:
        try:
            return next(iter(ready.values())) if self.problem else self._pick(ready)
        except BaseException as problem:  # noqa: BLE001
            # An exception must not leave a callback that the native core calls.
            self.problem = problem
            return next(iter(ready.values()))

    def _offer(
        self, action: Callable[[], object], is_open: Callable[[], bool], is_python: bool
    ) -> bool:
        """Offer an arrival; see `Offer`."""
        by = self._running
        if by is None or threading.get_ident() != self._thread:
            return False
        self._count += 1
        arrival = Arrival(action, is_open, is_python)
        self._arrivals[self._count] = Step(self._count, 0, by.kernel, by.program, arrival)
        self._has_offered = True
        return True

    def _resolve(self, address: int) -> None:
        if threading.get_ident() != self._thread:
            self._from_threads.add(address)

    def _hold(self, request: HostRun, value: AsyncValue, is_outside: bool) -> AsyncValue:
        """Hold a value that a chosen kernel returns and another thread resolves.

        The value is held even if the thread has already resolved it, so that runs with the same
        choices have the same steps.
        """
        if self._running is None or self._has_offered:
            return value
        is_outside |= not value.done() or value.address in self._from_threads
        return self._outside.hold(request, value) if is_outside else value

    def _step(self, address: int) -> Step | None:
        task, words = Task.at(address), self._process.words
        if task.function == words.run_coroutine:
            self._count += 1
            return Step(self._count, address)
        if task.function != words.run_entry or task.first & at.READY_BITS:
            return None
        owner, number = self._process.owner_of(task.second)
        assert isinstance(owner, Executable)
        if not any(declared.kernels for declared in owner.file.functions):
            return None  # this is the single call that makes up a run of a compiled function
        self._count += 1
        return Step(self._count, address, number, owner)

    @staticmethod
    def _take(context: int, task: int, before: int) -> int:
        after = Task.at(task).next
        if before:
            Task.at(before).next = after
        else:
            Context.at(context).pending = after
        if not after:
            Context.at(context).pending_last = before
        return task


def _pending(context: int) -> Iterator[tuple[int, int]]:
    """Yield the tasks in a thread's list, each with its predecessor."""
    task, before = Context.at(context).pending, 0
    while task:
        yield task, before
        before, task = task, Task.at(task).next


def _choose(context: int, _: int) -> int:
    host = _queues.get(Context.at(context).queue)
    return 0 if host is None else host.choose(context)


def _touch(address: int, kind: int, line: int) -> int:
    host = _queues.get(Context.at(native_process().quick.present_context(0)).queue)
    if host is not None:
        host.touched(address, kind, line)
    return 0
