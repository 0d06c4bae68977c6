"""Run compiled async programs on a host: calls, errors, and the objects that programs leave behind.

    with HostContext("mstd:2") as host, AsyncRuntime(host) as runtime:
        code = compile_program(module, runtime.functions)
        runtime.run(code.address("__packed_main"))

A program's errors are raised as `TfrtError`.  Some mistakes can come only from an incorrect
compiler or from hand-written runtime operations, such as resolving a token twice.  These mistakes
are also raised as errors.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tfrt_runtime.async_runtime import objects
from tfrt_runtime.async_runtime.externals import failure_of_call
from tfrt_runtime.async_runtime.runs import (
    print_here,
)
from tfrt_runtime.diagnostics import Diagnostic, error
from tfrt_runtime.host import structs
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Context, Value
from tfrt_runtime.native import layouts as at

if TYPE_CHECKING:
    from tfrt_runtime.async_runtime.buffers import Lender
from tfrt_runtime.async_runtime.host_runtime import INTERRUPTED, HostRuntime

BUFFER_EVENTS = frozenset(
    {
        at.EVENT_BORROW_BUFFER,
        at.EVENT_BUFFER_ARRIVED,
        at.EVENT_RETURN_BUFFER,
        at.EVENT_TENSOR_ARRIVED,
    }
)
"""The events about tensors, which `buffers` answers."""
EXHAUSTED = "tasks wait inside one another, and no thread has stack space left"


class AsyncRuntime(HostRuntime):
    """The runtime of one host's async programs.  Close it, or use it in a `with` statement."""

    def on_event(self, context: int, event: int, argument: int) -> int:
        match event:
            case at.EVENT_DESCRIBE:
                return self._process.error_value(context, self._failure(context, argument))
            case at.EVENT_OVERFILLED:
                found = objects.overfilled(argument)
                self._mistake(found)
                return self._process.error_value(context, found)
            case at.EVENT_WAITING | at.EVENT_LOOK:
                self._look(context, argument, has_nothing_to_do=event == at.EVENT_WAITING)
            case at.EVENT_THREAD:
                print_here(f"Current thread id: {threading.get_ident()}\n")
            case _ if event in BUFFER_EVENTS:
                return self._tensors().on_event(context, event, argument)
            case at.EVENT_FAILED:
                self._call_failed(context, argument)
            case at.EVENT_INTERRUPTED:
                return self._process.error_value(context, self._reason_to_stop(context, argument))
            case at.EVENT_REFUSED:
                self._refused(context, argument)
            case at.EVENT_CANCELLED:
                run: Request = self._process.requests[argument]
                if run.code is not None:
                    run.code.cancelled()
            case at.EVENT_SIGNAL:
                self._see_signals(context, argument)
            case at.EVENT_RESOLVED_TWICE:
                message = f"{objects.title(argument)} is resolved twice"
                self._mistake(error(message, objects.maker_place(argument)))
            case at.EVENT_RELEASED_TOO_OFTEN:
                message = f"{objects.title(argument)} is released too many times"
                self._mistake(error(message, objects.maker_place(argument)))
            case at.EVENT_DROPPED_TOO_OFTEN:
                self._mistake(objects.read_error(argument))
        return 0

    def _tensors(self) -> Lender:
        """Return the object that lends tensors to compiled code.  The first call loads numpy."""
        from tfrt_runtime.async_runtime.buffers import Lender

        with self._registry:  # create only one: two lenders would not know each other's tensors
            if self._lender is None:
                self._lender = Lender(self._process, self._call_failed)
            return self._lender

    def _call_failed(self, context: int, failure: int) -> None:
        """Report an error value to the current host program's run.

        A call to compiled code, or a result of such a call, has failed with this error.
        """
        run: Request = self._process.requests[Context.at(context).request]
        diagnostic: Diagnostic = self._process.objects.get(Value.at(failure).payload)
        if not run.is_cancelled and diagnostic not in run.diagnostics:
            run.report(diagnostic)

    def _failure(self, context: int, record: int) -> Diagnostic:
        """Return why an operation failed.

        The reason is either in the operation's record or the exception that a Python function
        raised.
        """
        found, is_interrupt = failure_of_call(objects.read_error(record))
        run = self._runs.request(Context.at(context).run)
        if is_interrupt and run is not None:
            run.interrupt = found.cause or KeyboardInterrupt()
            run.cancel(INTERRUPTED)
        elif run is not None and found.location is not None:
            run.note_failure(found)
        return found

    def _reason_to_stop(self, context: int, record: int) -> Diagnostic:
        """Return why a thread's code stops at an operation, or does not start."""
        place = objects.read_place(record) if record else None
        found = self._runs.left(Context.at(context).run, place)
        return found or self._cancelled or error(objects.UNKNOWN, place)

    def _refused(self, context: int, record: int) -> None:
        """End the run of a thread that was refused memory; `record` describes the operation."""
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

    def _see_signals(self, context: int, record: int) -> None:
        """If Ctrl-C was pressed, end the loop that is keeping the main thread busy."""
        if threading.current_thread() is threading.main_thread() and INTERRUPTS.is_noted:
            run = self._runs.request(Context.at(context).run)
            if run is None:
                self._cancel_left(context, error(INTERRUPTED, objects.read_place(record)))
            else:
                run.cancel(INTERRUPTED) or self.end_tasks(run, INTERRUPTED)

    def _mistake(self, found: Diagnostic) -> None:
        """Record a mistake in the program, unless the same mistake is already recorded."""
        if found not in self.mistakes:
            self.mistakes.append(found)

    def _look(self, context: int, awaited: int, *, has_nothing_to_do: bool) -> None:
        """End a thread's wait in compiled code if the wait is interrupted or can never succeed."""
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
            # The code of these contexts only waits, even if their epochs are odd.
            others = (context, *self._beneath)
            if self.starvation.is_stuck(others):
                if not self.starvation.end_groups(context):
                    self.starvation.end(context, awaited)
                if (reason := self.starvation.reason(awaited)) is not None:
                    self._mistake(reason)  # a function may await without checking for errors
            elif self._exhaustion.is_noticed(others) and not self._rescuers.add():
                self.starvation.abandon(
                    context, awaited, error(EXHAUSTED, objects.maker_place(awaited))
                )


def _cancellation(context: int) -> int:
    """Return the error value of the cancelled run whose kernel runs in `context`, or 0."""
    request = Context.at(context).request
    return structs.Request.at(request).cancel if request else 0
