"""A host on which every ready kernel, every task and what comes from outside waits until it is
picked.

The native core asks which task of a thread's list is next, also where a kernel waits for an object
and runs others meanwhile.  Blocking kernels run in place, and an await goes back to the list.

From outside the runtime come timers, coroutines, and values that threads resolve.  Time is virtual:
a timer may be chosen at once, whatever its delay, and the sleeps of a coroutine take no time.  A
coroutine runs when it is chosen, to its end or to where it waits for something other than time.
Threads run as they like, but what they resolve reaches the run when it is chosen.
"""

from __future__ import annotations

import asyncio
import contextvars
import selectors
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tfrt_nb.passes.interleave import TOUCH
from tfrt_runtime.async_runtime.externals import provide
from tfrt_runtime.diagnostics import error
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext, HostRun
from tfrt_runtime.host.process import Callback2, Callback3, native_process, shielded
from tfrt_runtime.host.queues.timer import Timer, TimerQueue
from tfrt_runtime.host.structs import Context, Task
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.native import layouts as at

PATIENCE_SECONDS = 2.0
"""So long a choice waits for what threads have not resolved: what may be chosen does not depend
on their speed.
"""
_LOOK_SECONDS = 0.001

Offer = Callable[[Callable[[], object], Callable[[], bool], bool], bool]
"""`offer(action, is_open, is_python)`: on a thread that runs a chosen kernel, a step that calls
`action`, and that can be chosen while `is_open()`; with `is_python` it runs code of users.  False,
and no step, on any other."""


class Outside:
    """What comes to the runs of one host, whose steps one thread chooses."""

    def __init__(self, offer: Offer) -> None:
        self.timers = _ChosenTimers(offer)
        self.loop = _ChosenLoop(offer)
        self._offer = offer
        self._held: set[AsyncValue] = set()
        self._late: set[object] = set()
        """What was waited for in vain."""

    def begin(self) -> None:
        """Another run begins."""
        self._held.clear()
        self._late.clear()

    def hold(self, request: HostRun, value: AsyncValue) -> AsyncValue:
        """What a kernel returns in the place of `value`, which a thread resolves: follows it
        when that is chosen.
        """
        text = "the run has dropped a value that a thread was to resolve"
        held = request.allocate(value.type, lambda: error(text))
        self._held.add(value)
        self._offer(lambda: held.follow(value), value.done, False)
        return held

    def wait(self) -> None:
        """Let threads and coroutines go on until what they have begun is resolved, or for a
        while.
        """
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
        """Cancel the coroutines that are left."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_idle()
        self.loop.close()


class _ChosenTimers(TimerQueue):
    """Timers of kernels are due when they are chosen."""

    def __init__(self, offer: Offer) -> None:
        super().__init__()
        self._offer = offer

    def at(self, due: float, callback: Callable[[], object]) -> Timer:
        timer = Timer(due, callback)
        if self._offer(timer.fire, lambda: not timer.is_cancelled, False):
            return timer
        return super().at(due, callback)


class _ChosenLoop(asyncio.SelectorEventLoop):
    """An event loop for the coroutines of kernels, each of which begins when it is chosen."""

    def __init__(self, offer: Offer) -> None:
        self._skipped = 0.0
        self._offer = offer
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return super().time() + self._skipped

    def skip(self, seconds: float) -> None:
        """Let the time be so much later."""
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
        """Run what there is to run; what waits for time does not wait."""
        outer = asyncio._get_running_loop()  # the notebook's, where a cell explores
        asyncio._set_running_loop(None)
        try:
            self.run_forever()
        finally:
            asyncio._set_running_loop(outer)


class _Skipping(selectors.DefaultSelector):
    """Never waits: where only time has to pass, it has passed; where nothing is left, the loop
    stops.
    """

    def __init__(self, loop: _ChosenLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout is None:
            self._loop.stop()
        elif not found and timeout:
            self._loop.skip(timeout)
        return found


@dataclass(frozen=True, slots=True)
class Arrival:
    """What comes from outside: `action` lets it come, while `is_open()`; `is_python` is code of
    users.
    """

    action: Callable[[], object]
    is_open: Callable[[], bool]
    is_python: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A ready kernel, a task of compiled code, or what comes from outside to a kernel that has
    returned.

    `key` is the how-manieth one of the run it is: the same in all runs with the same choices
    before. `kernel` is the kernel's number in its program, -1 for a task.
    """

    key: int
    task: int
    kernel: int = -1
    program: Executable | None = None
    arrival: Arrival | None = None
    """What comes from outside; then there is no task."""

    @property
    def activation(self) -> int:
        """Whose registers the kernel has."""
        return Task.at(self.task).first

    @property
    def record(self) -> int:
        """The record of the kernel."""
        return Task.at(self.task).second

    @property
    def handle(self) -> int:
        """The frame of a task."""
        return Task.at(self.task).first


Pick = Callable[[Mapping[int, Step]], Step | None]
"""Chooses among the steps that are ready, by key, in the order in which they became so.  None lets
nothing run now."""

Touched = Callable[[int, int, int], None]
"""Told what compiled code does within a step: the arguments of `passes.interleave.TOUCH`."""

_queues: dict[int, ChosenHost] = {}
_callbacks: list[object] = []


class ChosenHost:
    """A host without workers, whose steps `pick` chooses.  `pick` runs on the thread that waits."""

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
        """The kernel that runs, on the thread with the number `_thread`."""
        self._thread = 0
        self._has_offered = False
        self._from_threads: set[int] = set()
        """Addresses of values that other threads have resolved while the kernel ran."""
        self._process = native_process()
        self._keys: dict[int, Step] = {}
        self._count = 0
        self.problem: BaseException | None = None
        """What `pick` has raised: from then on steps run as they come."""
        self.hurries = False
        """Whether tasks run as they come until the next run begins: this one is cancelled."""
        if not _callbacks:
            callback = Callback2(_choose)
            _callbacks.append(callback)
            self._process.words.choose = self._process.keep(callback)
            provide(TOUCH, Callback3(_touch))
        self._address = self.host.work_queue.address
        _queues[self._address] = self
        self.host.work_queue.native.choose = 1

    def begin(self) -> None:
        """Another run begins: steps are counted from 1 again."""
        self.hurries = False
        self._keys.clear()
        self._arrivals.clear()
        self._running = None
        self._outside.begin()
        self._count = 0

    def close(self) -> None:
        """Let what is left run as it comes, and close the host."""
        self.host.work_queue.native.choose = 0
        self._outside.close()
        self.host.close()
        _queues.pop(self._address, None)

    def choose(self, context: int) -> int:
        """The task that is next, taken out of the thread's list; 0 if there is none, or
        something has come.
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
                if step is None:  # the start of a run, or another step that is no choice
                    return self._take(context, task, before)
                self._keys[task] = step
            ready[step.key] = step
        if self._arrivals:
            self._outside.wait()
            ready |= self._open_arrivals()
        picked = self._picked(ready) if ready else None
        if picked is None:
            return 0
        self._thread, self._has_offered = threading.get_ident(), False
        self._from_threads.clear()
        if picked.arrival is not None:
            del self._arrivals[picked.key]
            shielded(picked.arrival.action)
            return 0
        del self._keys[picked.task]
        self._running = picked
        return self._take(context, picked.task, before_of[picked.task])

    def _picked(self, ready: Mapping[int, Step]) -> Step | None:
        try:
            return next(iter(ready.values())) if self.problem else self._pick(ready)
        except BaseException as problem:  # noqa: BLE001
            # Nothing may leave a callback of the native core.
            self.problem = problem
            return next(iter(ready.values()))

    def _open_arrivals(self) -> dict[int, Step]:
        return {
            key: step
            for key, step in self._arrivals.items()
            if step.arrival is not None and step.arrival.is_open()
        }

    def _offer(
        self, action: Callable[[], object], is_open: Callable[[], bool], is_python: bool
    ) -> bool:
        """See `Offer`."""
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
        """A value that a chosen kernel returns, where another thread resolves it.

        Whether that thread has been fast enough makes no difference: runs with the same choices
        have the same steps.
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
            return None  # the one call that a run of a compiled function is
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
    """The tasks of a thread's list, each with the one before it."""
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
