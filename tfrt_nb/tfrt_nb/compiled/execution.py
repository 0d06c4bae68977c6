"""One run of a compiled function, as `tfrt_runtime.executor.execution` is one of a host program's.

The call is a task of the host's work queue: a worker takes it, or whoever waits.  The run is over when
the function has returned and its async results are resolved; `wait` waits until no task is left either.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tfrt_nb.compiled.half import CompiledFunction
from tfrt_nb.compiled.host import LoadedHalf
from tfrt_nb.compiled.payloads import (
    POINTER_SIZE,
    Payload,
    dtype_name,
    element_of,
    payload_of,
)
from tfrt_nb.dialects.async_.types import TokenType
from tfrt_nb.dialects.crossing import host_type
from tfrt_runtime.async_runtime.kernel_calls import error_value
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host.async_value import AsyncValue, make_available, make_unavailable, wait_for
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.context import CANCELLED, Sink
from tfrt_runtime.host.futures import from_future, is_future
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError
from tfrt_runtime.host.process import native_process, shielded
from tfrt_runtime.native.layouts import TYPE_CHAIN

if TYPE_CHECKING:
    from tfrt_runtime.host.events import Watch


@dataclass(frozen=True, slots=True)
class _Crossing:
    """An argument or a result: its type, its payload's bytes, whether it comes in an object."""

    type: Attribute
    payload: Payload
    is_async: bool

    @property
    def size(self) -> int:
        """Bytes of what the function loads or stores."""
        return POINTER_SIZE if self.is_async else self.payload.size

    @property
    def word(self) -> str:
        """The type that the AsyncValue gets, which says how its payload is kept."""
        held = element_of(self.type) if self.is_async else self.type
        text = str(held)
        return text if text not in ("f16", "bf16") else ""

    @property
    def buffer(self) -> MemRefType[Attribute] | None:
        """The type of the buffer, if it is one or a value of one."""
        held = element_of(self.type) if self.is_async else self.type
        return held if isinstance(held, MemRefType) else None

    @property
    def cell(self) -> str:
        """The type of an AsyncValue whose payload has the bits that compiled code reads; "" for an
        array, which it does not read itself."""
        return "" if self.buffer is not None else str(host_type(self.type))

    def in_cell(self, value: object) -> object:
        """A Python value as such an AsyncValue takes it.

        Raises:
            PayloadError: if it does not fit.
        """
        if isinstance(self.type, TokenType):
            return CHAIN
        data = self.payload.encode(value)
        if self.buffer is not None:
            return value
        is_half = self.cell in ("f16", "bf16")  # which are kept as their bits
        return int.from_bytes(data, "little") if is_half else value


class CompiledExecution:
    """A run of one compiled function.  It has started; its results are there, perhaps unavailable."""

    def __init__(
        self,
        loaded: LoadedHalf,
        function: CompiledFunction,
        arguments: Sequence[object] = (),
        *,
        output: Sink | None = None,
        wake: bool = True,
        watch: Watch | None = None,
    ) -> None:
        """Start the run.

        Args:
            arguments: Python values, futures, or AsyncValues of this host, one per argument.  Those
                for async parameters are awaited by the function, others before it starts.
            output: where the run prints, if not where the host does.
            wake: let workers begin at once; False leaves the start to whoever waits first.
            watch: what the events of the run go to.

        Raises:
            TfrtError: if the function takes other arguments, or has some that Python cannot give.
        """
        self.function = function
        self._loaded = loaded
        self._runtime = loaded.home.runtime
        self._queue = loaded.home.host.work_queue
        self._returns = [_result(function, index) for index in range(len(function.results))]
        self._takes = [_argument(function, index) for index in range(len(function.arguments))]
        self._arguments = self._given(arguments)
        self._lock = threading.Lock()
        self._left = 1 + len(self._returns)
        self._objects: list[AsyncValue] = []
        self._memory: list[object] = []
        self._chunks: list[str] = []
        host = loaded.home.host
        self.request = host.new_request(_to_both(self._chunks, output or host.output))
        self.request.program = loaded
        if watch is not None:
            self.request.watch(watch, ())
        self._runtime.serve(self.request, to_the_last=True)
        self.request.when_cancelled = self._and_results(self.request.when_cancelled)
        self.started_at = time.monotonic_ns()
        self.completion = make_unavailable(self._queue)
        """A chain that is there when the function has returned."""
        self.results = [make_unavailable(self._queue, returned.word) for returned in self._returns]
        self._await_arguments(wake)

    def _and_results(self, end_code: Callable[[], None]) -> Callable[[], None]:
        """What is called when the run is cancelled: its code ends, and its results are errors."""
        reference = weakref.ref(self)

        def cancelled() -> None:
            end_code()
            execution = reference()
            if execution is not None:
                request = execution.request
                problem = request.refusal or error(request.cancel_message or CANCELLED)
                for value in (*execution.results, execution.completion):
                    execution._resolve(value, problem)

        return cancelled

    @property
    def watch(self) -> Watch | None:
        """What the events of the run go to, if they are logged."""
        return self.request.watched

    # Starting

    def _given(self, arguments: Sequence[object]) -> list[object]:
        expected = len(self._takes)
        if len(arguments) != expected:
            raise TfrtError(
                error(f"@{self.function.name} takes {expected} arguments, found {len(arguments)}")
            )
        return [self._given_one(index, value) for index, value in enumerate(arguments)]

    def _given_one(self, index: int, value: object) -> object:
        """An argument as it is kept; a mistake is the caller's, at once."""
        taken = self._takes[index]
        if is_future(value):
            return from_future(self._queue, value, taken.cell if taken.is_async else taken.word)
        if isinstance(value, AsyncValue):
            return value
        try:
            if not taken.is_async:
                taken.payload.encode(value)
                return value
            return make_available(self._queue, taken.in_cell(value), taken.cell)
        except PayloadError as wrong:
            raise self._wrong(index, wrong) from None

    def _wrong(self, index: int, problem: PayloadError) -> TfrtError:
        return TfrtError(error(f"argument {index} of @{self.function.name}: {problem}"))

    def _encode(self, index: int, value: object) -> bytes:
        taken = self._takes[index]
        if taken.is_async:
            assert isinstance(value, AsyncValue)
            if taken.buffer is not None:
                return self._buffer_of(index, value).to_bytes(POINTER_SIZE, "little")
            return self._object_of(value, taken.cell).to_bytes(POINTER_SIZE, "little")
        try:
            return taken.payload.encode(value)
        except PayloadError as wrong:
            raise self._wrong(index, wrong) from None

    def _object_of(self, value: AsyncValue, word: str) -> int:
        """What compiled code awaits for a host value; the function gets its reference."""
        process = native_process()
        make = process.quick("compiled_kernels.object_of", 4)
        arrived = process.library["compiled_kernels.argument_arrived"]
        kind = SCALAR_TYPES.get(word, TYPE_CHAIN)
        context = self._queue.context()
        made = make(context, value.address, kind, arrived)
        self._note_wait(value, made)
        return made

    def _note_wait(self, value: AsyncValue, made: int) -> None:
        """Let a cancellation end the wait for what may never come."""
        if not value.done():
            note = native_process().quick("compiled_kernels.note_import", 3)
            note(self._queue.context(), made, self.request.address)

    def _buffer_of(self, index: int, value: AsyncValue) -> int:
        """What compiled code awaits for an array; the function gets its reference."""
        make = native_process().quick("compiled_kernels.buffer_future", 2)
        made = make(self._queue.context(), self._takes[index].payload.size)
        self._note_wait(value, made)
        value.and_then(functools.partial(self._array_arrived, index, value, made))
        return made

    def _array_arrived(self, index: int, value: AsyncValue, made: int) -> None:
        """An array, or the error in its place, is there: so is its buffer."""
        process, context = native_process(), self._queue.context()
        problem = value.exception(0)
        failure = None if problem is None else problem.diagnostics[0]
        if failure is None:
            array = value.result(0)
            try:
                data = self._takes[index].payload.encode(array)
                self._memory.append(array)
                ctypes.memmove(self._runtime.storage(made), data, len(data))
            except PayloadError as wrong:
                failure = self._wrong(index, wrong).diagnostics[0]
        if failure is None:
            process.slow("compiled_kernels.buffer_there", 2)(context, made)
        else:
            reason = error_value(process, context, failure)
            process.slow("compiled_kernels.buffer_failed", 3)(context, made, reason)
        self._queue.hand_over()

    def _waits_for(self, index: int) -> bool:
        """Whether an argument has to be there before the function starts."""
        return not self._takes[index].is_async

    def _await_arguments(self, wake: bool) -> None:
        """Start when every argument is there."""
        given = [(i, v) for i, v in enumerate(self._arguments) if isinstance(v, AsyncValue)]
        open_values = [(index, value) for index, value in given if not value.done()]
        for _, value in open_values:
            text = f"an argument of @{self.function.name}"
            if value.is_indirect:
                self.request.promises.expect(value, text)
            else:
                self.request.promises.watch(value, text)
        open_ones = [value for index, value in open_values if self._waits_for(index)]
        if not open_ones:
            self._submit(wake)
            return
        missing = len(open_ones)

        def arrived() -> None:
            nonlocal missing
            with self._lock:
                missing -= 1
                is_last = missing == 0
            if is_last:
                self._submit(wake)

        for value in open_ones:
            value.and_then(arrived)

    def _submit(self, wake: bool) -> None:
        process = native_process()
        handle = process.objects.add(self)
        task = process.library["async_awaiting.run_coroutine"]
        process.slow("handles.task_add", 4)(self._queue.context(), task, handle, _entrance())
        if wake:
            self._queue.begin()

    def enter(self) -> None:
        """Call the function on this thread; the task of the queue does."""
        try:
            if self.request.is_cancelled:
                raise TfrtError(error(self.request.cancel_message or ""))
            failure = self._call()
        except TfrtError as problem:
            failure = problem.diagnostics[0]
        except KeyboardInterrupt:
            self.request.interrupted = True
            failure = error("interrupted")
        if failure is None:
            self._resolve(self.completion, None)
        else:
            self._fail(failure)
        self._leave(1)

    def _call(self) -> Diagnostic | None:
        values = [
            v.result(0) if isinstance(v, AsyncValue) and self._waits_for(i) else v
            for i, v in enumerate(self._arguments)
        ]
        # Objects last: what is wrong with other arguments leaves none behind.
        order = sorted(range(len(values)), key=lambda index: self._takes[index].is_async)
        encoded = {index: self._encode(index, values[index]) for index in order}
        given = [ctypes.create_string_buffer(encoded[index]) for index in range(len(values))]
        taken = [ctypes.create_string_buffer(max(1, returned.size)) for returned in self._returns]
        self._memory += [*values, *given]  # tasks may still read the buffers that they were given
        pointers = [ctypes.addressof(buffer) for buffer in (*given, *taken)]
        failure = self._runtime.call(
            self._loaded.address(self.function), *pointers, run=self.request
        )
        if failure is None:
            for index, (returned, buffer) in enumerate(zip(self._returns, taken, strict=True)):
                self._take(index, returned, buffer.raw[: returned.size])
        return failure

    def _fail(self, failure: Diagnostic) -> None:
        """The function did not return: there are no results."""
        if not self.request.is_cancelled:
            self.request.report(failure)
        for value in (self.completion, *self.results):
            self._resolve(value, failure)
        self._leave(len(self._returns))

    # Results

    def _take(self, index: int, returned: _Crossing, data: bytes) -> None:
        if not returned.is_async:
            self._give(index, returned, data)
            self._leave(1)
            return
        address = int.from_bytes(data, "little")
        made = AsyncValue(self._queue, address)
        self._objects.append(made)
        made.and_then(functools.partial(self._forward, index, made))

    def _forward(self, index: int, made: AsyncValue) -> None:
        """An async result is resolved: so is the AsyncValue that stands for it."""
        self._objects.remove(made)
        returned = self._returns[index]
        problem = made.exception(0)
        if problem is None:
            start = self._runtime.storage(made.address)
            data = ctypes.string_at(start, returned.payload.size) if returned.payload.size else b""
            self._give(index, returned, data)
        else:
            self._fail_result(index, problem.diagnostics[0])
        self._leave(1)

    def _fail_result(self, index: int, diagnostic: Diagnostic) -> None:
        if diagnostic not in self.request.diagnostics and not self.request.is_cancelled:
            self.request.report(diagnostic)
        self._resolve(self.results[index], diagnostic)

    def _give(self, index: int, returned: _Crossing, data: bytes) -> None:
        """A result is what the bytes say, or an error."""
        try:
            self._resolve(self.results[index], None, self._decoded(returned, data))
        except PayloadError as wrong:
            text = f"result {index} of @{self.function.name}: {wrong}"
            self._fail_result(index, error(text, self.function.location))

    def _decoded(self, returned: _Crossing, data: bytes) -> object:
        if returned.buffer is None:
            return returned.payload.decode(data)
        from tfrt_nb.compiled.arrays import returned_array

        name = dtype_name(returned.buffer.get_element_type()) or ""
        return returned_array(data, name, len(returned.buffer.get_shape()), self._memory)

    def _resolve(self, value: AsyncValue, problem: Diagnostic | None, *payload: object) -> None:
        """Resolve one of our values, unless the run was cancelled before."""
        try:
            if problem is None:
                value.emplace(*payload)
            else:
                value.set_error(problem)
        except RuntimeError:
            pass

    def _leave(self, count: int) -> None:
        with self._lock:
            self._left -= count
            is_over = self._left == 0
        if is_over:
            process = native_process()
            leave = process.slow("handles.request_leave", 2)
            leave(self._queue.context(), self.request.address)

    # Waiting

    @property
    def is_done(self) -> bool:
        """Whether the function has returned and its results are resolved."""
        return self.request.is_done

    @property
    def output(self) -> str:
        """What the run has printed so far."""
        return "".join(self._chunks)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Why the function or its results failed, in the order in which that was known."""
        return list(self.request.diagnostics)

    @property
    def is_stuck(self) -> bool:
        """A run that cannot go on is not stuck for long: what it waits for becomes an error."""
        return False

    def waiting_for(self) -> list[Diagnostic]:
        """Notes on what the run waits for: values from outside the runtime, and async objects."""
        return [*self.request.promises.notes(), *self._runtime.waits()]

    def wait_for_results(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until each result is resolved; False when the time is over first."""
        values = [self.completion, *self.results]
        is_over = wait_for(values, timeout, lambda: interrupted() or self._look())
        self._raise_interrupt()
        return is_over

    def wait(
        self, timeout: float | None = None, interrupted: Callable[[], bool] = lambda: False
    ) -> bool:
        """Wait until nothing runs any more on the host; False when the time is over first.

        Raises:
            KeyboardInterrupt: when the user interrupts.  The run goes on, unless its code computed
                on this thread: that cancels it.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        is_over = self.request.wait(timeout, lambda: interrupted() or self._look())
        self._raise_interrupt()
        if not is_over:
            return False
        if not self._settle(deadline, interrupted):
            return False
        for mistake in self._runtime.take_mistakes():
            if mistake not in self.request.diagnostics:
                self.request.report(mistake)
        return True

    def _settle(self, deadline: float | None, interrupted: Callable[[], bool]) -> bool:
        """Wait until nothing runs any more on the host; False when the time is over first."""
        has_settled = False

        def is_over() -> bool:
            nonlocal has_settled
            has_settled = self._runtime.has_settled()
            return has_settled or interrupted()

        if not is_over():
            forever = ctypes.c_int64(1)
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            work = self._queue.help if deadline is None else self._queue.wait
            work(ctypes.addressof(forever), left, is_over)
        return has_settled

    def _look(self) -> bool:
        """Now and then while somebody waits: end what waits in vain, and pass an interrupt on.

        Raises:
            KeyboardInterrupt: if one came while the function ran on this thread.
        """
        self._raise_interrupt()
        may_be_stuck = self.completion.done() and not self.request.is_done
        if may_be_stuck and not self.request.promises_open() and self._runtime.has_settled():
            for made in self._objects:
                if not made.done():
                    self._runtime.abandon(made.address)
        return False

    def _raise_interrupt(self) -> None:
        """An interrupt came while the function ran on this thread: pass it on."""
        if self.request.interrupted:
            self.request.interrupted = False
            raise KeyboardInterrupt

    def cancel(self, message: str = CANCELLED) -> bool:
        """Let the results become errors, and the code end; False if it is too late.

        Loops and recursions end, tasks do not start, and who waits waits no longer; `diagnostics` says
        which loops were left.  A run that is over may have left tasks running: they end, too.
        """
        return self._runtime.cancel(self.request, message)

    def on_done(self, callback: Callable[[], None]) -> None:
        """Call `callback` once the function has returned and its results are resolved."""
        self.request.on_done(callback)


def _to_both(chunks: list[str], output: Sink) -> Sink:
    """A sink that keeps what it gives on.  It does not refer to the run."""

    def write(text: str) -> None:
        chunks.append(text)
        output(text)

    return write


@functools.cache
def _entrance() -> int:
    """The address that the queue calls with the handle of a run."""
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(_enter)
    _alive.append(function)
    return ctypes.cast(function, ctypes.c_void_p).value or 0


_alive: list[object] = []


def _enter(handle: int) -> int:
    execution = native_process().objects.release(handle)
    assert isinstance(execution, CompiledExecution)
    shielded(execution.enter)
    return 0


def _result(function: CompiledFunction, index: int) -> _Crossing:
    type_ = function.results[index]
    held = element_of(type_)
    payload = payload_of(type_ if held is None else held)
    if payload is None:
        raise TfrtError(
            error(
                f"result {index} of @{function.name} is of type {type_}, which Python cannot take"
            )
        )
    return _Crossing(type_, payload, held is not None)


def _argument(function: CompiledFunction, index: int) -> _Crossing:
    type_ = function.arguments[index]
    held = element_of(type_)
    payload = payload_of(type_ if held is None else held)
    is_buffer = isinstance(held, MemRefType)
    if payload is None or (held and host_type(type_) is None and not is_buffer):
        raise TfrtError(
            error(
                f"argument {index} of @{function.name} is of type {type_}, which Python cannot give"
            )
        )
    return _Crossing(type_, payload, held is not None)
