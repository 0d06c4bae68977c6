"""Compiled async programs on a host: calling them, their errors, and what they leave behind.

    with HostContext("mstd:2") as host, AsyncRuntime(host) as runtime:
        code = compile_program(module, runtime.functions)
        runtime.run(code.address("__packed_main"))

A program's errors come back as `TfrtError`.  What only a wrong compiler or hand-written runtime
operations can do, such as resolving a token twice, is an error of the run, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tfrt_runtime.async_runtime import objects
from tfrt_runtime.async_runtime.connection import (
    RUNTIMES,
    connect,
    prepare,
    print_here,
    runtime_functions,
)
from tfrt_runtime.async_runtime.externals import failure_of_call
from tfrt_runtime.async_runtime.printing import Sink
from tfrt_runtime.async_runtime.runs import known_runs
from tfrt_runtime.async_runtime.starvation import Exhaustion, Rescuers, Starvation
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host import structs
from tfrt_runtime.host.context import CANCELLED, HOST_CLOSED, HostContext
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Context, Value, Waiter
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.waiting import rest_of
from tfrt_runtime.native import async_layouts as co
from tfrt_runtime.native import layouts as at

if TYPE_CHECKING:
    from tfrt_runtime.async_runtime.buffers import Lender

INTERRUPTED = "interrupted"
BUFFER_EVENTS = frozenset(
    {
        co.EVENT_BORROW_BUFFER,
        co.EVENT_BUFFER_ARRIVED,
        co.EVENT_RETURN_BUFFER,
        co.EVENT_TENSOR_ARRIVED,
    }
)
"""What native code asks of tensors, which are Python objects (`buffers`)."""
EXHAUSTED = "tasks wait inside of each other until no thread has stack left"


class AsyncRuntime:
    """The runtime of the async programs of one host; close it, or use it in a `with` statement."""

    def __init__(
        self, host: HostContext, *, checked: bool = False, output: Sink | None = None
    ) -> None:
        """
        Args:
            checked: keep an eye on every object, so that `live_objects` knows all of them and a
                reference that is dropped too often is an error of the run instead of a crash.
            output: where programs print, if not where the host's do.

        Raises:
            TfrtError: if the host has a runtime already.
        """
        self.host = host
        self.queue = host.work_queue
        self.mistakes: list[Diagnostic] = []
        """What went wrong apart from the program's own errors, since the last run began."""
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
        """Drop the host.  Nothing may run; what programs have left behind is lost.

        Their code may be gone.
        """
        if self._is_open:
            self._is_open = False
            context = self.queue.context()
            self._uncancel(context)
            self._runs.settled(self.queue.address, context)
            self._destroy_dead()
            self.queue.native.async_ = 0
            RUNTIMES.pop(self.queue.address, None)  # gone already if this is garbage

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
        """Whether the objects that are made from now on are kept an eye on; see `__init__`."""
        return self._words.checked != 0

    @checked.setter
    def checked(self, checked: bool) -> None:
        self._words.checked = int(checked)

    @functools.cached_property
    def functions(self) -> dict[str, int]:
        """What compiled programs call, by C name: the runtime's functions, and those that print."""
        return runtime_functions()

    def run(self, function: int, *pointers: int) -> None:
        """Call a compiled function, and wait until all that it has started is over.

        Args:
            function: takes a pointer to pointers, and says whether it failed.
            pointers: addresses of its arguments, then of the places for its results.

        Raises:
            TfrtError: the program's error, and what else was wrong.
            KeyboardInterrupt: on the main thread, if it was interrupted.
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
        """Call a compiled function on this thread; why it failed, or None.

        Tasks that it has started may still run.  This thread runs tasks while the function waits.
        The call is part of `run`.
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
        """Within: what runs further down on this thread's stack, with `own`, cannot go on."""
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
        problem = AsyncValue(self.queue, address).exception(0)
        return None if problem is None else problem.diagnostics[0]

    def settle(self) -> None:
        """Run what is queued, and wait until nothing runs any more.

        Objects that no code can resolve any more become errors.
        """
        self.queue.work_until(self.has_settled)

    def is_at_rest(self) -> bool:
        """Whether nothing runs."""
        return rest_of(self.queue, self._beneath) is not None

    def has_settled(self) -> bool:
        """Whether nothing runs any more; a thread that asks again and again works in between.

        Objects that no code can resolve any more become errors.
        """
        context = self.queue.context()
        if not self.is_at_rest() or self.starvation.end_all(context):
            return False
        self._uncancel(context)
        self._runs.settled(self.queue.address, context)
        self._sweep()
        return True

    def _cancel(self, context: int, diagnostic: Diagnostic) -> None:
        """From now on no task starts; each that would start is an error instead."""
        if self._cancelled is None:
            self._cancelled = diagnostic
            self._words.cancelled = self._process.error_value(context, diagnostic)
            self._runs.stop_host(self.queue.address)

    def _cancel_left(self, context: int, diagnostic: Diagnostic) -> None:
        """End what the code of this thread, which outlives its run or had none, has left."""
        if number := Context.at(context).run:
            self._runs.cancel(number, diagnostic, self.queue.address, context)
        else:
            self._cancel(context, diagnostic)

    def _uncancel(self, context: int) -> None:
        """Nothing runs: what starts from now on belongs to another run."""
        self._cancelled = None
        value = self._words.cancelled
        self._words.cancelled = 0
        if value:
            self._process.quick.value_drop(context, value)

    def live_objects(self) -> list[objects.LiveObject]:
        """The objects that have references: all if the runtime is checked, else the groups.

        Exact while nothing runs; the code that made them must be alive.
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
        """Release the objects of the lists, and the tensors, that no code uses; on any thread."""
        self._visit_imports(0, 0)
        if self._lender is not None:
            self._lender.sweep()
        if self._words.registered > 0:
            self._sweep()
        # A cancelled run of host functions never settles, nor what outlives its run; where no task
        # waits, their errors are not needed.
        owns_errors = self._cancelled is not None or self._runs.owns_errors
        if owns_errors and self.is_at_rest() and not self.starvation.has_waiting_tasks():
            self._uncancel(self.queue.context())
            self._runs.settled(self.queue.address, self.queue.context())

    def _visit_imports(self, request: int, failure: int) -> None:
        if self._words.imports != 0:
            visit = self._process.slow.visit_imports
            visit(self.queue.context(), self._words.address, request, failure)

    def end_code(self, run: Request) -> None:
        """A run is cancelled: its code ends, and what its coroutines wait for from the host are
        errors.
        """
        failure = run.refusal or error(run.cancel_message or CANCELLED)
        self._runs.cancel(run.id, failure, self.queue.address, self.queue.context())
        self._visit_imports(run.address, run.native.cancel)
        self.queue.hand_over()

    def _host_closed(self) -> None:
        """What the runs of the host have left running ends, too."""
        if self._is_open and not self.is_at_rest():
            self._cancel(self.queue.context(), error(HOST_CLOSED))

    def _interrupt(self) -> None:
        """End the runs whose compiled code runs."""
        for context in self.queue.contexts:
            run = self._runs.request(Context.at(context).run)
            if run is not None:
                run.cancel(INTERRUPTED) or self.end_tasks(run, INTERRUPTED)

    def _sweep(self) -> None:
        with self._registry:
            self._destroy_dead()

    def _destroy_dead(self) -> None:
        sweep = self._process.quick.async_sweep
        sweep(self.queue.context(), self._words.address)

    def on_event(self, context: int, event: int, argument: int) -> int:
        """What native code tells: on any thread, within compiled code that runs with `context`."""
        if event == co.EVENT_DESCRIBE:
            return self._process.error_value(context, self._failure(context, argument))
        if event == co.EVENT_OVERFILLED:
            found = objects.overfilled(argument)
            self._mistake(found)
            return self._process.error_value(context, found)
        if event in (co.EVENT_WAITING, co.EVENT_LOOK):
            self._look(context, argument, has_nothing_to_do=event == co.EVENT_WAITING)
        elif event == co.EVENT_THREAD:
            print_here(f"Current thread id: {threading.get_ident()}\n")
        elif event in BUFFER_EVENTS:
            return self._tensors().on_event(context, event, argument)
        elif event == co.EVENT_FAILED:
            self._call_failed(context, argument)
        elif event == co.EVENT_INTERRUPTED:
            return self._process.error_value(context, self._reason_to_stop(context, argument))
        elif event == co.EVENT_REFUSED:
            self._refused(context, argument)
        elif event == co.EVENT_CANCELLED:
            self._cancelled_by_kernel(argument)
        elif event == co.EVENT_SIGNAL:
            self._see_signals(context, argument)
        elif event == co.EVENT_RESOLVED_TWICE:
            message = f"{objects.title(argument)} is resolved twice"
            self._mistake(error(message, objects.maker_place(argument)))
        elif event == co.EVENT_RELEASED_TOO_OFTEN:
            message = f"{objects.title(argument)} is released too often"
            self._mistake(error(message, objects.maker_place(argument)))
        elif event == co.EVENT_DROPPED_TOO_OFTEN:
            self._mistake(objects.read_error(argument))
        return 0

    def _tensors(self) -> Lender:
        """What lends tensors to compiled code; numpy is loaded when a program first asks for
        one.
        """
        from tfrt_runtime.async_runtime.buffers import Lender

        with self._registry:  # two would not know of each other's tensors
            if self._lender is None:
                self._lender = Lender(self._process, self._call_failed)
            return self._lender

    def _call_failed(self, context: int, failure: int) -> None:
        """A call by a host program, or a result of it, is an error value: its run hears of that
        once.
        """
        run = self._process.requests[Context.at(context).request]
        diagnostic = self._process.objects.get(Value.at(failure).payload)
        assert isinstance(run, Request)
        assert isinstance(diagnostic, Diagnostic)
        if not run.is_cancelled and diagnostic not in run.diagnostics:
            run.report(diagnostic)

    def _failure(self, context: int, record: int) -> Diagnostic:
        """Why an operation fails: its record says so, or what a function of Python has raised."""
        found, is_interrupt = failure_of_call(objects.read_error(record))
        run = self._runs.request(Context.at(context).run)
        if is_interrupt and run is not None:
            run.interrupt = found.cause or KeyboardInterrupt()
            run.cancel(INTERRUPTED)
        elif run is not None and found.location is not None:
            run.note_failure(found)
        return found

    def _reason_to_stop(self, context: int, record: int) -> Diagnostic:
        """Why the code of a thread ends at a place, or does not start."""
        place = objects.read_place(record) if record else None
        found = self._runs.left(Context.at(context).run, place)
        return found or self._cancelled or error(objects.UNKNOWN, place)

    def _refused(self, context: int, record: int) -> None:
        """The run of a thread needs more memory than it may have, for the operation of a record."""
        own = Context.at(context)
        size, own.refused = own.refused, 0
        run = self._runs.request(own.run)
        with self._process.refusing() as is_first:
            if not is_first:
                return
            name = f"'{objects.read_text(record)}'" if record else "compiled code"
            place = objects.read_place(record) if record else None
            found = error(self._process.refusal(context, size, name), place)
            if run is not None:
                run.refuse(found)
            else:
                self._cancel_left(context, found)

    def _cancelled_by_kernel(self, request: int) -> None:
        run = self._process.requests[request]
        assert isinstance(run, Request)
        if run.code is not None:
            run.code.cancelled()

    def _see_signals(self, context: int, record: int) -> None:
        """A loop runs while Ctrl-C was pressed: it ends if it keeps the main thread busy."""
        if threading.current_thread() is threading.main_thread() and INTERRUPTS.is_noted:
            run = self._runs.request(Context.at(context).run)
            if run is None:
                self._cancel_left(context, error(INTERRUPTED, objects.read_place(record)))
            else:
                run.cancel(INTERRUPTED) or self.end_tasks(run, INTERRUPTED)

    def serve(self, run: Request) -> None:
        """Let a run that begins call compiled code: it prints where the run does, also in tasks
        that outlive it.

        The code ends if the run is cancelled.  Where the run gets stuck, groups that lack members
        and results of calls become errors.
        """
        if self._cancelled is not None:
            self.tidy()
        self._runs.begin(run)
        run.on_done(self.tidy)
        run.code = CodeOfRun(self, run)
        if run.is_cancelled:  # the host was, before the run began
            run.code.cancelled()

    def end_tasks(self, run: Request, message: str) -> bool:
        """End what a run has left running when it was over; False if nothing runs.

        Loops and calls end, and tasks do not start.
        """
        if run.is_cancelled or self.is_at_rest():
            return False
        failure = run.refusal or error(message)
        self._runs.cancel(run.id, failure, self.queue.address, self.queue.context())
        return True

    def print(self, text: str) -> None:
        """Print without a run."""
        self._output(text)

    def _mistake(self, found: Diagnostic) -> None:
        """Keep what the program does wrong; a loop does the same thing wrong many times."""
        if found not in self.mistakes:
            self.mistakes.append(found)

    def _look(self, context: int, awaited: int, *, has_nothing_to_do: bool) -> None:
        """A thread waits in compiled code: end that, if it is interrupted or waits in vain."""
        message = self._runs.message(Context.at(context).run)
        if INTERRUPTS.is_noted and threading.current_thread() is threading.main_thread():
            message = INTERRUPTED
            self._cancel(context, error(INTERRUPTED, objects.maker_place(awaited)))
        if message is not None:
            self.starvation.abandon(context, awaited, error(message, objects.maker_place(awaited)))
        elif self._cancelled is not None:
            self.starvation.abandon(context, awaited, self._cancelled)
        elif cancelled := _cancellation(context):
            self._process.quick.value_add_reference(cancelled)
            self.starvation.resolve(context, awaited, cancelled)
        elif has_nothing_to_do:
            others = (context, *self._beneath)
            if self.starvation.is_stuck(others):
                if not self.starvation.end_groups(context):
                    self.starvation.end(context, awaited)
                if (reason := self.starvation.reason(awaited)) is not None:
                    self._mistake(reason)  # a function may await and not ask for errors
            elif self._exhaustion.is_noticed(others) and not self._rescuers.add():
                self.starvation.abandon(
                    context, awaited, error(EXHAUSTED, objects.maker_place(awaited))
                )


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    """A call of the method, for as long as its object lives for other reasons."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        if (found := reference()) is not None:
            found()

    return call


@contextlib.contextmanager
def _working_for(context: int, number: int) -> Iterator[None]:
    """Within: a context works for the run with that number."""
    own = Context.at(context)
    former, own.run = own.run, number
    try:
        yield
    finally:
        own.run = former


def _cancellation(context: int) -> int:
    """The error value of the run whose kernel is in `context`, if that is cancelled, else 0."""
    request = Context.at(context).request
    return structs.Request.at(request).cancel if request else 0


class CodeOfRun:
    """The code of a host's runtime, for one of its runs.  Safe from any thread."""

    def __init__(self, runtime: AsyncRuntime, run: Request) -> None:
        self._runtime = runtime
        self._run = weakref.ref(run)

    def cancelled(self) -> None:
        """The run is cancelled: its code ends."""
        if (run := self._run()) is not None:
            self._runtime.end_code(run)

    def goes_on(self) -> bool:
        """Whether the run, which was found stuck, goes on: what it waits for has become an
        error.
        """
        if not self._runtime.has_settled():
            return True
        run = self._run()
        natives = [] if run is None else [value.native for value in run.held_results()]
        results = [made for made in map(_awaited_object, natives) if made]
        for made in results:
            self._runtime.starvation.end(self._runtime.queue.context(), made)
        return bool(results)

    def has_settled(self) -> bool:
        """Whether nothing that the run has started is left, as far as other runs' tasks let it be
        known.

        The run then hears of what its code did wrong.
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
        """End the tasks that the run has left running when it was over; False if nothing runs."""
        run = self._run()
        return run is not None and self._runtime.end_tasks(run, message)

    def waits(self) -> list[Diagnostic]:
        """Notes on what threads wait for in compiled code at this moment."""
        return self._runtime.starvation.waits()


def _awaited_object(value: int) -> int:
    """The unresolved object of compiled code that a result of a run stands for, or 0.

    Nothing runs.  Such an object has a waiter that the call left which returned it.
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
