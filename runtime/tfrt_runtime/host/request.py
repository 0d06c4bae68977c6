"""A run of a program: its cancellation, its output, and objects that share its lifetime."""

from __future__ import annotations

import functools
import threading
import weakref
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any, TextIO

from tfrt_runtime.diagnostics import FOREVER, Diagnostic, Ending, refuse
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host import structs
from tfrt_runtime.host.context import CANCELLED, HOST_CLOSED, HostContext, Sink, write_to_stdout
from tfrt_runtime.host.failures import cancellation
from tfrt_runtime.host.payload import Run
from tfrt_runtime.host.process import native_process, shielded
from tfrt_runtime.host.queues.threads import Timer
from tfrt_runtime.host.run_parts import ResourceContext, print_for, within
from tfrt_runtime.host.values.async_value import AsyncValue, make_error, make_unavailable
from tfrt_runtime.host.values.promises import Counted, Promises
from tfrt_runtime.host.waiting import KernelWait
from tfrt_runtime.native import layouts as at

if TYPE_CHECKING:
    from tfrt_runtime.host.tracing.events import Watch  # small programs avoid its imports

DEADLINE_EXCEEDED = "deadline exceeded"
MAX_FAILURES = 20
"""How many errors of compiled operations a run keeps."""

NEW_REQUEST = array("q", bytes(at.REQUEST_SIZE))
"""The initial words of a request, with one activity: the call that starts the run."""
NEW_REQUEST[at.REQUEST_ACTIVE // 8] = NEW_REQUEST[at.REQUEST_OPEN // 8] = 1


class Request(Run):
    """One run: its cancellation, its data, its resources, its diagnostics, and its output.

    The run gets its words in `open`, or when the native core starts its call.  At the same time,
    the run is registered.  From then on, it has at least one activity.  `finished` is called when
    the last activity has ended.
    """

    _resources: ResourceContext | None = None
    _promises: Promises | None = None
    outside = _decided = 0
    """`outside` is the number of external activities, which `enter` adds and `leave` removes."""
    cancellation: Diagnostic | None = None
    """Why the run was cancelled, or None."""
    cancelled_value: AsyncValue
    """The error that the unresolved results of a cancelled run become."""
    refusal: Diagnostic | None = None
    """Why the run was refused memory, or None."""
    interrupt: BaseException | None = None
    """A KeyboardInterrupt that a kernel of the run raised; a waiting thread raises it again."""
    entry: Any
    """The function with which the run was started (`executor.calls.Entry`), or None."""
    held: Sequence[AsyncValue] | None = ()
    """The results that the run's Execution holds, while the Execution exists.

    If it is None, Python has not created the results.  They are then only in the words, with one
    reference each.
    """
    results: Sequence[weakref.ref[AsyncValue]] = ()
    """The results that Python has created.  Cancelling the run resolves them."""
    watched: Watch | None = None
    """The run's watch, if its events are logged."""
    code: Any = None
    """The compiled code that the run may call (`async_runtime.host_runtime.CodeOfRun`), or None."""
    before_output: Callable[[], None] = staticmethod(lambda: None)
    """A function that is called before each piece of output, or None."""
    program: object
    """The running program, which must live until the run is over."""

    failures: tuple[Diagnostic, ...] = ()
    """The first MAX_FAILURES different errors of compiled operations."""
    _when_cancelled: dict[object, Callable[[], None]] | None = None
    _callbacks: list[Callable[[], None]] | None = None
    _are_decided = False
    # One lock for all runs suffices, because it is held only briefly. It is reentrant, because
    # `cancel` holds it while it creates error values: if that exceeds the memory budget, `refuse`
    # acquires the lock again on the same thread.
    lock = threading.RLock()

    def __init__(
        self,
        host: HostContext,
        output: Sink | None,
        program: object = None,
        entry: Any = None,
    ) -> None:
        """Create a run of `host`.

        The run's output goes to `output`, or to the host's output if `output` is None.

        Raises:
            TfrtError: if the host is closed or was created before the process was forked.
        """
        if host.was_closed:
            refuse(HOST_CLOSED)
        self.queue = queue = host.work_queue
        if queue.is_of_parent:
            queue.refuse_child()
        self.host, self.program, self.entry = host, program, entry
        self._sink = output or host.output
        self.cancelled_value = host.cancelled

    def open(self, words: array[int]) -> None:
        """Register the run with a copy of `words`, which must start with `NEW_REQUEST`."""
        host, process = self.host, native_process()
        words[at.REQUEST_CANCELLED_VALUE // 8] = host.cancelled_address
        words[at.REQUEST_STORE // 8] = host.tensor_store
        process.adopt(self, words.tobytes(), self.entry is not None and self.entry.carries)

    def become_known(self) -> None:
        """Cancel the run if its host was cancelled before the run was registered."""
        # A thread that cancels the host later finds the registered run and cancels it.
        host = self.host
        if host.cancel_message is not None:
            self.cancel(host.cancel_message)
        if HOOKS.has_user_kernels and not host.blocking.is_looking:
            host.blocking.begin()

    @property
    def id(self) -> int:
        """The number of the run, unique in the process."""
        return self.native.number

    @property
    def native(self) -> structs.Request:
        """The run's struct REQUEST, which lives as long as the run."""
        return structs.Request.at(self.address)

    @property
    def data(self) -> dict[type, Any]:
        """Objects that the run's kernels share, keyed by type."""
        found: dict[type, Any] = vars(self).setdefault("_data", {})
        return found

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The errors of the run's kernels, in the order in which they were raised."""
        found: list[Diagnostic] = vars(self).setdefault("_diagnostics", [])
        return found

    @property
    def recovered(self) -> dict[int, Diagnostic]:
        """The errors that the program has replaced or kept, keyed by identity."""
        found: dict[int, Diagnostic] = vars(self).setdefault("_recovered", {})
        return found

    def recover(self, diagnostic: Diagnostic) -> None:
        """Note that the program has replaced or kept an error, which a kernel may have reported."""
        self.recovered.update((id(one), one) for one in (diagnostic, *diagnostic.others))

    @property
    def printed(self) -> list[str]:
        """The run's output so far, in pieces."""
        found: list[str] = vars(self).setdefault("_printed", [])
        return found

    def output(self, text: str, stream: TextIO | None = None) -> None:
        """Print text for the run, in the context of the call that started the run.

        `stream` is the stream to which a kernel wrote, if any; it then receives the text instead of
        standard output.
        """
        self.before_output()
        sink: Callable[[str], object] = self._sink
        if stream is not None and sink is write_to_stdout:
            sink = stream.write
        print_for(self.printed, self.watched, self.caller_context, sink, text)

    def as_caller(self, function: Callable[..., object], *values: object) -> object:
        """Call a function in the contextvars context that the run carries, if it carries one."""
        return within(self.caller_context, function, *values)

    def lasting_output(self) -> Sink:
        """Return a function that prints as `output` does, but does not keep the run alive.

        Use it for code that may outlive the run.
        """
        return functools.partial(
            print_for, self.printed, self.watched, self.caller_context, self._sink
        )

    @property
    def caller_context(self) -> Context | None:
        """The contextvars context of the call that started the run, if the run carries it."""
        return getattr(self, "caller", None)

    @property
    def resources(self) -> ResourceContext:
        """The run's resources, created on first use, and destroyed when the run finishes."""
        with self.lock:
            if self._resources is None:
                self._resources = ResourceContext()
                # A resource may keep the run alive in a way that the garbage collector does not
                # see: for example, an AsyncValue holds an object that prints for the run.
                self.on_done(self._resources.clear)
            return self._resources

    @property
    def promises(self) -> Promises:
        """The external values for which the run waits.  Recording starts at the first access."""
        if self._promises is None:
            with self.lock:
                self._promises = self._promises or Promises()
        return self._promises

    def promises_open(self, waits: Sequence[KernelWait] = ()) -> bool:
        """Return whether the run, or one whose results it awaits, awaits an external event.

        The runs' own `async def` kernels among `waits` do not count.
        """
        # A loop, because thousands of runs may wait for each other, one after another.
        runs: list[Any] = [self]
        seen: set[object] = {self}

        def may_come(run: object) -> bool:
            # The work of another queue is not visible here.
            is_visible = isinstance(run, Request) and run.queue is self.queue
            if is_visible and run not in seen:
                seen.add(run)
                runs.append(run)
            return not is_visible

        return any(
            run.outside > sum(wait.run is run for wait in waits)
            or (run._promises is not None and run._promises.are_open(may_come))
            for run in runs
        )

    @property
    def progress(self) -> tuple[int, int]:
        """The number of decided kernels, and the number of known kernels.

        A kernel is decided if it has run or was skipped.  The known kernels belong to the outermost
        call, and to calls that started after the first access.
        """
        native = self.native
        native.observed = 1
        # Read `decided` first, because it must not exceed `known`. A kernel with external results
        # is decided only when they are available, so subtract the external activities.
        outside = 0 if self.is_done else self.outside
        decided = self._decided = max(self._decided, native.decided - outside)
        return decided, native.known

    @property
    def is_done(self) -> bool:
        """Whether the run has no work left."""
        return self.native.open == 0

    @property
    def is_cancelled(self) -> bool:
        """Whether the run was cancelled."""
        return self.native.cancel != 0

    def watch(self, watch: Watch, program: int, registers: Sequence[int]) -> None:
        """Log the run's events from now on.

        `program` is the number of the run's program, and `registers` contains the register count of
        each of its functions.  Events that happened before this call are not logged.
        """
        watch.begin(self.queue, self.address, program, registers)
        self.watched = watch
        native = self.native
        # Set the watch first: a thread that sees an unusual run reads the watch.
        native.watch = watch.address
        native.unusual = native.observed = 1
        self.on_done(watch.end)

    def enter_call(self) -> None:
        """Add an active call to the run, which the native core removes.

        Call this method only in kernels of the run.

        Raises:
            TfrtError: if the run is over, which means that the caller is not one of its kernels.
        """
        if native_process().quick.request_enter(self.address) == 0:
            refuse(
                "the run of this frame is over: use a frame before its kernel returns, or while a value"  # noqa: E501
                " that it has allocated is unavailable"
            )

    def leave_call(self) -> None:
        """Remove an active call from the run.  Any thread may call this."""
        native_process().leave_request(self.queue.context(), self.address)

    def enter(self) -> None:
        """Add an external activity to the run.

        The activity must resolve results of a kernel, which the run has allocated, and then call
        `leave`.  Call this method only in kernels of the run.
        """
        with self.lock:
            self.outside += 1
        self.enter_call()

    def leave(self, key: object = None) -> None:
        """Remove an activity that `enter` added, and the callback that was added with `key`.

        Any thread may call this.
        """
        self.leave_call()
        with self.lock:  # do this last: otherwise, the run would seem to have no thread
            self.outside -= 1
            (self._when_cancelled or {}).pop(key, None)

    def report(self, diagnostic: Diagnostic) -> None:
        """Record an error of a kernel.  The errors stay in the order in which they are raised."""
        self.diagnostics.append(diagnostic)
        shielded(lambda: self.as_caller(self.host.on_diagnostic, diagnostic))

    def note_failure(self, diagnostic: Diagnostic) -> None:
        """Record an error of a compiled operation."""
        if len(self.failures) < MAX_FAILURES and diagnostic not in self.failures:
            with self.lock:
                self.failures = (*self.failures, diagnostic)

    def refuse(self, diagnostic: Diagnostic) -> None:
        """End the run with an error because it needs more memory than its budget.

        If the run has finished, stop the tasks that it has left running.
        """
        tasks = self.code if self.refusal is None else None
        self.refusal = self.refusal or diagnostic
        if self.cancel(diagnostic) or (tasks and tasks.end_tasks(diagnostic.message)):
            self.report(diagnostic)

    def cancel(self, reason: str | Diagnostic = CANCELLED) -> bool:
        """Cancel the run: skip all kernels that have not started.

        Unavailable results become errors with `reason`.  Return False if the run was already
        cancelled or over.
        """
        with self.lock:
            if self.is_done or self.is_cancelled:
                return False
            found = cancellation(reason) if isinstance(reason, str) else reason
            if reason != CANCELLED:
                self.cancelled_value = make_error(self.queue, found)
                self.native.cancelled_value = self.cancelled_value.address
            self.cancellation = found
            is_first = bool(native_process().quick.request_cancel(self.address))
            callbacks = list((self._when_cancelled or {}).values())
        # Release the lock first: the following steps may end the run.
        if is_first:
            if self.code is not None:
                self.code.cancelled()
            # Resolve values first: a cancelled coroutine drops its values unresolved.
            self._decide_promises()
            self.decide_results()
            for callback in callbacks:
                shielded(callback)
        return is_first

    def _decide_promises(self) -> None:
        """Turn the unresolved values that a cancelled run has allocated into errors."""
        # Once is enough, because `allocate` looks at `cancellation`, too. Thousands of late
        # callbacks may call this.
        if self._promises is not None and self.cancellation is not None and not self._are_decided:
            self._promises.decide(self.cancellation)
            self._are_decided = True

    def cancel_at(self, deadline: float, seconds: float | None = None) -> Timer:
        """Cancel the run when `time.monotonic()` reaches `deadline`.

        If `seconds` is given, the error names it as the time limit.
        """
        limit = "" if seconds is None else f": the run had {float(min(seconds, FOREVER)):g} s"
        reason = cancellation(DEADLINE_EXCEEDED + limit, Ending.TIMED_OUT)
        timer = self.host.timers.at(deadline, lambda: self.cancel(reason))
        self.on_done(timer.cancel)
        return timer

    def hold_results(self) -> Sequence[AsyncValue]:
        """Return the run's results; create them if they are only in the words.

        Any thread may call this.
        """
        with self.lock:
            is_first = self.held is None
            if is_first:
                assert self.entry is not None
                self.held = ()  # `entry.results` takes them only once
                self.held = self.entry.results(self)
            held = self.held or ()
        # `cancel` has found no results to resolve.
        if is_first and self.cancellation is not None:
            self.decide_results()
        return held

    def decide_results(self) -> None:
        """Turn the unresolved results of a cancelled run into errors."""
        for value in self.held_results():
            value.decide(self.cancelled_value)

    def held_results(self) -> list[AsyncValue]:
        """Return the run's results that still exist in Python."""
        self.hold_results()
        held = [reference() for reference in self.results]
        return [value for value in held if value is not None]

    def why_never(self, value: AsyncValue, *, blocks: bool) -> Sequence[Diagnostic]:
        """Return why a result of the run will never be resolved, or nothing if it may be resolved.

        With `blocks`, assume that this thread does nothing but wait for the result.
        """
        return () if self.entry is None else self.entry.why_never(self, [value], blocks=blocks)

    def name_of(self, value: AsyncValue) -> str:
        """Return the name of a result of the run, for messages."""
        numbers = [i for i, reference in enumerate(self.results) if reference() is value]
        which = f"result {numbers[0]}" if numbers and len(self.results) > 1 else "the result"
        return f"{which} of @{self.entry.name if self.entry is not None else ''}"

    def cancel_for(self, value: AsyncValue, reason: Diagnostic) -> bool:
        """Cancel the run for its result `value`, unless other code holds other results of the run.

        Return whether the run was cancelled.
        """
        others = [one for one in self.results if one() is not value]
        if self.entry is None or any(self.entry.is_wanted(self, other) for other in others):
            return False
        self.cancel(reason)
        return True

    def allocate(
        self, type_text: str, on_broken: Callable[[], Diagnostic], counted: Counted | None = None
    ) -> AsyncValue:
        """Return a value that a kernel of the run must resolve.

        Cancelling the run makes the value an error.  For `counted`, see `Promises.own`.
        """
        value = make_unavailable(self.queue, type_text, on_broken)
        self.promises.own(value, counted)
        if self.cancellation is not None:  # the run may have been cancelled in the meantime
            with suppress(RuntimeError):  # the cancelling thread resolves it
                value.set_error(self.cancellation)
        return value

    def call_when_cancelled(self, key: object, callback: Callable[[], None]) -> None:
        """Call `callback` when the run is cancelled; if it is already cancelled, call it now.

        `key` identifies the callback for `forget_when_cancelled`.
        """
        with self.lock:
            if self._when_cancelled is None:
                self._when_cancelled = {}
            self._when_cancelled[key] = callback
            is_late = self.cancellation is not None
        if is_late:
            # The callback may drop values that the cancelling thread has not decided yet.
            self._decide_promises()
            shielded(callback)

    def forget_when_cancelled(self, key: object) -> None:
        """Drop the callback that was added with `key`."""
        with self.lock:
            (self._when_cancelled or {}).pop(key, None)

    def on_done(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the run has finished; if it has already finished, call it now."""
        with self.lock:
            if native_process().quick.request_notify(self.address) and not self.is_done:
                self._callbacks = [*(self._callbacks or ()), callback]
                return
        callback()

    def finished(self) -> None:
        """Finish the run.

        The native core calls this, on any thread, when the run is over.
        """
        process = native_process()
        if process.memory_held > at.KEPT_AT_REST and not self.host.has_runs:
            process.quick.trim_at_rest(self.queue.context())
        with self.lock:
            # Both in one step: a callback that `on_done` added in between would never be called.
            callbacks, self._callbacks = self._callbacks or (), None
            self.native.open = 0
        self.program = None
        for callback in callbacks:
            shielded(callback)

    def wait(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Work until the run has finished; return False if `timeout` seconds pass first."""
        is_over = self.queue.wait(self.address + at.REQUEST_OPEN, timeout, interrupted)
        native_process().forget(self.queue.address)
        return is_over
