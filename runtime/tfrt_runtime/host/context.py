"""The host in which programs run, and the objects that live as long as the host does."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, SupportsIndex, TypeAlias, TypeVar

from tfrt_runtime.diagnostics import (
    Diagnostic,
    deadline_in,
    error,
    place_of_caller,
    refuse,
    require,
    seconds_until,
)
from tfrt_runtime.host.allocator import (
    ALLOCATOR_KINDS,
    HostAllocator,
    PooledAllocator,
    create_allocator,
)
from tfrt_runtime.host.budget import parse_budget
from tfrt_runtime.host.failures import cancellation
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.queue_names import WorkQueueError
from tfrt_runtime.host.queues.queue_threads import STOP_SECONDS
from tfrt_runtime.host.queues.threads import TimerQueue
from tfrt_runtime.host.queues.user_queue import ConcurrentWorkQueue, UserWorkQueue
from tfrt_runtime.host.queues.work_queue import WorkQueue, make_work_queue
from tfrt_runtime.host.tracing.trace import Level, Tracing
from tfrt_runtime.host.values.async_value import AsyncValue, make_error
from tfrt_runtime.host.waiting import COROUTINE, BlockingWatch, quiesce

if TYPE_CHECKING:
    import asyncio

Sink = Callable[[str], None]
CANCELLED = "Cancelled"
HOST_CLOSED = "the host is closed"
CLOSE_SECONDS = 1.0
"""How many seconds `HostContext.close` waits for the runs that it cancels."""
HURRY_SECONDS = 0.1
"""How many seconds `close` waits after Ctrl-C.

`close` also waits this long for threads whose kernels do not return.
"""


class SharedContext(Protocol):
    """An object that a host creates on first use, once per class.

    If the object has a method `close`, closing the host calls it.
    """

    def __init__(self, host: HostContext) -> None: ...


Shared = TypeVar("Shared", bound=SharedContext)
HostRun: TypeAlias = Any
"""A run, which is a `host.request.Request`; that module imports this one."""


def write_to_stdout(text: str) -> None:
    """Write a program's output to standard output; this is the default output of a host."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _work_queue(given: str | WorkQueue | ConcurrentWorkQueue) -> WorkQueue:
    if isinstance(given, str):
        try:
            return make_work_queue(given)
        except WorkQueueError as wrong:
            message = wrong.diagnostics[0].message
            raise WorkQueueError(error(message, place_of_caller())) from None
    if isinstance(given, WorkQueue):
        return given
    has_all = all(hasattr(given, name) for name in vars(ConcurrentWorkQueue) if name[0] != "_")
    require(has_all, "work_queue", "a string such as 'mstd:2', or a ConcurrentWorkQueue", given)
    return UserWorkQueue(given)


class HostContext:
    """A host: a work queue, an allocator, the objects that its kernels share, and the output.

    Close a host, or use it in a `with` statement, to stop its threads.  If a host is dropped
    without being closed, its threads stop after its last run, when the host is garbage-collected.
    On the work queue `s`, a run makes no progress unless a thread waits for it, so a host with an
    unfinished run on `s` must be closed.
    """

    def __init__(
        self,
        work_queue: str | WorkQueue | ConcurrentWorkQueue = "mstd",
        allocator: str | HostAllocator = "malloc",
        output: Sink = write_to_stdout,
        on_diagnostic: Callable[[Diagnostic], None] = lambda _: None,
        tracing: Tracing | None = None,
        memory: int | str | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
        timers: TimerQueue | None = None,
    ) -> None:
        """Create a host.

        Args:
            loop: the event loop of `async def` kernels.  By default, the host has its own, on a
                separate thread.  If a loop is given, the caller must run it, and the host does not
                close it.
            memory: the budget, in bytes or as a string such as "2G".  When a program of this host
                requests memory, native code and tensors together must not hold more than the
                budget; otherwise, the run fails with an error at the operation that requested the
                memory.  The default is half of the memory that the process may have.
            tracing: records the activities of runs that start while tracing is enabled.
            timers: the queue of timers for kernels and deadlines.  By default, the host has its
                own.

        Raises:
            TfrtError: if the description of the work queue, the allocator, or the memory is
                invalid, or if the loop is closed.
        """
        kinds = f"one of {', '.join(ALLOCATOR_KINDS)}, or a HostAllocator"
        has_memory = isinstance(allocator, str) or hasattr(allocator, "allocate_bytes")
        is_tracing = tracing is None or isinstance(tracing, Tracing)
        is_loop = loop is None or hasattr(loop, "call_soon_threadsafe")
        is_timers = timers is None or isinstance(timers, TimerQueue)
        for is_right, name, wanted, given in (
            (has_memory, "allocator", kinds, allocator),
            (callable(output), "output", "a function that takes a string", output),
            (callable(on_diagnostic), "on_diagnostic", "a function of a message", on_diagnostic),
            (is_tracing, "tracing", "a Tracing", tracing),
            (is_loop, "loop", "an event loop of asyncio", loop),
            (is_timers, "timers", "a TimerQueue", timers),
        ):
            require(is_right, name, wanted, given)
        if loop is not None and getattr(loop, "is_closed", bool)():
            refuse("loop: the event loop is closed")
        # This loads the core, which has the signal handler.
        native_process()
        INTERRUPTS.install()  # first: an interrupt must leave nothing ownerless
        self.tracing = tracing
        self.loop = loop
        self.serving_loop = loop
        """The event loop of `async def` kernels, once one exists: the user's or the host's own.
        """
        self.timers = TimerQueue() if timers is None else timers
        self.hold: Callable[[HostRun, AsyncValue, bool], AsyncValue] = lambda _, value, __: value
        """Returns the value that a run receives when one of its kernels returns a value.

        The flag is True if another thread resolves the value.  By default, the run receives the
        kernel's value.  While the steps of a run are chosen one by one, the run receives another
        value, and resolving that value is also a step.
        """
        self.work_queue = _work_queue(work_queue)
        self.set_memory(memory)
        self.allocator = (
            create_allocator(allocator, lambda: self.memory)
            if isinstance(allocator, str)
            else allocator
        )
        # Any other allocator must see every tensor, so its tensors get their memory through Python.
        self.tensor_store = native_process().store if type(self.allocator) is PooledAllocator else 0
        """The memory source for native kernels' tensors; 0 if it is Python's allocator.
        """
        self.on_diagnostic = on_diagnostic
        self.output = output
        self._shared: dict[type, Any] = {}
        self._lock = threading.RLock()
        self._local = threading.local()
        self.blocking = BlockingWatch(self.timers, self.work_queue, _has_runs(weakref.ref(self)))
        self.was_closed = False
        self.cancel_message: str | None = None
        """The error message for runs that start while the host is cancelled; otherwise, None."""
        self.when_closed: Callable[[], None] = lambda: None
        """Called when the host is closed, to stop the tasks that its cancelled runs have left."""
        self.when_quiet: Callable[[], None] = lambda: None
        """Called at the end of `quiesce`, to release resources of compiled code."""
        self.cancelled = make_error(self.work_queue, cancellation(CANCELLED))
        """The error that the results of a cancelled run become, unless another reason is given."""
        self.identity = object()
        """An object that identifies the host, but does not keep the host alive."""
        self.cancelled_address = self.cancelled.address
        """The address of the native value of `cancelled`, which lives until the host is closed."""
        # An unfinished run refers to its host, so a host that is gone has no runs.
        self._when_dropped = weakref.finalize(self, _drop, self.timers, self.work_queue)
        self._when_dropped.atexit = False

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a host cannot be copied or pickled: create one in each process")

    def __repr__(self) -> str:
        count = self.work_queue.threads
        workers = f"{count or 'no'} worker{'s' * (count != 1)}"
        return f"<HostContext with {workers}{', closed' if self.was_closed else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        is_interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        self.close(HURRY_SECONDS if is_interrupted else CLOSE_SECONDS)

    @property
    def is_traced(self) -> bool:
        """Whether runs that start now are traced."""
        return self.tracing is not None and self.tracing.is_on(Level.DEFAULT)

    def _runs(self) -> Iterator[HostRun]:
        """Return the unfinished runs, oldest first."""
        # Copy, because other threads add and remove runs meanwhile.
        known = list(native_process().requests.values())
        return (one for one in known if one.host is self and not one.is_done)

    @property
    def memory(self) -> int:
        """The memory budget in bytes: how much native code and tensors may hold together."""
        return self.work_queue.budget

    def set_memory(self, memory: int | str | None) -> None:
        """Change the host's budget, even for current runs; None means the default.

        Raises:
            TfrtError: if `memory` is neither a byte count nor a string such as "2G".
        """
        self.work_queue.budget = parse_budget(memory)

    def cancel(self, message: str = CANCELLED) -> None:
        """Cancel all runs of the host; later runs are cancelled as soon as they start.

        Kernels that have not started are skipped, and unavailable results become errors with
        `message`.  `restart` allows new runs again.  Any thread may call this.
        """
        require(isinstance(message, str), "the reason to cancel", "a string", message)
        # Set this first: a run that is registered after the loop has started reads it
        # (`Request.become_known`).
        self.cancel_message = message
        for request in self._runs():
            request.cancel(message)

    def restart(self) -> None:
        """Allow new runs after `cancel`.  The runs that were cancelled stay cancelled."""
        self.cancel_message = None

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called, and `restart` was not called afterward."""
        return self.cancel_message is not None

    def serve(self, request: HostRun | None) -> HostRun | None:
        """Record that this thread now runs a kernel of `request`; return the previous request."""
        local = self._local
        before: HostRun | None = getattr(local, "request", None)
        local.request = request
        return before

    def print(self, text: str) -> None:
        """Print text for the kernel that is running on this thread."""
        request: HostRun | None = getattr(self._local, "request", None)
        (self.output if request is None else request.output)(text)

    def shared_context(self, kind: type[Shared]) -> Shared:
        """Return this host's object of class `kind`; create it on first use."""
        with self._lock:
            found: Shared | None = self._shared.get(kind)
            if found is None:
                found = self._shared[kind] = kind(self)
        return found

    @property
    def is_closed(self) -> bool:
        """Whether the host is closed, or belongs to the parent of this forked process."""
        return self.was_closed or self.work_queue.is_of_parent

    @property
    def has_runs(self) -> bool:
        """Whether the host has an unfinished run."""
        return next(self._runs(), None) is not None

    def waits_for_outside(self) -> bool:
        """Return whether a run is waiting for a value that the runtime does not resolve.

        A cancelled run may also be waiting, but when its value arrives, nothing runs.
        """
        runs = (one for one in self._runs() if not one.is_cancelled)
        return any(one.promises_open() for one in runs)

    def live_values(self) -> int:
        """Return how many AsyncValues of this host exist.

        The number is exact only while nothing is running.
        """
        own = 0 if self.was_closed else 1  # for `cancelled`
        return self.work_queue.live_values() - own

    def quiesce(self, timeout: float | None = None) -> bool:
        """Wait until all runs of this host have finished; return False after `timeout` seconds.

        The wait includes runs that start in the meantime, and tasks that compiled code has left
        running.  If no other thread runs these tasks, this thread does.

        Raises:
            WorkQueueError: if called in a kernel of this host, whose run cannot finish before the
                kernel returns, or on a thread that must not wait for the user's work queue.
        """
        coroutine = COROUTINE.get()
        is_kernel = coroutine is not None and coroutine.queue is self.work_queue
        if is_kernel or self.work_queue.is_at_work_here:
            text = "quiesce() waits for all runs of the host, and this kernel belongs to one: return first"  # noqa: E501
            raise WorkQueueError(error(text, place_of_caller()))
        return self._quiesce(deadline_in(timeout))

    def _quiesce(self, deadline: float | None) -> bool:
        """Wait as `quiesce` does; on a thread that runs a kernel, wait only for other work."""
        if self.work_queue.is_at_work_here:
            own: HostRun | None = getattr(self._local, "request", None)

            def is_over() -> bool:
                is_late = deadline is not None and time.monotonic() >= deadline
                return is_late or (own is not None and own.is_cancelled)

            return quiesce(self.work_queue, is_over)
        while requests := list(self._runs()):
            for request in requests:
                if not request.wait(seconds_until(deadline)):
                    return False
        is_quiet = quiesce(
            self.work_queue, lambda: deadline is not None and time.monotonic() >= deadline
        )
        self.when_quiet()
        native_process().forget(self.work_queue.address)
        return is_quiet

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Cancel all runs, wait at most `timeout` seconds for them, and stop the threads.

        A run that is waiting for a value that the runtime does not resolve finishes when that value
        becomes available.  A busy thread exits after its kernel returns; this call does not wait
        for that thread.

        Raises:
            KeyboardInterrupt: if the user interrupts the wait.  The host is closed even then.
        """
        if self.was_closed:
            return
        self.was_closed = True
        # The queue's threads exist only in the parent process, so there is nothing to stop or join.
        if self.work_queue.is_of_parent:
            self._when_dropped.detach()
            return
        self.timers.close()
        for request in self._runs():
            request.cancel(HOST_CLOSED)
        self.when_closed()
        interrupt: KeyboardInterrupt | None = None
        try:
            is_quiet = self._quiesce(deadline_in(timeout))
        except KeyboardInterrupt as raised:
            # Wait for the cancelled runs anyway: an unfinished run would keep the host alive
            # forever.
            interrupt, is_quiet = raised, self._quiesce_in_a_hurry()
        self.work_queue.stop(STOP_SECONDS if is_quiet else HURRY_SECONDS)
        # Do not detach earlier: if Ctrl-C interrupts this call, dropping the host must still stop
        # the threads.
        self._when_dropped.detach()
        for shared in list(self._shared.values()):
            getattr(shared, "close", lambda: None)()
        self._shared.clear()  # do this after `stop`: the queue's threads use these objects
        del self.cancelled  # a run that could not be cancelled in time still refers to it
        if self.tensor_store:  # other hosts may still use the store
            native_process().quick.trim_store(self.tensor_store)
        if interrupt is not None:
            raise interrupt

    def _quiesce_in_a_hurry(self) -> bool:
        """Wait at most HURRY_SECONDS for cancelled runs, even if the user presses Ctrl-C again."""
        deadline = time.monotonic() + HURRY_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(KeyboardInterrupt):
                return self._quiesce(deadline_in(left))
        return False


def _has_runs(host: weakref.ref[HostContext]) -> Callable[[], bool]:
    """Return a function that returns whether the host exists and has an unfinished run."""

    def ask() -> bool:
        found = host()
        return found is not None and found.has_runs

    return ask


def _drop(timers: TimerQueue, queue: WorkQueue) -> None:
    """Clean up after a host that was dropped without being closed.

    Any thread may call this, including the host's own.
    """
    timers.close(timeout=0.0)
    queue.stop(timeout=0.0)
