"""Many calls of one function as one run."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import overload

from tfrt_runtime.diagnostics import TfrtError, counted, refuse, require
from tfrt_runtime.executor.calls import Entry
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.failures import exception_of, for_users, in_element
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import WORDS
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.at_once import AtOnce
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.users.prints import divert_output
from tfrt_runtime.native import layouts as at

MANY = 1000
"""The number of recorded results at which those that no code holds are removed."""
_NUMBERS = {"i1": ("uint8", "bool"), "f32": ("uint32", "float32"), "f64": ("uint64", "float64")}
"""numpy's names for the bits of a payload and for the number, keyed by type word.

Integer types are not listed.
"""


class Batch(Execution):
    """A run of many calls, which start together, share one output, and are cancelled together.

    `results` contains the results of the first call, then those of the second call, and so on.
    Each becomes an AsyncValue when it is accessed.
    """

    def __init__(
        self,
        host: HostContext,
        program: Executable,
        function: str | int,
        columns: Sequence[Sequence[object]],
        *,
        output: Sink | None = None,
        at_once: int | None = None,
    ) -> None:
        """Start all calls or, if `at_once` is given, only that many calls at first.

        Args:
            columns: for each argument, its values in all calls.  A numpy array is not unpacked.
            output: the sink that receives the program's output instead of the host's sink.

        Raises:
            TfrtError: if the function does not exist, if the columns do not fit its arguments, or
                if `at_once` is given for a function without results: only a result shows that a
                call has finished.
        """
        entry = program.entry(function)
        if at_once is not None:
            is_count = type(at_once) is int and at_once > 0
            require(is_count, "at_once", "a whole number, 1 or more", at_once)
            if not entry.result_types:
                refuse(
                    f"at_once= of @{entry.name}: without results, nothing shows when a call ends"
                )
        queue = host.work_queue
        self.program, self._entry = program, entry
        request = Request(host, output, program, entry)
        if entry.carries:
            divert_output()
        words, self.calls, kept = entry.rows(queue, columns)
        request.open(words)
        request.become_known()
        self.request = request
        with self._withdrawn_on_error():
            self._prepare(None)
        is_task = queue.takes_calls
        self.begun = begun = min(self.calls, at_once or self.calls)
        """How many calls start immediately.

        Each of the other calls starts when a running call finishes.
        """
        entry.start_all(request, self.calls, begun, is_task=is_task)
        if kept:  # keep these, because a thread may start a call much later
            request.on_done(kept.clear)
        queue.start() if is_task else queue.begin()
        request.held = results = _Results(self)  # a cycle, until `self` is destroyed
        if begun < self.calls:
            _bound(request, entry, results, begun, is_task)
        if self.calls == 0:
            self.request.leave_call()

    def done(self) -> bool:
        """Return whether the run has no work left."""
        return self.is_done

    def __repr__(self) -> str:
        state = "cancelled" if self.request.is_cancelled else "done" if self.is_done else "running"
        failed = f", {counted(found, 'error')}" if (found := len(self.diagnostics)) else ""
        return f"<Batch @{self.function.name} {state}, {counted(self.calls, 'call')}{failed}>"

    def _repr_html_(self) -> str:
        """Return what a notebook displays for the run, with its current state."""
        import html

        return f"<code>{html.escape(repr(self))}</code>"

    def __await__(self) -> Generator[object, None, object]:
        """Wait as `result()` does, in a coroutine."""
        yield from self._ended().__await__()
        return self.result(0)

    def result(self, timeout: float | None = None) -> list[object]:
        """Return a list with one item per call.

        The item is the call's result, or a tuple if the call has several results or none.

        Raises:
            TimeoutError: if the calls do not finish in time.
            TfrtError: the first error among the results or, if the function has no results, the
                first error in any kernel.
        """
        try:
            return self._result(timeout)
        except (TfrtError, KeyboardInterrupt, TimeoutError) as problem:
            raise for_users(problem)

    def _result(self, timeout: float | None) -> list[object]:
        self._wait_for_end(timeout)
        columns = [self._column(index) for index in range(len(self._entry.result_types))]
        if not columns and (failed := self.diagnostics):
            raise exception_of(failed[0])
        if not columns:
            return [()] * self.calls
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def _outcome(self, call: int) -> int:
        """Return the state of a call: 0 if a result is unavailable, -1 if one is an error, else 1.

        A call without results has the run's state.  This method creates no AsyncValue, so thousands
        of calls can be checked quickly.
        """
        outcome, stands = native_process().quick.value_outcome, 1
        first = self._entry.result_address(self.request, call, 0) >> 3
        for place in range(first, first + len(self._entry.result_types)):
            if (found := outcome(WORDS[place])) == 0:
                return 0
            if WORDS[found + at.VALUE_STATE >> 3] & at.STATE_BITS == at.ERROR:
                stands = -1
        return (
            stands
            if self._entry.result_types
            else int(self.is_done and not self.diagnostics and not self.request.is_cancelled)
        )

    def as_value(self) -> AsyncValue:
        """Return one AsyncValue that becomes the list that `result` returns."""
        return self._at_end(self.result)

    def _column(self, index: int) -> list[object]:
        """Return the values of result number `index` of all calls."""
        count, width = self.calls, len(self._entry.result_types)
        number = SCALAR_TYPES.get(word := self._entry.result_types[index])
        if number is not None and (word in _NUMBERS or word[0] == "i"):
            import numpy as np

            payloads = np.empty(count, np.int64)
            first = self._entry.result_address(self.request, 0, index)
            read = native_process().quick.read_results
            size = self._entry.row_bytes
            if read(first, size, count, number, payloads.ctypes.data) == count:
                if word == "i1":
                    payloads &= 1
                stored, read_as = _NUMBERS.get(word) or (f"int{word[1:]}",) * 2
                return list(payloads.astype(stored).view(read_as).tolist())
        values = [self.results[width * call + index] for call in range(count)]
        failed = [call for call, value in enumerate(values) if value.state is State.ERROR]
        if failed and (reason := values[failed[0]].exception(0)) is not None:
            problem = exception_of(in_element(reason.diagnostics[0], failed[0], count))
            if len(failed) > 1:
                listed = f"{', '.join(map(str, failed[:10]))}{', ...' if failed[10:] else ''}"
                problem.add_note(
                    f"note: {len(failed)} of {counted(count, 'call')} failed: elements {listed}"
                )
            raise problem
        return [value.result(0) for value in values]


def _bound(request: Request, entry: Entry, results: _Results, begun: int, is_task: bool) -> None:
    """Start the remaining calls of a batch as running calls finish.

    The batch object may have been destroyed.
    """
    width = len(entry.result_types)

    def results_of(call: int) -> list[AsyncValue]:
        # Do not keep these values: there may be a million finished calls.
        return [results.made(width * call + index) for index in range(width)]

    def start(first: int, count: int) -> list[AsyncValue]:
        entry.start_more(request, first, count, is_task=is_task)
        return results_of(first)

    calls = AtOnce(begun, len(results) // width, start, lambda: request.is_cancelled)
    for call in range(begun):
        calls.follow(results_of(call))


class _Results(Sequence[AsyncValue]):
    """A sequence of a batch's results, as AsyncValues.

    This object owns the native values, and may outlive the batch.
    """

    def __init__(self, batch: Batch) -> None:
        self._queue, self._request = batch.request.queue, batch.request
        self._entry = batch._entry
        self._width = len(self._entry.result_types)
        self._count = self._width * batch.calls
        self._made: dict[int, AsyncValue] = {}
        self._look_again = MANY
        self._request.results = self._noted = list[weakref.ref[AsyncValue]]()
        self._add_reference = native_process().quick.value_add_reference

    # A default argument outlives the globals, which Python clears when it exits.
    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # the process frees the values
            return
        drop = native_process().quick.drop_results
        for index in range(self._width):
            first = self._entry.result_address(self._request, 0, index)
            calls = self._count // self._width
            drop(self._queue.context(), first, self._entry.row_bytes, calls)

    # A copy would drop the same native references again.
    __reduce_ex__ = AsyncValue.__reduce_ex__

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> AsyncValue: ...
    @overload
    def __getitem__(self, index: slice) -> list[AsyncValue]: ...
    def __getitem__(self, index: int | slice) -> AsyncValue | list[AsyncValue]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        index = range(self._count)[index]
        made = self._made.get(index)
        # Another thread may have created the value in the meantime.
        return self._made.setdefault(index, self.made(index)) if made is None else made

    def __iter__(self) -> Iterator[AsyncValue]:
        return (self[index] for index in range(self._count))

    def made(self, index: int) -> AsyncValue:
        """Return a new AsyncValue for a result; the caller must keep the object."""
        call, result = divmod(index, self._width)
        address = WORDS[self._entry.result_address(self._request, call, result) >> 3]
        self._add_reference(address)
        made = AsyncValue(self._queue, address, self._entry.result_types[result])
        noted = self._noted
        with self._request.lock:
            noted.append(weakref.ref(made))
            if len(noted) >= self._look_again:
                noted[:] = [reference for reference in noted if reference() is not None]
                self._look_again = 2 * len(noted) + MANY
        if self._request.cancellation is not None:  # the cancelling thread may have missed it
            made.decide(self._request.cancelled_value)
        return made
