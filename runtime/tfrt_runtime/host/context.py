"""What programs run in: the host, a run of a program, and the things that live as long as they do."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, TypeVar

from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host.allocator import (
    ALLOCATOR_KINDS,
    HostAllocator,
    PooledAllocator,
    create_allocator,
)
from tfrt_runtime.host.async_value import make_error
from tfrt_runtime.host.idleness import quiesce
from tfrt_runtime.host.process import native_process, shielded
from tfrt_runtime.host.promises import Promises
from tfrt_runtime.host.resources import ResourceContext
from tfrt_runtime.host.timer import RequestDeadlineTracker, TimerQueue
from tfrt_runtime.host.trace import Tracing
from tfrt_runtime.host.user_queue import ConcurrentWorkQueue, UserWorkQueue
from tfrt_runtime.host.work_queue import STOP_SECONDS, WorkQueue, make_work_queue
from tfrt_runtime.native.layouts import (
    REQUEST_ACTIVE,
    REQUEST_CANCEL,
    REQUEST_CANCELLED_VALUE,
    REQUEST_HANDLE,
    REQUEST_NUMBER,
    REQUEST_OPEN,
    REQUEST_SIZE,
    REQUEST_STORE,
)

Sink = Callable[[str], None]
CANCELLED = "Cancelled"
CLOSE_SECONDS = 1.0
"""How long `HostContext.close` waits for runs that it has cancelled."""
HURRY_SECONDS = 0.1
"""How long when the user has pressed Ctrl-C, and for threads whose kernels do not end."""


class SharedContext(Protocol):
    """Something that a host has once per class, made when it is first asked for."""

    def __init__(self, host: HostContext) -> None: ...


Shared = TypeVar("Shared", bound=SharedContext)


def write_to_stdout(text: str) -> None:
    """Where programs print when nobody says otherwise."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _work_queue(given: str | WorkQueue | ConcurrentWorkQueue) -> WorkQueue:
    if isinstance(given, str):
        return make_work_queue(given)
    return given if isinstance(given, WorkQueue) else UserWorkQueue(given)


def _allocator(kind: str) -> HostAllocator:
    if kind not in ALLOCATOR_KINDS:
        raise TfrtError(error(f"unknown allocator '{kind}': expected {', '.join(ALLOCATOR_KINDS)}"))
    return create_allocator(kind)


class HostContext:
    """One host: a work queue, an allocator, what kernels share, and where output goes.

    Close it, or use it in a `with` statement: its threads end then.
    """

    def __init__(
        self,
        work_queue: str | WorkQueue | ConcurrentWorkQueue = "mstd",
        allocator: str | HostAllocator = "malloc",
        output: Sink = write_to_stdout,
        on_diagnostic: Callable[[Diagnostic], None] = lambda _: None,
        tracing: Tracing | None = None,
    ) -> None:
        """
        Args:
            tracing: hears of what runs of programs that were loaded for tracing.

        Raises:
            TfrtError: if the work queue or the allocator is described wrongly.
        """
        self.tracing = tracing
        self.timers = TimerQueue()
        self.deadlines = RequestDeadlineTracker(self.timers)
        self.work_queue = _work_queue(work_queue)
        self.allocator = _allocator(allocator) if isinstance(allocator, str) else allocator
        # An allocator that counts wants to hear of each tensor: its memory then comes from Python.
        self.tensor_store = native_process().store if type(self.allocator) is PooledAllocator else 0
        """Where native kernels get memory for tensors, or 0 if they leave that to the allocator."""
        self.on_diagnostic = on_diagnostic
        self._output = output
        self._shared: dict[type, object] = {}
        self._lock = threading.RLock()
        self._local = threading.local()
        self._requests: set[Request] = set()
        self._closed = False
        self.cancelled = make_error(self.work_queue, error(CANCELLED))
        """What the results of a cancelled run become, unless it is cancelled with words."""

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

    def new_request(self, output: Sink | None = None) -> Request:
        """The request of a new run; its output goes to `output`, or to the host's.

        Raises:
            TfrtError: if the host is closed.
        """
        if self._closed:
            raise TfrtError(error("the host is closed"))
        request = Request(self, output or self._output, self._requests.discard)
        self._requests.add(request)
        return request

    def serve(self, request: Request | None) -> Request | None:
        """From now on this thread runs a kernel of `request`; returns whose it ran before."""
        local = self._local
        before: Request | None = getattr(local, "request", None)
        local.request = request
        return before

    def print(self, text: str) -> None:
        """Print for the kernel that runs on this thread."""
        request: Request | None = getattr(self._local, "request", None)
        (self._output if request is None else request.output)(text)

    def shared_context(self, kind: type[Shared]) -> Shared:
        """The host's one `kind`, made now if it is the first time."""
        with self._lock:
            found = self._shared.get(kind)
            if found is None:
                found = self._shared[kind] = kind(self)
        assert isinstance(found, kind)
        return found

    @property
    def has_runs(self) -> bool:
        """Whether some run is not over."""
        return bool(self._requests)

    def waits_for_outside(self) -> bool:
        """Whether some run waits for a value from outside the runtime."""
        return any(request.promises_open() for request in list(self._requests))

    def live_values(self) -> int:
        """AsyncValues of this host that exist; exact while nothing runs."""
        own = 0 if self._closed else 1  # `cancelled`
        return self.work_queue.live_values() - own

    def quiesce(self, timeout: float | None = None) -> bool:
        """Wait until no run of this host has anything left to do; False when the time is over.

        Runs that begin in the meantime count.  A kernel, whose own run cannot end before, waits until
        nothing is queued and nothing runs but kernels that wait in this way; False when its run is
        cancelled first.

        Raises:
            WorkQueueError: if the thread is one that must not wait for the user's work queue.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        if self.work_queue.is_at_work_here:
            return self._quiesce_within(deadline)
        while requests := list(self._requests):
            for request in requests:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                if not request.wait(left):
                    return False
        return True

    def _quiesce_within(self, deadline: float | None) -> bool:
        request: Request | None = getattr(self._local, "request", None)

        def is_over() -> bool:
            is_late = deadline is not None and time.monotonic() >= deadline
            return is_late or (request is not None and request.is_cancelled)

        return quiesce(self.work_queue, is_over)

    def close(self, patience: float = CLOSE_SECONDS) -> None:
        """Cancel what runs, wait `patience` seconds at most for it, and end the threads.

        A run that waits for a value from elsewhere is over when the value comes.  A thread that a
        kernel keeps busy ends after the kernel; nobody waits for it here.
        """
        if self._closed:
            return
        self._closed = True
        self.timers.close()
        for request in list(self._requests):
            request.cancel("the host is closed")
        is_quiet = self.quiesce(patience)
        self._shared.clear()
        del self.cancelled  # a request that could not be ended holds it, too
        self.work_queue.stop(STOP_SECONDS if is_quiet else HURRY_SECONDS)
        if self.tensor_store:  # what other hosts use stays theirs
            native_process().quick("tensors.trim_store", 1)(self.tensor_store)


_numbers = itertools.count(1)
_RequestWords = ctypes.c_int64 * (REQUEST_SIZE // 8)
ACTIVE, OPEN, HANDLE, CANCELLED_VALUE, STORE = (
    offset // 8
    for offset in (
        REQUEST_ACTIVE,
        REQUEST_OPEN,
        REQUEST_HANDLE,
        REQUEST_CANCELLED_VALUE,
        REQUEST_STORE,
    )
)
"""Indexes of words of a request."""


class Request:
    """One run: its cancellation, its data by type, its resources, its diagnostics and its output.

    It starts with one thing active; `finished` is called when nothing of it is left.
    """

    def __init__(
        self,
        host: HostContext,
        output: Sink,
        on_finished: Callable[[Request], None],
    ) -> None:
        self.id = next(_numbers)
        self.host = host
        self.queue = host.work_queue
        self.output = output
        self._resources: ResourceContext | None = None
        self._promises: Promises | None = None
        self._outside = 0
        self.data: dict[type, object] = {}
        self.diagnostics: list[Diagnostic] = []
        self.cancel_message: str | None = None
        self.interrupted = False
        self.when_stuck: Callable[[], bool] = lambda: False
        """Asked when nothing of the run happens any more: whether it goes on after all."""
        self.when_cancelled: Callable[[], None] = lambda: None
        """Called when the run is cancelled, by compiled code's runtime also where a kernel does that."""
        self.program: object = None
        """What runs: it must live until the run is over, whatever becomes of the program's owner."""
        self._on_finished = on_finished
        self._process = native_process()
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._words = _RequestWords()
        self.address = ctypes.addressof(self._words)
        self._words[ACTIVE] = self._words[OPEN] = 1
        self._words[REQUEST_NUMBER // 8] = self.id
        self._words[HANDLE] = self._process.requests.add(self)
        self._cancelled = host.cancelled
        self._words[CANCELLED_VALUE] = self._cancelled.address
        self._words[STORE] = host.tensor_store

    @property
    def resources(self) -> ResourceContext:
        """The resources of the run, made when first asked for."""
        with self._lock:
            if self._resources is None:
                self._resources = ResourceContext()
            return self._resources

    @property
    def promises(self) -> Promises:
        """What the run waits for from outside the runtime, noted from when it is first asked for."""
        with self._lock:
            if self._promises is None:
                self._promises = Promises()
            return self._promises

    def promises_open(self) -> bool:
        """Whether the run waits for something from outside the runtime."""
        promised = self._promises is not None and self._promises.are_open()
        return promised or self._outside > 0

    @property
    def is_leaving(self) -> bool:
        """Whether nothing of the run is left to do, though Python may not know it yet."""
        return self._words[REQUEST_ACTIVE // 8] == 0

    @property
    def is_done(self) -> bool:
        """Whether nothing of the run is left to do."""
        return self._words[REQUEST_OPEN // 8] == 0

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody cancelled the run."""
        return self._words[REQUEST_CANCEL // 8] != 0

    def enter_call(self) -> None:
        """One call more is active, until the native core ends it; only a kernel of the run says so."""
        self._process.quick("handles.request_enter", 1)(self.address)

    def enter(self) -> None:
        """Something outside the runtime works for the run; only a kernel of the run may say so."""
        with self._lock:
            self._outside += 1
        self.enter_call()

    def leave(self) -> None:
        """What `enter` counted is done; on any thread."""
        self._process.slow("handles.request_leave", 2)(self.queue.context(), self.address)
        with self._lock:  # last: before that, the run would look as if nobody worked for it
            self._outside -= 1

    def report(self, diagnostic: Diagnostic) -> None:
        """Take a diagnostic of a kernel, in the order in which they are raised."""
        self.diagnostics.append(diagnostic)
        shielded(lambda: self.host.on_diagnostic(diagnostic))

    def cancel(self, message: str = CANCELLED) -> bool:
        """Skip every kernel that has not started; False if it was cancelled or over already.

        Results that are not there yet become errors with `message`.
        """
        with self._lock:
            if self.is_done or self.is_cancelled:
                return False
            if message != CANCELLED:
                self._cancelled = make_error(self.queue, error(message))
                self._words[REQUEST_CANCELLED_VALUE // 8] = self._cancelled.address
            self.cancel_message = message
            is_first = bool(self._process.quick("handles.request_cancel", 1)(self.address))
        # Outside the lock: what goes on now may end the run.
        if is_first:
            self.when_cancelled()
        return is_first

    def on_done(self, callback: Callable[[], None]) -> None:
        """Call `callback` when nothing of the run is left: now, if that is so already."""
        with self._lock:
            if not self.is_done:
                self._callbacks.append(callback)
                return
        callback()

    def finished(self) -> None:
        """Called by the native core, on any thread, when nothing of the run is left."""
        self._on_finished(self)
        with self._lock:
            callbacks, self._callbacks = self._callbacks, []
            self._words[REQUEST_OPEN // 8] = 0
        self.program = None
        for callback in callbacks:
            shielded(callback)

    def wait(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Work until nothing of the run is left; False when the time is over first."""
        return self.queue.wait(self.address + REQUEST_OPEN, timeout, interrupted)
