"""What programs run in: the host, a run of a program, and the things that live as long as they do."""

from __future__ import annotations

import functools
import sys
import threading
import time
import weakref
from array import array
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Protocol, Self, SupportsIndex, TypeVar

from tfrt_runtime.callers import deadline_in, place_of_caller, require
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host import structs
from tfrt_runtime.host.allocator import (
    ALLOCATOR_KINDS,
    HostAllocator,
    Limit,
    PooledAllocator,
    create_allocator,
)
from tfrt_runtime.host.budget import parse_budget
from tfrt_runtime.host.failures import cancellation
from tfrt_runtime.host.objects import Run
from tfrt_runtime.host.process import native_process, shielded
from tfrt_runtime.host.queues.queue_names import WorkQueueError
from tfrt_runtime.host.queues.timer import RequestDeadlineTracker, TimerQueue
from tfrt_runtime.host.queues.user_queue import ConcurrentWorkQueue, UserWorkQueue
from tfrt_runtime.host.queues.work_queue import STOP_SECONDS, WorkQueue, make_work_queue
from tfrt_runtime.host.resources import ResourceContext
from tfrt_runtime.host.tracing.trace import Level, Tracing
from tfrt_runtime.host.values.async_value import AsyncValue, make_error, make_unavailable
from tfrt_runtime.host.values.promises import Promises
from tfrt_runtime.host.waiting.blocking import BlockingWatch
from tfrt_runtime.host.waiting.idleness import quiesce
from tfrt_runtime.host.waiting.kernel_waits import KernelWait, Maker
from tfrt_runtime.native import layouts as at

if TYPE_CHECKING:
    import asyncio

    from tfrt_runtime.host.tracing.events import Watch  # what it imports, small programs do without

Sink = Callable[[str], None]
CANCELLED = "Cancelled"
HOST_CLOSED = "the host is closed"
CLOSE_SECONDS = 1.0
"""How long `HostContext.close` waits for runs that it has cancelled."""
HURRY_SECONDS = 0.1
"""How long when the user has pressed Ctrl-C, and for threads whose kernels do not end."""
MAX_FAILURES = 20
"""Errors of operations of compiled code that a run keeps."""


class SharedContext(Protocol):
    """Something that a host has once per class, made when it is first asked for.

    If it has a method `close`, that is called when the host is closed.
    """

    def __init__(self, host: HostContext) -> None: ...


class Entry(Protocol):
    """The function that a run was started with."""

    name: str

    def why_never(
        self, request: Request, results: Sequence[AsyncValue], *, blocks: bool
    ) -> Sequence[Diagnostic]:
        """Why results of the run will never resolve; nothing while they may come."""

    def is_wanted(self, request: Request, reference: weakref.ref[AsyncValue]) -> bool:
        """Whether a result of the run is unavailable and has a holder beside its Execution."""


class Execution(Protocol):
    """What holds the results of a run for others."""

    @property
    def results(self) -> Sequence[AsyncValue]:
        """They are made when they are first asked for."""


class Code(Protocol):
    """Compiled code, as a run that may call it sees it."""

    def cancelled(self) -> None:
        """The run is cancelled: its code ends."""

    def goes_on(self) -> bool:
        """Whether the run, which was found stuck, goes on: what it waits for has become an error."""

    def has_settled(self) -> bool:
        """Whether nothing that the run has started is left, tasks that outlive it included."""

    def end_tasks(self, message: str) -> bool:
        """End the tasks that the run has left running when it was over; False if nothing runs."""

    def waits(self) -> list[Diagnostic]:
        """Notes on what threads wait for in compiled code at this moment."""


Shared = TypeVar("Shared", bound=SharedContext)


def write_to_stdout(text: str) -> None:
    """Where programs print by default."""
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
    require(has_all, "work_queue", "a text such as 'mstd:2', or a ConcurrentWorkQueue", given)
    return UserWorkQueue(given)


def _allocator(kind: str, budget: Limit) -> HostAllocator:
    if kind not in ALLOCATOR_KINDS:
        text = f"unknown allocator '{kind}': expected {', '.join(ALLOCATOR_KINDS)}"
        raise TfrtError(error(text, place_of_caller()))
    return create_allocator(kind, budget)


class HostContext:
    """One host: a work queue, an allocator, what kernels share, and where output goes.

    Close it, or use it in a `with` statement: its threads end then.  Those of a host that is dropped
    without that end when it is collected, which is after its last run.  On the queue `s` a run that no
    thread waits for does not end: only `close` ends such a host.
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
            loop: where `async def` kernels run; by default a loop of the host's own, on a thread of its
                own.  It is the caller's, which runs it, and goes on when the host is closed.
            memory: the budget: bytes, or a text such as "2G", that native code and tensors may hold
                when programs of this host ask for more.  A run that needs more ends with an error
                at the operation that grew.  By default half of what the process may have.
            tracing: hears of runs that start while it is requested.
            timers: what kernels and deadlines set; by default a queue of the host's own.

        Raises:
            TfrtError: if the work queue, the allocator or the memory is described wrongly, or the loop is closed.
        """
        has_memory = isinstance(allocator, str) or hasattr(allocator, "allocate_bytes")
        kinds = ", ".join(ALLOCATOR_KINDS)
        require(has_memory, "allocator", f"one of {kinds}, or a HostAllocator", allocator)
        require(callable(output), "output", "a function of a text", output)
        require(callable(on_diagnostic), "on_diagnostic", "a function of a message", on_diagnostic)
        is_tracing = tracing is None or isinstance(tracing, Tracing)
        require(is_tracing, "tracing", "a Tracing", tracing)
        is_loop = loop is None or hasattr(loop, "call_soon_threadsafe")
        require(is_loop, "loop", "an event loop of asyncio", loop)
        if loop is not None and getattr(loop, "is_closed", bool)():
            raise TfrtError(error("loop: the event loop is closed", place_of_caller()))
        is_timers = timers is None or isinstance(timers, TimerQueue)
        require(is_timers, "timers", "a TimerQueue", timers)
        self.tracing = tracing
        self.loop = loop
        self.serving_loop = loop
        """Where `async def` kernels run: that of the user, or the host's own once there is one."""
        self.timers = TimerQueue() if timers is None else timers
        self.hold: Callable[[Request, AsyncValue, bool], AsyncValue] = lambda _, value, __: value
        """What a run gets where its kernel returns this value; True if another thread resolves it.

        The value itself; where the steps of a run are chosen, another one, whose resolution is a step, too."""
        self.deadlines = RequestDeadlineTracker(self.timers)
        self.work_queue = _work_queue(work_queue)
        self.set_memory(memory)
        self.allocator = (
            _allocator(allocator, lambda: self.memory) if isinstance(allocator, str) else allocator
        )
        # An allocator that counts wants to hear of each tensor: its memory then comes from Python.
        self.tensor_store = native_process().store if type(self.allocator) is PooledAllocator else 0
        """Where native kernels get memory for tensors, or 0 if they leave that to the allocator."""
        self.on_diagnostic = on_diagnostic
        self.output = output
        self._shared: dict[type, object] = {}
        self._lock = threading.RLock()
        self._local = threading.local()
        self._blocking = BlockingWatch(self.timers, self.work_queue, _has_runs(weakref.ref(self)))
        self._closed = False
        self.cancel_message: str | None = None
        """What runs that begin now are cancelled with, if they are."""
        self.when_closed: Callable[[], None] = lambda: None
        """Called when the host is closed and its runs are cancelled: ends what they have left running."""
        self.when_quiet: Callable[[], None] = lambda: None
        """Called when `quiesce` has waited: releases what compiled code used."""
        self.cancelled = make_error(self.work_queue, cancellation(CANCELLED))
        """What the results of a cancelled run become, unless it is cancelled with words."""
        self.identity = object()
        """Stands for the host where that must not be kept alive."""
        self.cancelled_address = self.cancelled.address
        """Of the native value, which lives until the host is closed."""
        # A run that is not over refers to its host: when that is gone, nothing runs any more.
        self._when_dropped = weakref.finalize(self, _drop, self.timers, self.work_queue)
        self._when_dropped.atexit = False

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a host is neither copied nor pickled: make one in each process")

    def __repr__(self) -> str:
        count = self.work_queue.threads
        workers = f"{count or 'no'} worker{'s' * (count != 1)}"
        return f"<HostContext with {workers}{', closed' if self._closed else ''}>"

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

    def new_request(self, output: Sink | None = None) -> Request:
        """A run without a function, for kernels that are called by hand."""
        request = Request(self, output)
        request.open(NEW_REQUEST)
        request.become_known()
        return request

    @property
    def _runs(self) -> list[Request]:
        """The runs that are not over."""
        known = list(native_process().requests.values())
        return [
            one
            for one in known
            if isinstance(one, Request) and one.host is self and not one.is_done
        ]

    @property
    def memory(self) -> int:
        """The budget in bytes: see `__init__`."""
        return self.work_queue.budget

    def set_memory(self, memory: int | str | None) -> None:
        """Give the host another budget, for runs that go on, too; None is the default.

        Raises:
            TfrtError: if it is neither bytes nor a text such as "2G".
        """
        self.work_queue.budget = parse_budget(memory)

    def cancel(self, message: str = CANCELLED) -> None:
        """Set the host's cancel value: all runs end, and those that begin later do at once.

        Kernels that have not started are skipped; results that are not available yet become errors with
        `message`.  `restart` takes it back.  On any thread.
        """
        self.cancel_message = message
        for request in self._runs:
            request.cancel(message)

    def restart(self) -> None:
        """Let runs begin again after `cancel`; what it ended stays ended."""
        self.cancel_message = None

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called, and `restart` was not since."""
        return self.cancel_message is not None

    def serve(self, request: Request | None) -> Request | None:
        """From now on this thread runs a kernel of `request`; returns whose it ran before."""
        local = self._local
        before: Request | None = getattr(local, "request", None)
        local.request = request
        return before

    def print(self, text: str) -> None:
        """Print for the kernel that runs on this thread."""
        request: Request | None = getattr(self._local, "request", None)
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
        return self._closed or self.work_queue.is_of_parent

    @property
    def has_runs(self) -> bool:
        """Whether some run is not over."""
        return bool(self._runs)

    def waits_for_outside(self) -> bool:
        """Whether some run waits for a value from outside the runtime."""
        return any(request.promises_open() for request in self._runs)

    def live_values(self) -> int:
        """AsyncValues of this host that exist; exact while nothing runs."""
        own = 0 if self._closed else 1  # `cancelled`
        return self.work_queue.live_values() - own

    def quiesce(self, timeout: float | None = None) -> bool:
        """Wait until no run of this host has anything left to do; False when the time is over.

        Tasks that compiled code has left behind count, and run here where no other thread takes them.
        Runs that begin in the meantime count.  A kernel, whose own run cannot end before, waits until
        nothing is queued and nothing runs but kernels that wait in this way; False when its run is
        cancelled first.

        Raises:
            WorkQueueError: if the thread is one that must not wait for the user's work queue.
        """
        deadline = deadline_in(timeout)
        if self.work_queue.is_at_work_here:
            return self._quiesce_within(deadline)
        while requests := self._runs:
            for request in requests:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                if not request.wait(left):
                    return False
        is_quiet = quiesce(
            self.work_queue, lambda: deadline is not None and time.monotonic() >= deadline
        )
        self.when_quiet()
        native_process().forget(self.work_queue.address)
        return is_quiet

    def _quiesce_within(self, deadline: float | None) -> bool:
        request: Request | None = getattr(self._local, "request", None)

        def is_over() -> bool:
            is_late = deadline is not None and time.monotonic() >= deadline
            return is_late or (request is not None and request.is_cancelled)

        return quiesce(self.work_queue, is_over)

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Cancel what runs, wait `timeout` seconds at most for it, and end the threads.

        A run that waits for a value from elsewhere is over when the value comes.  A thread that a
        kernel keeps busy ends after the kernel; this call does not wait for it.
        """
        if self._closed:
            return
        self._closed = True
        self._when_dropped.detach()
        if self.work_queue.is_of_parent:
            return
        self.timers.close()
        for request in self._runs:
            request.cancel(HOST_CLOSED)
        self.when_closed()
        is_quiet = self.quiesce(timeout)
        self.work_queue.stop(STOP_SECONDS if is_quiet else HURRY_SECONDS)
        for shared in list(self._shared.values()):
            getattr(shared, "close", lambda: None)()
        self._shared.clear()  # what threads of the queue may use until their end
        del self.cancelled  # a request that could not be ended holds it, too
        if self.tensor_store:  # what other hosts use stays theirs
            native_process().quick.trim_store(self.tensor_store)


def _has_runs(host: weakref.ref[HostContext]) -> Callable[[], bool]:
    """What says whether a host exists and has a run that is not over."""

    def ask() -> bool:
        found = host()
        return found is not None and found.has_runs

    return ask


def _drop(timers: TimerQueue, queue: WorkQueue) -> None:
    """A host is gone that was not closed.  On any thread, its own included, which must not wait."""
    timers.close(timeout=0.0)
    queue.stop(timeout=0.0)


def _print(printed: list[str], sink: Sink, watch: Watch | None, text: str) -> None:
    if watch is not None:
        watch.note_output(text)
    printed.append(text)
    sink(text)


NEW_REQUEST = array("q", bytes(at.REQUEST_SIZE))
"""The words of a request that begins: one thing is active."""
NEW_REQUEST[at.REQUEST_ACTIVE // 8] = NEW_REQUEST[at.REQUEST_OPEN // 8] = 1


class Request(Run):
    """One run: its cancellation, its data by type, its resources, its diagnostics and its output.

    It has its words, and Python knows it, from `open` on, or from when the native core starts its call.  Then one
    thing is active; `finished` is called when nothing of it is left.
    """

    _resources: ResourceContext | None = None
    _promises: Promises | None = None
    _outside = 0
    cancel_message: str | None = None
    cancellation: Diagnostic | None = None
    """Why the run was cancelled, if it was."""
    refusal: Diagnostic | None = None
    """Why the run was refused memory, if it was."""
    interrupted = False
    entry: Entry | None = None
    """The function that it was started with."""
    execution: weakref.ref[Execution] | None = None
    """What holds the results, and makes them when they are asked for."""
    results: Sequence[weakref.ref[AsyncValue]] = ()
    """What the run was started for, as far as Python has made that, to be decided when it is cancelled."""
    watched: Watch | None = None
    """The watch of the run, if its events are logged."""
    code: Code | None = None
    """The compiled code that the run may call."""
    before_output: Callable[[], None] = staticmethod(lambda: None)
    """What is called before each piece of text."""
    program: object = None
    """What runs: it must live until the run is over, whatever becomes of the program's owner."""

    _data: dict[type, object] | None = None
    failures: tuple[Diagnostic, ...] = ()
    """Errors of operations of compiled code, which may handle them: each once, the first MAX_FAILURES."""
    _diagnostics: list[Diagnostic] | None = None
    _printed: list[str] | None = None
    _when_cancelled: dict[object, Callable[[], None]] | None = None
    _callbacks: list[Callable[[], None]] | None = None
    # One for all runs: it is held for a moment.  The thread that makes the error of a cancelled run may be
    # refused memory, and come back here.
    lock = threading.RLock()

    def __init__(self, host: HostContext, output: Sink | None) -> None:
        """A run of `host` whose output goes to `output`, or to the host's.

        Raises:
            TfrtError: if the host is closed, or was made before the process was forked.
        """
        if host._closed:
            raise TfrtError(error(HOST_CLOSED, place_of_caller()))
        self.queue = queue = host.work_queue
        if queue.is_of_parent:
            queue.refuse_child()
        self.host = host
        self._sink = output or host.output
        self._cancelled = host.cancelled

    def open(self, words: array[int]) -> None:
        """Let Python know the run; `words` begin as `NEW_REQUEST`, and are copied."""
        host, process = self.host, native_process()
        words[at.REQUEST_CANCELLED_VALUE // 8] = host.cancelled_address
        words[at.REQUEST_STORE // 8] = host.tensor_store
        words[at.REQUEST_NUMBER // 8] = process.quick.next_number(process.address)
        self.words = words.tobytes()
        process.requests[self.address] = self

    def become_known(self) -> None:
        """The run was opened: `cancel` on another thread meets it here or among those that are, or in both."""
        host = self.host
        if host.cancel_message is not None:
            self.cancel(host.cancel_message)
        if WorkQueue.has_user_kernels and not host._blocking.is_looking:
            host._blocking.begin()

    @property
    def address(self) -> int:
        """Of the native words."""
        return id(self.words) + at.PYTHON_BYTES

    @property
    def id(self) -> int:
        """The number of the run; no two of a process have the same."""
        return self.native.number

    @property
    def native(self) -> structs.Request:
        """The struct of the native core; it lives as long as the run."""
        return structs.Request.at(id(self.words) + at.PYTHON_BYTES)

    @property
    def data(self) -> dict[type, object]:
        """What kernels of the run share, by type."""
        with self.lock:
            if self._data is None:
                self._data = {}
            return self._data

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Errors of kernels, in the order in which they were raised."""
        with self.lock:
            if self._diagnostics is None:
                self._diagnostics = []
            return self._diagnostics

    @property
    def printed(self) -> list[str]:
        """What the run has printed so far, in pieces."""
        with self.lock:
            if self._printed is None:
                self._printed = []
            return self._printed

    def output(self, text: str) -> None:
        """Print for the run."""
        self.before_output()
        _print(self.printed, self._sink, self.watched, text)

    def lasting_output(self) -> Sink:
        """What prints as `output` does, and does not hold the run: for code that may outlive it."""
        return functools.partial(_print, self.printed, self._sink, self.watched)

    @property
    def resources(self) -> ResourceContext:
        """The resources of the run, made when first asked for, destroyed when nothing of it is left."""
        with self.lock:
            if self._resources is None:
                self._resources = ResourceContext()
                # What is among them may hold the run where Python's collector does not see it: a value has an
                # object, and the object prints for the run.
                self.on_done(self._resources.clear)
            return self._resources

    @property
    def promises(self) -> Promises:
        """What the run waits for from outside the runtime, noted from when it is first asked for."""
        with self.lock:
            if self._promises is None:
                self._promises = Promises()
            return self._promises

    def promises_open(
        self, waits: Sequence[KernelWait] = (), asked: tuple[Maker, ...] = ()
    ) -> bool:
        """Whether the run waits for something from outside the runtime: see `kernel_waits.Maker`."""
        if self in asked:
            return False
        if self._outside > sum(wait.run is self for wait in waits):
            return True
        if self._promises is None:
            return False

        def may_come(run: object) -> bool:
            # What another queue does is not known here.
            if not isinstance(run, Request) or run.queue is not self.queue:
                return True
            return run.promises_open(waits, (*asked, self))

        return self._promises.are_open(may_come)

    @property
    def progress(self) -> tuple[int, int]:
        """Kernels that are decided, and those that are known: of calls that began since this was first
        asked for, and of the outermost one."""
        native = self.native
        native.observed = 1
        decided = native.decided  # first, as it must not be more
        return decided, native.known

    def waits_for_this_thread(self) -> bool:
        """Whether kernels of the run wait for the event loop that this thread runs."""
        loop = self.host.serving_loop
        if loop is None or self._outside == 0:
            return False
        return sys.modules["asyncio"]._get_running_loop() is loop  # a loop exists

    @property
    def is_leaving(self) -> bool:
        """Whether nothing of the run is left to do, though Python may not know it yet."""
        return self.native.active == 0

    @property
    def is_done(self) -> bool:
        """Whether nothing of the run is left to do."""
        return self.native.open == 0

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return self.native.cancel != 0

    def watch(self, watch: Watch, program: int, registers: Sequence[int]) -> None:
        """Log the events of the run, which has not begun, of the program with this number; its functions
        have so many registers each."""
        watch.begin(self.queue, self.id, self.address, program, registers)
        self.watched = watch
        native = self.native
        native.watch, native.unusual, native.observed = watch.address, 1, 1
        self.on_done(watch.end)

    def enter_call(self) -> None:
        """One call more is active, until the native core ends it; only a kernel of the run says so."""
        native_process().quick.request_enter(self.address)

    def stay_open_for(self, value: AsyncValue) -> None:
        """The run is not over before `value` is resolved; only a kernel of the run may say so."""
        self.enter_call()
        value.and_then(self.leave_call)

    def leave_call(self) -> None:
        """One call less is active; on any thread."""
        native_process().slow.request_leave(self.queue.context(), self.address)

    def enter(self, results: Iterable[AsyncValue] = ()) -> None:
        """Something outside the runtime works for the run; only a kernel of the run may say so.

        It resolves `results`, which the run has allocated, before it calls `leave`.
        """
        with self.lock:
            self._outside += 1
        self.promises.count(results)
        self.enter_call()

    def leave(self) -> None:
        """What `enter` counted is done; on any thread."""
        self.leave_call()
        with self.lock:  # last: before that, the run would seem to have no thread
            self._outside -= 1

    def report(self, diagnostic: Diagnostic) -> None:
        """Take a diagnostic of a kernel, in the order in which they are raised."""
        self.diagnostics.append(diagnostic)
        shielded(lambda: self.host.on_diagnostic(diagnostic))

    def note_failure(self, diagnostic: Diagnostic) -> None:
        """Take an error of an operation of compiled code."""
        if len(self.failures) < MAX_FAILURES and diagnostic not in self.failures:
            with self.lock:
                self.failures = (*self.failures, diagnostic)

    def refuse(self, diagnostic: Diagnostic) -> None:
        """End the run with this error: it needs more memory than it may have.

        So do the tasks that a run which is over has left running.
        """
        tasks = self.code if self.refusal is None else None
        self.refusal = self.refusal or diagnostic
        if self.cancel(diagnostic) or (tasks and tasks.end_tasks(diagnostic.message)):
            self.report(diagnostic)

    def cancel(self, reason: str | Diagnostic = CANCELLED) -> bool:
        """Skip every kernel that has not started; False if it was cancelled or over already.

        Results that are not available yet become errors with `reason`.
        """
        message = reason if isinstance(reason, str) else reason.message
        with self.lock:
            if self.is_done or self.is_cancelled:
                return False
            found = cancellation(reason) if isinstance(reason, str) else reason
            if reason != CANCELLED:
                self._cancelled = make_error(self.queue, found)
                self.native.cancelled_value = self._cancelled.address
            self.cancel_message, self.cancellation = message, found
            is_first = bool(native_process().quick.request_cancel(self.address))
            callbacks = list((self._when_cancelled or {}).values())
        # Outside the lock: what goes on now may end the run.
        if is_first:
            if self.code is not None:
                self.code.cancelled()
            # First the values: a coroutine that is cancelled drops its own undecided.
            if self._promises is not None:
                self._promises.decide(found)
            self.decide_results()
            for callback in callbacks:
                shielded(callback)
        return is_first

    def decide_results(self) -> None:
        """Make the unresolved results of a cancelled run errors."""
        for value in self.held_results():
            value.decide(self._cancelled)

    def held_results(self) -> list[AsyncValue]:
        """The results of the run that Python holds."""
        if self.execution is not None and (execution := self.execution()) is not None:
            execution.results  # noqa: B018 - makes them
        held = [reference() for reference in self.results]
        return [value for value in held if value is not None]

    def why_never(self, value: AsyncValue, *, blocks: bool) -> Sequence[Diagnostic]:
        """Why a result of the run will never resolve; nothing while it may come.

        With `blocks` this thread waits for it, and so does nothing else.
        """
        return () if self.entry is None else self.entry.why_never(self, [value], blocks=blocks)

    def name_of(self, value: AsyncValue) -> str:
        """What a result of the run is called in messages."""
        numbers = [i for i, reference in enumerate(self.results) if reference() is value]
        which = f"result {numbers[0]}" if numbers and len(self.results) > 1 else "the result"
        return f"{which} of @{self.entry.name if self.entry is not None else ''}"

    def cancel_for(self, value: AsyncValue, reason: Diagnostic) -> bool:
        """Cancel the run for its result `value`, unless a caller holds other results; whether it was."""
        others = [one for one in self.results if one() is not value]
        if self.entry is None or any(self.entry.is_wanted(self, other) for other in others):
            return False
        self.cancel(reason)
        return True

    def allocate(self, type_text: str, on_broken: Callable[[], Diagnostic]) -> AsyncValue:
        """A value that a kernel of the run resolves later; an error when the run is cancelled first."""
        value = make_unavailable(self.queue, type_text, on_broken)
        self.promises.own(value)
        if self.cancel_message is not None:  # perhaps after it was decided what is left
            self.promises.decide(error(self.cancel_message))
        return value

    def call_when_cancelled(self, key: object, callback: Callable[[], None]) -> None:
        """Call `callback` if the run is cancelled, at once if it is already; `key` is to forget it."""
        with self.lock:
            if self._when_cancelled is None:
                self._when_cancelled = {}
            self._when_cancelled[key] = callback
            is_late = self.cancel_message is not None
        if is_late:
            shielded(callback)

    def forget_when_cancelled(self, key: object) -> None:
        """What `call_when_cancelled` noted is over."""
        with self.lock:
            if self._when_cancelled is not None:
                self._when_cancelled.pop(key, None)

    def on_done(self, callback: Callable[[], None]) -> None:
        """Call `callback` when nothing of the run is left: now, if that is so already."""
        with self.lock:
            if native_process().quick.request_notify(self.address) and not self.is_done:
                self._callbacks = [*(self._callbacks or ()), callback]
                return
        callback()

    def finished(self) -> None:
        """Called by the native core, on any thread, when nothing of the run is left and Python hears of it."""
        process = native_process()
        if process.memory_held > at.KEPT_AT_REST and not self.host.has_runs:
            process.quick.trim_at_rest(self.queue.context())
        with self.lock:
            callbacks, self._callbacks = self._callbacks or (), None
            self.native.open = 0
        self.program = None
        for callback in callbacks:
            shielded(callback)

    def wait(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Work until nothing of the run is left; False when the time is over first."""
        is_over = self.queue.wait(self.address + at.REQUEST_OPEN, timeout, interrupted)
        native_process().forget(self.queue.address)
        return is_over
