"""Calls of compiled functions by host programs: what of them is Python's.

That is telling runs of errors, and tensors, which are Python objects.  The rest is native
(`native.compiled_kernels`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tfrt_runtime.diagnostics import Diagnostic, error
from tfrt_runtime.host.process import NativeProcess, request_of
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import WORDS, Context, Value, words_at
from tfrt_runtime.native import async_layouts as co
from tfrt_runtime.native import layouts as at

if TYPE_CHECKING:
    from tfrt_runtime.async_runtime.buffers import Lender

KERNEL_EVENTS = frozenset(
    {
        co.EVENT_BORROW_BUFFER,
        co.EVENT_BUFFER_ARRIVED,
        co.EVENT_FAILED,
        co.EVENT_RETURN_BUFFER,
        co.EVENT_TENSOR_ARRIVED,
    }
)


def error_value(process: NativeProcess, context: int, diagnostic: Diagnostic) -> int:
    """An error value with one reference."""
    value = process.quick.value_make(context, 0)
    handle = process.objects.add(diagnostic)
    process.quick.value_set_error(context, value, handle)
    return value


class KernelCalls:
    """The calls on one host."""

    def __init__(self, process: NativeProcess) -> None:
        self._process = process
        self._lock = threading.RLock()
        self._lender: Lender | None = None

    @property
    def lender(self) -> Lender:
        """Lends tensors to compiled code; numpy is loaded when a program first asks for one."""
        from tfrt_runtime.async_runtime.buffers import Lender

        with self._lock:  # two would not know of each other's tensors
            if self._lender is None:
                self._lender = Lender(self._process)
            return self._lender

    def sweep(self) -> None:
        """Release the tensors that no code uses any more."""
        if self._lender is not None:
            self._lender.sweep()

    def on_event(self, context: int, event: int, argument: int) -> int:
        """What native code tells, on any thread; the answer is the event's."""
        if event == co.EVENT_FAILED:
            self._failed(context, argument)
        elif event == co.EVENT_BORROW_BUFFER:
            return self._borrow_buffer(context, argument)
        elif event == co.EVENT_RETURN_BUFFER:
            self._return_buffer(context, argument)
        elif event == co.EVENT_TENSOR_ARRIVED:
            return self._tensor_arrived(context, argument)
        elif event == co.EVENT_BUFFER_ARRIVED:
            return self._buffer_arrived(context, argument)
        return 0

    def _failed(self, context: int, failure: int) -> None:
        """A call, or a result of it, failed: its run hears of that once."""
        run = self._process.requests[request_of(context)]
        handle = Value.at(failure).payload
        diagnostic = self._process.objects.get(handle)
        assert isinstance(run, Request)
        assert isinstance(diagnostic, Diagnostic)
        if not run.is_cancelled and diagnostic not in run.diagnostics:
            run.report(diagnostic)

    def _borrow_buffer(self, context: int, words: int) -> int:
        """Whether the argument is not the tensor that is asked for."""
        record, index, spec, descriptor, is_first = words_at(words, 5)
        if is_first:
            self.lender.call_begins(spec)
        value = WORDS[(Context.at(context).arguments >> 3) + index]
        problem = self.lender.lend(value, spec, descriptor)
        if problem is None:
            return 0
        Context.at(context).failure = self._error_at(context, record, problem)
        return 1

    def _return_buffer(self, context: int, words: int) -> None:
        record, index, spec, descriptor = words_at(words, 4)
        results = Context.at(context).results
        WORDS[(results >> 3) + index] = self._tensor_value(context, record, spec, descriptor)

    def _tensor_arrived(self, context: int, pending: int) -> int:
        """0, or an error value with one reference."""
        record, spec, descriptor, value = words_at(pending, 4)
        problem = self.lender.lend(value, spec, descriptor)
        return 0 if problem is None else self._error_at(context, record, problem)

    def _buffer_arrived(self, context: int, pending: int) -> int:
        """A resolved value with one reference."""
        record, spec, descriptor = words_at(pending, 3)
        return self._tensor_value(context, record, spec, descriptor)

    def _tensor_value(self, context: int, record: int, spec: int, descriptor: int) -> int:
        tensor = self.lender.taken_back(spec, descriptor)
        if isinstance(tensor, str):
            failure = self._error_at(context, record, tensor)
            self._failed(context, failure)
            return failure
        made = self._process.quick.value_of
        return made(context, at.TYPE_TENSOR, tensor.handle.address, 0)

    def _error_at(self, context: int, record: int, problem: str) -> int:
        """An error value with one reference, at the place of a kernel."""
        owner, number = self._process.owner_of(record)
        diagnostic = error(problem, owner.location_of(number))
        return error_value(self._process, context, diagnostic)
