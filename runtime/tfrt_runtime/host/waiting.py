"""Deadlock detection: whether a queue is quiescent, and whether waiting kernels can continue.

A queue is quiescent if no work is running, queued, or about to be queued.  To find that out, a
thread must read many words, which change in the meantime.  Each thread has an activity epoch
(CONTEXT_EPOCH), which only grows, and which is odd while the thread may hold work.  If two reads of
all epochs are equal, all epochs are even, and no work was queued in between, the queue was
quiescent (double collect).

A kernel may wait, without a time limit, for values or runs of its own host.  During such a wait,
the kernel's thread runs the host's tasks.  If the queue is quiescent apart from such kernels, no
other code can resolve the values.  In that case, the kernel that started waiting last gets an
error.  It can return, because it is the topmost kernel on its thread's stack.

Double collect was introduced by Afek, Attiya, Dolev, Gafni, Merritt, and Shavit 1993, J. ACM 40(4),
"Atomic Snapshots of Shared Memory".  Rejected alternative: a counter of all work, which every
thread would have to write for every task.

This module also finds kernels that occupy a worker for too long.  A timer examines a host's threads
ten times a second, so calls themselves cost nothing extra.  If a thread's native context has not
changed between two examinations, the thread is still in the same call: a kernel that finishes makes
values in the context.  A kernel that holds the GIL is not found.  Moving it to the blocking pool
would not help, because it would hold the GIL there, too.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import sys
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, TfrtError, error, note
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.threads import TimerQueue
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Context, Deque, Pool, words_at
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    import asyncio
    from types import CodeType, FrameType


def rest_of(
    queue: WorkQueue, apart_from: Collection[int] = (), *, can_block: bool = True
) -> list[int] | None:
    """Return the epochs of the queue's threads if no work is running or queued, otherwise None.

    The result may be None even if there is no work.  If two calls return the same epochs, nothing
    has happened in between.  `apart_from` are contexts that are known to be idle, such as the
    calling thread's.  Without `can_block`, queued blocking tasks do not count, because no thread
    can take them.
    """
    before = epochs(queue, apart_from)
    if any(number & 1 for number in before) or has_work(queue, can_block=can_block):
        return None
    return before if before == epochs(queue, apart_from) else None


def quiesce(queue: WorkQueue, interrupted: Callable[[], bool]) -> bool:
    """Work for the queue until it is idle.

    Return False as soon as `interrupted`, which is called every millisecond, returns True.  Do not
    wait for values that code outside the runtime may resolve, for other threads in this function,
    or for kernels that call this function.  Other work on these kernels' threads counts.

    Raises:
        WorkQueueError: if this thread must not wait for the queue.
        KeyboardInterrupt: on the main thread, if the user interrupts the wait.
    """
    is_quiet = False

    def is_over() -> bool:
        nonlocal is_quiet
        # Ignore the kernels further down on this thread's stack: they cannot continue before this
        # returns.
        is_quiet = rest_of(queue, (*queue.quiescing, *queue.thread.beneath)) is not None
        return is_quiet or interrupted()

    own = queue.context() if queue.is_at_work_here else 0
    queue.quiescing.add(own)
    try:
        queue.work_until(is_over)
    finally:
        queue.quiescing.discard(own)
    return is_quiet


def epochs(queue: WorkQueue, apart_from: Collection[int] = ()) -> list[int]:
    """Return the activity epoch of each thread, followed by one more number.

    An epoch only grows.  It is odd while the thread may hold work.  The last number is always even,
    and grows with each blocking task that a thread takes.
    """
    contexts = [context for context in queue.contexts if context not in apart_from]
    return [*(Context.at(context).epoch for context in contexts), 2 * Pool.at(queue.pool).head]


def has_work(queue: WorkQueue, *, can_block: bool = True) -> bool:
    """Return whether a task is queued or a kernel is ready; see `rest_of` for `can_block`."""
    pool, contexts = Pool.at(queue.pool), [Context.at(context) for context in queue.contexts]
    deques = map(Deque.at, words_at(queue.native.deques, queue.native.workers))
    return (
        # Check these first: a thread that resolves a value queues the resulting work before it
        # leaves the set or the count.  The count includes threads of other queues.
        bool(queue.resolving)
        or native_process().words.resuming != 0
        or queue.native.injected != 0
        or queue.native.ordered != 0
        or queue.native.started != 0
        or (can_block and pool.head != pool.tail)
        or any(context.ready != context.ready_top for context in contexts)
        or any(context.pending != 0 for context in contexts)
        or any(deque.top < deque.bottom for deque in deques)
        # This must be last: tasks move from the core to the user's queue.
        or queue.has_outside_tasks()
    )


class EndlessWaitError(TfrtError):
    """A kernel waits for a value that could only be resolved after the kernel has returned."""


class Maker(Protocol):
    """A run that makes values for which a kernel waits."""

    def promises_open(self, waits: Sequence[KernelWait] = ()) -> bool:
        """Return whether the run, or one whose results it awaits, awaits an external event.

        The runs' own `async def` kernels among `waits` do not count.
        """


class Coroutine(Protocol):
    """A call of an `async def` kernel."""

    task: asyncio.Task[None] | None
    name: str
    place: AnyLocation
    queue: WorkQueue
    number: int
    """The kernel's number in its program, or -1 if the run is not watched."""

    @property
    def run(self) -> Maker:
        """The run to which the call belongs."""


COROUTINE: ContextVar[Coroutine | None] = ContextVar("COROUTINE", default=None)
"""The `async def` kernel on whose behalf the current code on an event loop runs.

Tasks that the kernel has created also run on its behalf.
"""


@dataclass(frozen=True, slots=True, eq=False)
class KernelWait:
    """A wait inside one of the kernels of `queue`.

    - `context` is the native context on which the kernel runs.  It is 0 for a coroutine, whose run
      is `run`.
    - `what` says in words what the kernel is waiting for.
    - `makers` are the runs that make the awaited values, with None for each value that no run
      makes.
    """

    queue: WorkQueue
    kernel: str
    place: AnyLocation | None
    what: str
    makers: Sequence[Maker | None]
    is_over: Callable[[], bool]
    context: int
    run: Maker | None = None

    def may_end(self, waits: Sequence[KernelWait]) -> bool:
        """Return whether the wait is over or may still end.

        It may still end if an event outside the runtime can resolve one of the awaited values, or
        can let a run that makes one continue.  The kernels in `waits` do not count as such events.
        """
        return self.is_over() or any(run is None or run.promises_open(waits) for run in self.makers)


NO_KERNEL = contextlib.nullcontext(lambda: None)
"""The context manager that replaces `kernel_wait` for waits with a time limit."""

_waits: list[KernelWait] = []
"""The waits of all queues, in the order in which they started."""


@contextlib.contextmanager
def kernel_wait(
    queue: WorkQueue,
    what: Callable[[], tuple[str, Sequence[Maker | None]]],
    is_over: Callable[[], bool],
) -> Iterator[Callable[[], None]]:
    """Register a wait for `what`, if this thread or coroutine runs a kernel of the queue.

    Yield a function that the waiting code must call regularly.  That function raises
    EndlessWaitError if this wait can never end.
    """
    found = _waiting_kernel(queue)
    if found is None:
        with NO_KERNEL as look:
            yield look
        return
    kernel, place, context, run = found
    wait = KernelWait(queue, kernel, place, *what(), is_over, context, run)
    _waits.append(wait)
    try:
        yield lambda: _raise_if_endless(wait)
    finally:
        _waits.remove(wait)


def look_seconds() -> float:
    """Return how long a task waits before it checks whether its value can still be resolved.

    With thousands of kernels that wait for each other, each check takes long, and there are many.
    """
    return 0.05 * max(1.0, len(_waits) / 100) ** 2


def _waits_for(queue: WorkQueue) -> list[KernelWait]:
    return [wait for wait in list(_waits) if wait.queue is queue]


def _waiting_kernel(queue: WorkQueue) -> tuple[str, AnyLocation | None, int, Maker | None] | None:
    """Return the kernel that this thread or coroutine runs: name, location, context, and run."""
    if queue.is_at_work_here:
        context = queue.context()
        record = Context.at(context).record
        if record == 0:
            return None
        owner, number = native_process().owner_of(record)
        return owner.kernel_name(number), owner.location_of(number), context, None
    coroutine = COROUTINE.get()
    if coroutine is None or coroutine.queue is not queue:
        return None
    import asyncio  # a coroutine exists, so asyncio is loaded

    # A task that the kernel has created may wait, while the kernel continues.
    if asyncio.current_task() is not coroutine.task:
        return None
    return coroutine.name, coroutine.place, 0, coroutine.run


def _raise_if_endless(wait: KernelWait) -> None:
    queue = wait.queue
    if next(one for one in reversed(_waits) if one.queue is queue) is not wait:
        return
    waits = _waits_for(queue)
    contexts = [one.context for one in waits]
    # While a blocking kernel waits, its pool thread runs other work, but no other blocking kernel.
    can_block = sum(map(queue.blocks, contexts)) < queue.blocking_threads
    rest = rest_of(queue, contexts, can_block=can_block)
    if rest is None or any(one.may_end(waits) for one in waits):
        return
    # A value that was resolved in the meantime may have ended a wait.
    if rest != rest_of(queue, contexts, can_block=can_block) or waits != _waits_for(queue):
        return
    raise EndlessWaitError(_endless(wait, waits[:-1]))


def _endless(wait: KernelWait, others: Sequence[KernelWait]) -> Diagnostic:
    queue, instead = wait.queue, "return the AsyncValue instead of waiting for it"
    reason = "nothing else runs, and nothing is queued"
    if names := queue.queued_blocking():
        count, kernels = (
            queue.blocking_threads,
            " and ".join(f"'{name}'" for name in sorted({*names})),
        )
        pool = (
            "1 thread, which is waiting"
            if count == 1
            else f"{count} threads, which are all waiting"
        )
        reason = f"{kernels} cannot start, because the blocking pool has {pool}"
        larger = f"mstd:{queue.parallelism_level},{count + len(names)}"
        instead = f"give the host a larger pool (work queue '{larger}'), or {instead}"
    text = f"kernel '{wait.kernel}' waits for {wait.what}, which never comes: {reason}; {instead}"
    notes = [note(f"kernel '{one.kernel}' waits for {one.what}", one.place) for one in others]
    return error(text, wait.place, notes)


LOOK_SECONDS = 0.1
LONG_SECONDS = 0.5
"""How long a kernel may occupy a worker before a warning suggests the blocking pool."""

_State = tuple[int, int, int, int]
_named: dict[str, object] = {}
"""The functions that warnings have named, keyed by kernel name."""


class BlockingWarning(UserWarning):
    """A kernel occupies a worker for a long time, which makes other kernels wait."""


class BlockingWatch:
    """Examines a host's threads while the host has runs."""

    def __init__(self, timers: TimerQueue, queue: WorkQueue, has_runs: Callable[[], bool]) -> None:
        self._timers = timers
        self._queue = queue
        self._has_runs = has_runs
        self._lock = threading.RLock()
        self._seen: dict[int, tuple[_State, float]] = {}
        """For each context that was running a kernel, its state, and when that last changed."""
        # A process with one thread has nothing to examine, and its waits would never see the last
        # timer.
        self.is_looking = not HAS_THREADS

    def begin(self) -> None:
        """Examine the threads regularly, from the start of a run until no run is left."""
        with self._lock:
            if self.is_looking:
                return
            self.is_looking = True
        # If the host is closed, or if no thread can be started, there is no timer and no warning.
        with contextlib.suppress(RuntimeError, TfrtError):
            # Use an empty context, because the watch does not belong to a single run.
            contextvars.Context().run(self._timers.after, LOOK_SECONDS, self._look)

    def _look(self) -> None:
        # Reset this first: if a run is starting right now, its thread or this thread continues the
        # watch.
        self.is_looking = False
        if not self._has_runs():
            return
        now, queue, seen = time.monotonic(), self._queue, self._seen
        self._seen = {}
        for context in queue.contexts:
            state = _state(context)
            # While a kernel waits, its thread runs other kernels, on another context.
            if state[0] % 2 == 0 or context in queue.waiting:
                continue
            before, since = seen.get(context, (state, now))
            self._seen[context] = state, since if before == state else now
            if before == state and now - since >= LONG_SECONDS:
                _warn_of(context, state)
        self.begin()


def _state(address: int) -> _State:
    """Return a thread's activity epoch, current kernel, and counts of made and dropped values."""
    context = Context.at(address)
    return context.epoch, context.record, context.made, context.dropped


def _warn_of(context: int, state: _State) -> None:
    """Warn once about the kernel that is running in `context`, if it is a plain Python kernel."""
    process = native_process()
    request = process.requests.get(Context.at(context).request)
    # While a run's kernels are running, the run keeps its program, which has the kernel's record.
    program = getattr(request, "program", None)
    if request is None or program is None or state[1] == 0 or _state(context) != state:
        return
    owner, number = process.owner_of(state[1])
    function, name = owner.watched_function(number), owner.kernel_name(number)
    # Compare functions, so that a kernel that was redefined gets a warning of its own.
    if function is None or _named.get(name) is function:
        return
    module = getattr(function, "__module__", None) or ""
    if module.partition(".")[0] in HOOKS.own_packages:  # a kernel of the runtime
        return
    code = getattr(inspect.unwrap(function), "__code__", None)
    # While a thread runs a task of compiled code, the context still has the record of its last
    # kernel.
    if code is not None and not _runs(code):
        return
    _named[name] = function
    place = ("<kernel>", 1) if code is None else (code.co_filename, code.co_firstlineno)
    text = (
        f"kernel '{name}' has occupied a worker for {LONG_SECONDS} s, which runs no other kernel"
        " meanwhile. If the kernel waits for something, register it with blocking=True, which runs"
        " it on its own thread; add limit=4 to run at most four calls at a time. If it computes in"
        " numpy, which releases the GIL, leave it as a plain kernel: each worker can run one at a"
        " time"
    )
    request.as_caller(warnings.warn_explicit, text, BlockingWarning, *place)


def _runs(code: CodeType) -> bool:
    """Return whether any thread is executing a function with this code."""
    for innermost in sys._current_frames().values():
        frame: FrameType | None = innermost
        while frame is not None:
            if frame.f_code is code:
                return True
            frame = frame.f_back
    return False
