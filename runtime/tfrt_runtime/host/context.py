"""The context in which programs run: the host, and the objects that live as long as it does."""

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
"""The time that `HostContext.close` waits for runs that it has cancelled."""
HURRY_SECONDS = 0.1
"""The same after Ctrl-C, and for threads whose kernels do not return."""


class SharedContext(Protocol):
    """Something that a host has once per class, made when it is first asked for.

    If it has a method `close`, that is called when the host is closed.
    """

    def __init__(self, host: HostContext) -> None: ...


Shared = TypeVar("Shared", bound=SharedContext)
HostRun: TypeAlias = Any
"""A run, an instance of `host.request.Request`, which imports this module."""


def write_to_stdout(text: str) -> None:
    """Write a program's output to standard output: the default."""
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
    """One host: a work queue, an allocator, what kernels share, and where output goes.

    Close it, or use it in a `with` statement: its threads end then.  Those of a host that is
    dropped without that end when it is collected, which is after its last run.  On the queue `s` a
    run that no thread waits for does not end: only `close` ends such a host.
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
        """
        Args:
            loop: where `async def` kernels run; by default a loop of the host's own, on a thread of
                its own.  It is the caller's, which runs it, and goes on when the host is closed.
            memory: the budget: bytes, or a string such as "2G", that native code and tensors may
                hold when programs of this host ask for more.  A run that needs more ends with an
                error at the operation that grew.  By default half of what the process may have.
            tracing: hears of runs that start while it is requested.
            timers: what kernels and deadlines set; by default a queue of the host's own.

        Raises:
            TfrtError: if the work queue, the allocator or the memory is described wrongly, or the
                loop is closed.
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
        native_process()
        INTERRUPTS.install()  # before there is anything that an interrupt could leave without an owner  # noqa: E501
        self.tracing = tracing
        self.loop = loop
        self.serving_loop = loop
        """The event loop of `async def` kernels: the user's, or the host's own once it exists."""
        self.timers = TimerQueue() if timers is None else timers
        self.hold: Callable[[HostRun, AsyncValue, bool], AsyncValue] = lambda _, value, __: value
        """The function that returns the value which a run gets if its kernel returns this one; True
        if another thread resolves it.

        The value itself; where the steps of a run are chosen, another one, whose resolution is a
        step, too."""
        self.work_queue = _work_queue(work_queue)
        self.set_memory(memory)
        self.allocator = (
            create_allocator(allocator, lambda: self.memory)
            if isinstance(allocator, str)
            else allocator
        )
        # An allocator that counts wants to hear of each tensor: its memory then comes from Python.
        self.tensor_store = native_process().store if type(self.allocator) is PooledAllocator else 0
        """The source of memory for native kernels' tensors, or 0 if they leave that to the
        allocator.
        """
        self.on_diagnostic = on_diagnostic
        self.output = output
        self._shared: dict[type, object] = {}
        self._lock = threading.RLock()
        self._local = threading.local()
        self.blocking = BlockingWatch(self.timers, self.work_queue, _has_runs(weakref.ref(self)))
        self.was_closed = False
        """Whether `close` was called."""
        self.cancel_message: str | None = None
        """The error that cancels runs which start now, if the host is cancelled."""
        self.when_closed: Callable[[], None] = lambda: None
        """Called when the host is closed and its runs are cancelled: ends what they have left
        running.
        """
        self.when_quiet: Callable[[], None] = lambda: None
        """Called when `quiesce` has waited: releases what compiled code used."""
        self.cancelled = make_error(self.work_queue, cancellation(CANCELLED))
        """The error that the results of a cancelled run become, unless a reason is given."""
        self.identity = object()
        """Stands for the host where that must not be kept alive."""
        self.cancelled_address = self.cancelled.address
        """The address of the native value, which lives until the host is closed."""
        # A run that is not over refers to its host: when that is gone, nothing runs anymore.
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
        """Whether runs that start now are reported to a tracing."""
        return self.tracing is not None and self.tracing.is_on(Level.DEFAULT)

    def _runs(self) -> Iterator[HostRun]:
        """The runs that are not over now, the oldest first."""
        known = list(native_process().requests.values())
        return (one for one in known if one.host is self and not one.is_done)

    @property
    def memory(self) -> int:
        """The budget in bytes: see `__init__`."""
        return self.work_queue.budget

    def set_memory(self, memory: int | str | None) -> None:
        """Give the host another budget, for runs that go on, too; None is the default.

        Raises:
            TfrtError: if it is neither bytes nor a string such as "2G".
        """
        self.work_queue.budget = parse_budget(memory)

    def cancel(self, message: str = CANCELLED) -> None:
        """Set the host's cancel value: all runs end, and later ones end as soon as they start.

        Kernels that have not started are skipped; results that are not available yet become errors
        with `message`. `restart` revokes it. On any thread.
        """
        require(isinstance(message, str), "the reason to cancel", "a string", message)
        self.cancel_message = message
        for request in self._runs():
            request.cancel(message)

    def restart(self) -> None:
        """Allow new runs again after `cancel`; the cancelled ones stay cancelled."""
        self.cancel_message = None

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called, and `restart` was not since."""
        return self.cancel_message is not None

    def serve(self, request: HostRun | None) -> HostRun | None:
        """From now on this thread runs a kernel of `request`; returns whose it ran before."""
        local = self._local
        before: HostRun | None = getattr(local, "request", None)
        local.request = request
        return before

    def print(self, text: str) -> None:
        """Print for the kernel that runs on this thread."""
        request: HostRun | None = getattr(self._local, "request", None)
        (self.output if request is None else request.output)(text)

    def shared_context(self, kind: type[Shared]) -> Shared:
        """The host's one `kind`, made now if it is the first time."""
        with self._lock:
            found = self._shared.get(kind)
            if found is None:
                found = self._shared[kind] = kind(self)
        assert isinstance(found, kind)
        return found

    @property
    def is_closed(self) -> bool:
        """Whether the host is closed, or belongs to the process that this one was forked from."""
        return self.was_closed or self.work_queue.is_of_parent

    @property
    def has_runs(self) -> bool:
        """Whether some run is not over."""
        return next(self._runs(), None) is not None

    def waits_for_outside(self) -> bool:
        """Whether some run waits for a value from outside the runtime."""
        return any(request.promises_open() for request in self._runs())

    def live_values(self) -> int:
        """AsyncValues of this host that exist; exact while nothing runs."""
        own = 0 if self.was_closed else 1  # `cancelled`
        return self.work_queue.live_values() - own

    def quiesce(self, timeout: float | None = None) -> bool:
        """Wait until no run of this host has anything left to do; False when the time is over.

        Tasks that compiled code has left behind count, and run here if no other thread takes them.
        Runs that start in the meantime count.

        Raises:
            WorkQueueError: in a kernel of the host, whose own run cannot end before, and on a
                thread that must not wait for the user's work queue.
        """
        coroutine = COROUTINE.get()
        is_kernel = coroutine is not None and coroutine.queue is self.work_queue
        if is_kernel or self.work_queue.is_at_work_here:
            text = "quiesce() waits for all runs of the host, and this kernel belongs to one: return first"  # noqa: E501
            raise WorkQueueError(error(text, place_of_caller()))
        return self._quiesce(deadline_in(timeout))

    def _quiesce(self, deadline: float | None) -> bool:
        """As `quiesce`; on a thread that runs a kernel, wait for what is queued or runs
        elsewhere.
        """
        if self.work_queue.is_at_work_here:
            return self._quiesce_within(deadline)
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

    def _quiesce_within(self, deadline: float | None) -> bool:
        request: HostRun | None = getattr(self._local, "request", None)

        def is_over() -> bool:
            is_late = deadline is not None and time.monotonic() >= deadline
            return is_late or (request is not None and request.is_cancelled)

        return quiesce(self.work_queue, is_over)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Cancel what runs, wait `timeout` seconds at most for it, and end the threads.

        A run that waits for a value from elsewhere is over when the value comes.  A thread that a
        kernel keeps busy ends after the kernel; this call does not wait for it.

        Raises:
            KeyboardInterrupt: when the user interrupts; the host is closed all the same.
        """
        if self.was_closed:
            return
        self.was_closed = True
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
            # A run that is not over holds the host, and nothing would end it later.
            interrupt, is_quiet = raised, self._quiesce_in_a_hurry()
        self.work_queue.stop(STOP_SECONDS if is_quiet else HURRY_SECONDS)
        self._when_dropped.detach()
        for shared in list(self._shared.values()):
            getattr(shared, "close", lambda: None)()
        self._shared.clear()  # what threads of the queue may use until their end
        del self.cancelled  # a request that could not be ended holds it, too
        if self.tensor_store:  # what other hosts use stays theirs
            native_process().quick.trim_store(self.tensor_store)
        if interrupt is not None:
            raise interrupt

    def _quiesce_in_a_hurry(self) -> bool:
        """Wait HURRY_SECONDS at most for runs that are cancelled, however often the user
        interrupts.
        """
        deadline = time.monotonic() + HURRY_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(KeyboardInterrupt):
                return self._quiesce(deadline_in(left))
        return False


def _has_runs(host: weakref.ref[HostContext]) -> Callable[[], bool]:
    """Return a function that tells whether the host exists and has an unfinished run."""

    def ask() -> bool:
        found = host()
        return found is not None and found.has_runs

    return ask


def _drop(timers: TimerQueue, queue: WorkQueue) -> None:
    """A host is gone that was not closed.  On any thread, its own included, which must not wait."""
    timers.close(timeout=0.0)
    queue.stop(timeout=0.0)
