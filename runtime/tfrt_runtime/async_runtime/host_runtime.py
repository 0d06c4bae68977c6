"""The base class of the async runtime: run compiled code on a host, and stop it."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tfrt_runtime.async_runtime import objects
from tfrt_runtime.async_runtime.printing import Sink
from tfrt_runtime.async_runtime.runs import (
    RUNTIMES,
    connect,
    known_runs,
    prepare,
    runtime_functions,
)
from tfrt_runtime.async_runtime.starvation import Exhaustion, Rescuers, Starvation
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host.context import CANCELLED, HOST_CLOSED, HostContext
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Context, Value, Waiter
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.waiting import rest_of
from tfrt_runtime.native import layouts as at

if TYPE_CHECKING:
    from tfrt_runtime.async_runtime.buffers import Lender

INTERRUPTED = "interrupted"


class HostRuntime(ABC):
    """Runs compiled code on a host and stops it.

    The runtime tracks the work and the objects that the code leaves behind.
    """

    def __init__(
        self, host: HostContext, *, checked: bool = False, output: Sink | None = None
    ) -> None:
        """Make a host's runtime.

        Args:
            checked: whether to track every object.  If so, `live_objects` knows all objects, and
                dropping a reference too often is an error in the run instead of a crash.
            output: receives the text that programs print.  By default, the text goes to the output
                of the host's runs.

        Raises:
            TfrtError: if the host already has a runtime.
        """
        self.host = host
        self.queue = host.work_queue
        self.mistakes: list[Diagnostic] = []
        """Mistakes found since the last run started, other than the program's own errors."""
        self._process = native_process()
        connect()
        self._runs = known_runs()
        self._output = output or host.print
        self._registry = threading.RLock()
        self._lender: Lender | None = None
        self._beneath: set[int] = set()
        self._exhaustion = Exhaustion(self.queue)
        self._rescuers = Rescuers(self.queue)
        self._cancelled: Diagnostic | None = None
        if self.queue.address in RUNTIMES:
            raise TfrtError(error("the host has an async runtime already"))
        RUNTIMES[self.queue.address] = self
        self._is_open = True
        self._words = prepare(self.queue, checked=checked)
        self.starvation = Starvation(host, self._process, self._words.address)
        host.when_closed = _weakly(self._host_closed)
        host.when_quiet = _weakly(self.tidy)
        self.queue.when_interrupted = _weakly(self._interrupt)

    def close(self) -> None:
        """Disconnect from the host.

        Nothing may be running.  Objects that programs have left behind are leaked, because their
        code may no longer exist.
        """
        if self._is_open:
            self._is_open = False
            context = self.queue.context()
            self._uncancel(context)
            self._runs.settled(self.queue.address, context)
            self._sweep()
            self.queue.native.async_ = 0
            RUNTIMES.pop(self.queue.address, None)  # already gone if this is garbage

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def checked(self) -> bool:
        """Whether objects that are created from now on are tracked; see `__init__`."""
        return self._words.checked != 0

    @checked.setter
    def checked(self, checked: bool) -> None:
        self._words.checked = int(checked)

    @functools.cached_property
    def functions(self) -> dict[str, int]:
        """The functions that compiled programs call, by C name.

        These are the runtime's own functions and the printers.
        """
        return runtime_functions()

    def run(self, function: int, *pointers: int) -> None:
        """Call a compiled function, and wait until all work that it has started has finished.

        Args:
            function: the address of a function that takes a pointer to pointers, and returns
                whether it failed.
            pointers: the addresses of the function's arguments, followed by the addresses at which
                to store its results.

        Raises:
            TfrtError: if the program fails, or if other mistakes are found.
            KeyboardInterrupt: if the main thread was interrupted.
        """
        self.mistakes.clear()
        try:
            failure = self.call(function, *pointers)
            self.settle()
        except KeyboardInterrupt:
            self._cancel(self.queue.context(), error(INTERRUPTED))
            self.settle()
            raise
        if failure is not None or self.mistakes:
            found = [] if failure is None else [failure]
            raise TfrtError(*found, *(one for one in self.mistakes if one not in found))

    def call(self, function: int, *pointers: int, run: Request | None = None) -> Diagnostic | None:
        """Call a compiled function on this thread; return why it failed, or None if it did not.

        This thread runs tasks while the function waits.  Tasks that the function has started may
        still be running when this method returns.  The call belongs to `run`.
        """
        self.queue.start()
        arguments = (ctypes.c_int64 * max(1, len(pointers)))(*pointers)
        enter = self._process.slow.async_call
        own = self.queue.context()
        with (
            INTERRUPTS,
            contextlib.closing(self._rescuers),
            self.queue.helper() as context,
            self._above(own, context),
            _working_for(context, 0 if run is None else run.id),
        ):
            failed = enter(context, function, ctypes.addressof(arguments))
            failure = self._take_failure(context)
        return (failure or error(objects.UNKNOWN)) if failed else None

    @contextlib.contextmanager
    def _above(self, own: int, context: int) -> Iterator[None]:
        """Record that code further down this thread's stack waits for the code in the `with` block.

        `own` is the context of the waiting code, and `context` is the context of the block.
        """
        # If an outer call has already recorded `own`, only that call may remove it.
        is_nested = own != context and own not in self._beneath
        if is_nested:
            self._beneath.add(own)
        try:
            yield
        finally:
            if is_nested:
                self._beneath.discard(own)

    def _take_failure(self, context: int) -> Diagnostic | None:
        own = Context.at(context)
        address, own.failure = own.failure, 0
        if address == 0:
            return None
        # The AsyncValue takes over the word's reference to the error.
        problem = AsyncValue(self.queue, address).exception(0)
        return None if problem is None else problem.diagnostics[0]

    def settle(self) -> None:
        """Run all queued work, and wait until nothing is running.

        Objects that no code can resolve any longer become errors.
        """
        self.queue.work_until(self.has_settled)

    def is_at_rest(self) -> bool:
        """Return whether nothing is running."""
        return rest_of(self.queue, self._beneath) is not None

    def has_settled(self) -> bool:
        """Return whether all work has stopped.

        If nothing is running, objects that no code can resolve any longer become errors.  A thread
        may call this method in a loop, and run tasks between the calls.
        """
        context = self.queue.context()
        # The new errors wake the tasks that waited for these objects, so work is left.
        if not self.is_at_rest() or self.starvation.end_all(context):
            return False
        self._uncancel(context)
        self._runs.settled(self.queue.address, context)
        self._sweep()
        return True

    def _cancel(self, context: int, diagnostic: Diagnostic) -> None:
        """Prevent further tasks from starting: each of them becomes an error instead."""
        if self._cancelled is None:
            # Set the error first: code that sees the flag, which `stop_host` sets, asks for the
            # error.
            self._cancelled = diagnostic
            self._words.cancelled = self._process.error_value(context, diagnostic)
            self._runs.stop_host(self.queue.address)

    def _cancel_left(self, context: int, diagnostic: Diagnostic) -> None:
        """End the remaining work of this thread's code.

        The work outlives its run, or never had a run.
        """
        if number := Context.at(context).run:
            self._runs.cancel(number, diagnostic, self.queue.address, context)
        else:
            self._cancel(context, diagnostic)

    def _uncancel(self, context: int) -> None:
        """Undo `_cancel`, because new work belongs to another run.

        Call this method only while nothing is running.
        """
        self._cancelled = None
        value = self._words.cancelled
        self._words.cancelled = 0
        if value:
            self._process.quick.value_drop(context, value)

    def live_objects(self) -> list[objects.LiveObject]:
        """Return the objects that still have references.

        If the runtime is checked, these are all objects; otherwise, only groups.  The result is
        exact only while nothing is running.  The code that created the objects must still be
        loaded.
        """
        return [
            objects.live_object(address, self.starvation.reason(address))
            for address in self._registered()
            if objects.references(address)
        ]

    def _registered(self) -> Iterator[int]:
        address = self._words.objects
        while address:
            yield address
            address = Value.at(address).next

    def tidy(self) -> None:
        """Release listed objects and tensors that no code uses.

        Threads:
            any
        """
        self._visit_imports(0, 0)
        if self._lender is not None:
            self._lender.sweep()
        if self._words.registered > 0:
            self._sweep()
        # A cancelled run of host functions never settles, and neither does work that outlives its
        # run.  If no task is waiting, nothing needs these runs' errors.
        owns_errors = self._cancelled is not None or self._runs.owns_errors
        if owns_errors and self.is_at_rest() and not self.starvation.has_waiting_tasks():
            self._uncancel(self.queue.context())
            self._runs.settled(self.queue.address, self.queue.context())

    def _visit_imports(self, request: int, failure: int) -> None:
        # A cancellation must find all imports. If another thread is visiting some of them, it puts
        # them back within microseconds. The limit only matters if a visit itself cancels a run: the
        # outer visit on this thread cannot continue until this one returns.
        for _ in range(self._words.imported and (1000 if request else 1)):
            context, visit = self.queue.context(), self._process.slow.visit_imports
            if visit(context, self._words.address, request, failure) >= self._words.imported:
                break
            time.sleep(0)

    def end_code(self, run: Request) -> None:
        """Stop the compiled code of a cancelled run.

        The host values that its coroutines are awaiting become errors for these coroutines.
        """
        failure = run.refusal or error(run.cancellation.message if run.cancellation else CANCELLED)
        self._runs.cancel(run.id, failure, self.queue.address, self.queue.context())
        self._visit_imports(run.address, run.native.cancel)
        self.queue.hand_over()

    def _host_closed(self) -> None:
        """Stop the work that the host's runs have left running."""
        if self._is_open and not self.is_at_rest():
            self._cancel(self.queue.context(), error(HOST_CLOSED))

    def _interrupt(self) -> None:
        """End the runs whose compiled code is running."""
        for context in self.queue.contexts:
            run = self._runs.request(Context.at(context).run)
            if run is not None:
                # If the run has finished, only its tasks are left to stop.
                run.cancel(INTERRUPTED) or self.end_tasks(run, INTERRUPTED)

    def _sweep(self) -> None:
        with self._registry:
            self._process.quick.async_sweep(self.queue.context(), self._words.address)

    def serve(self, run: Request) -> None:
        """Let a starting run call compiled code.

        The code's output goes where the run's output goes, even in tasks that outlive the run.  The
        code stops if the run is cancelled.  If the run gets stuck, two kinds of objects become
        errors: groups that lack members, and results of calls.
        """
        if self._cancelled is not None:
            # Otherwise, the run's tasks would end with the error of the work that was cancelled
            # before.
            self.tidy()
        self._runs.begin(run)
        run.on_done(self.tidy)
        run.code = CodeOfRun(self, run)
        if run.is_cancelled:  # the host was cancelled before the run started
            run.code.cancelled()

    def end_tasks(self, run: Request, message: str) -> bool:
        """Stop the work that a finished run has left running.

        Loops and calls stop, and tasks that have not started never start.  Return False if nothing
        is running.
        """
        if run.is_cancelled or self.is_at_rest():
            return False
        failure = run.refusal or error(message)
        self._runs.cancel(run.id, failure, self.queue.address, self.queue.context())
        return True

    @abstractmethod
    def on_event(self, context: int, event: int, argument: int) -> int:
        """Handle an event of compiled code that is running with `context`.

        Threads:
            any
        """

    def print(self, text: str) -> None:
        """Print text that does not belong to any run."""
        self._output(text)


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    """Return a function that calls `method`, but does not keep the method's object alive."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        if (found := reference()) is not None:
            found()

    return call


@contextlib.contextmanager
def _working_for(context: int, number: int) -> Iterator[None]:
    """Make a context work for run `number` in the `with` block."""
    own = Context.at(context)
    former, own.run = own.run, number
    try:
        yield
    finally:
        own.run = former


class CodeOfRun:
    """Lets a run stop the compiled code that it has started, and ask what that code waits for.

    Threads:
        any
    """

    def __init__(self, runtime: HostRuntime, run: Request) -> None:
        self._runtime = runtime
        self._run = weakref.ref(run)

    def cancelled(self) -> None:
        """Stop the run's code because the run is cancelled."""
        if (run := self._run()) is not None:
            self._runtime.end_code(run)

    def goes_on(self) -> bool:
        """Turn objects that a stuck run awaits into errors; return whether the run can continue."""
        if not self._runtime.has_settled():
            return True
        run = self._run()
        natives = [] if run is None else [value.native for value in run.held_results()]
        results = [made for made in map(_awaited_object, natives) if made]
        for made in results:
            self._runtime.starvation.end(self._runtime.queue.context(), made)
        return bool(results)

    def has_settled(self) -> bool:
        """Return whether all work that the run has started has finished.

        The result may be False even if only other runs' tasks are left.  If it is True, all
        mistakes in the run's code have been reported to the run.
        """
        if not self._runtime.has_settled():
            return False
        run = self._run()
        mistakes, self._runtime.mistakes = self._runtime.mistakes, []
        for mistake in mistakes:
            if run is not None and mistake not in run.diagnostics:
                run.report(mistake)
        return True

    def end_tasks(self, message: str) -> bool:
        """End the tasks that a finished run has left running; return False if there are none."""
        run = self._run()
        return run is not None and self._runtime.end_tasks(run, message)

    def waits(self) -> list[Diagnostic]:
        """Return notes on the objects that threads in compiled code currently wait for."""
        return self._runtime.starvation.waits()


def _awaited_object(value: int) -> int:
    """Return the compiled code's unresolved object that a run's result represents, or 0.

    A result represents an object if it has a waiter of the kind that `kernel_return_object` or
    `kernel_return_buffer_object` adds.  Call this function only while nothing is running.
    """
    library = native_process().library
    arrived = {library[f"compiled_kernels.{name}_arrived"] for name in ("result", "buffer")}
    while value and (state := Value.at(value).state) & at.STATE_BITS < at.CONCRETE:
        waiter = state & ~at.STATE_BITS
        while waiter:
            one = Waiter.at(waiter)
            if one.kind == at.WAIT_NOTIFY and one.first in arrived:
                return value
            waiter = one.next
        found = Value.at(value)
        value = found.target if found.is_indirect else 0
    return 0
