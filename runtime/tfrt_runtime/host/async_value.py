"""A value that may not be there yet, as Python sees it.

An `AsyncValue` leaves the unavailable state once, to available or to error, and never comes back.
Whoever needs the value does not wait for it: it leaves a callback with `and_then`.  Those who must
wait call `result`, or `await` it.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from enum import StrEnum

from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.payload import ENCODERS, SCALAR_TYPES, encode_scalar, read_as, read_payload
from tfrt_runtime.host.process import NativeProcess, native_process
from tfrt_runtime.host.raw import WORDS, signed
from tfrt_runtime.host.work_queue import WorkQueue
from tfrt_runtime.native.layouts import (
    ERROR,
    KIND_BITS,
    KIND_INDIRECT,
    LATCH_PENDING,
    STATE_BITS,
    TYPE_CHAIN,
    TYPE_OBJECT,
    VALUE_KIND,
    VALUE_PAYLOAD,
    VALUE_REFERENCES,
    VALUE_STATE,
)

BROKEN_PROMISE = "nobody is left who could resolve this value"


class State(StrEnum):
    """What is known of a value."""

    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    ERROR = "error"


class AsyncValue:
    """A reference to a single-assignment cell of the native core.  Safe to share between threads.

    Holds one native reference, and drops it when the Python object dies.  `type` is the MLIR type
    that the program gives the value, or "" where there is none; scalars are read as that type.
    """

    __slots__ = ("__weakref__", "_address", "_process", "_queue", "type", "why_never")

    def __init__(self, queue: WorkQueue, address: int, type_text: str = "") -> None:
        """Takes over one reference to the native value at `address`."""
        self._address = address
        self.why_never: Callable[[AsyncValue], Sequence[Diagnostic]] | None = None
        """Says why the value will never be there, and nothing while it may come: `result` asks."""
        self._process: NativeProcess = native_process()
        self._queue = queue
        self.type = type_text

    def __del__(self) -> None:
        address, self._address = getattr(self, "_address", 0), 0
        if address:
            self._process.value_drop(self._queue.context(), address)

    def __repr__(self) -> str:
        state = self.state
        shown = f" {self._read()!r}" if state is State.AVAILABLE else ""
        if state is State.ERROR:
            shown = f" {self._diagnostic().message!r}"
        kind = f" {self.type}" if self.type else ""
        return f"<AsyncValue{kind} {state.value}{shown}>"

    @property
    def address(self) -> int:
        """The native value; borrowed."""
        return self._address

    @property
    def state(self) -> State:
        """The state at this moment."""
        outcome = self._process.value_outcome(self._address)
        if outcome == 0:
            return State.UNAVAILABLE
        return State.ERROR if _is_error(outcome) else State.AVAILABLE

    @property
    def references(self) -> int:
        """How many references the value has now; this object's is one of them."""
        return WORDS[(self._address + VALUE_REFERENCES) >> 3]

    @property
    def is_indirect(self) -> bool:
        """Whether the value stands for another one."""
        return WORDS[(self._address + VALUE_KIND) >> 3] & KIND_BITS == KIND_INDIRECT

    def addresses(self) -> list[int]:
        """The native value, and those that it stands for one behind the other; borrowed."""
        found = [self._address]
        while self.done() and WORDS[(found[-1] + VALUE_KIND) >> 3] & KIND_BITS == KIND_INDIRECT:
            found.append(WORDS[(found[-1] + VALUE_PAYLOAD) >> 3])
        return found

    def done(self) -> bool:
        """Whether the value is available or an error."""
        return self._process.value_outcome(self._address) != 0

    def and_then(self, waiter: Callable[[], None]) -> None:
        """Call `waiter` once the value is resolved: now, on this thread, if it already is.

        Otherwise on the thread that resolves it.  What `waiter` raises is shown by
        `sys.excepthook`, and ends nothing.
        """
        handle = self._process.objects.add(waiter)
        entry = self._process.quick("handles.value_and_then", 3)
        entry(self._queue.context(), self._address, handle)

    def add_done_callback(self, function: Callable[[AsyncValue], None]) -> None:
        """Call `function(self)` once the value is resolved, as `and_then` does."""
        self.and_then(lambda: function(self))

    def result(self, timeout: float | None = None) -> object:
        """The value; waits for it, and lets this thread work for it meanwhile.

        Args:
            timeout: seconds; None is no limit.

        Raises:
            TimeoutError: if it is not there in time.
            TfrtError: if it is an error, or will never be there; carries the diagnostic.
        """
        outcome = self._outcome(timeout)
        if _is_error(outcome):
            raise TfrtError(self._diagnostic())
        return self._read_at(outcome)

    def exception(self, timeout: float | None = None) -> TfrtError | None:
        """The error that `result` would raise, or None; waits like it.

        Raises:
            TimeoutError: if the value is not there in time.
            TfrtError: if it will never be there.
        """
        is_error = _is_error(self._outcome(timeout))
        return TfrtError(self._diagnostic()) if is_error else None

    def __await__(self) -> Generator[object, None, object]:
        if not self.done():
            yield from self._resolved().__await__()
        return self.result(0)

    async def _resolved(self) -> None:
        """Return once the value is resolved; other tasks of the loop go on meanwhile."""
        import asyncio  # takes 20 ms; whoever awaits has it already

        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(done.set)

        self.and_then(wake)
        # A queue without workers runs only where somebody waits: another thread does.
        if self._queue.threads == 0:
            await asyncio.gather(done.wait(), asyncio.to_thread(self._wait, None))
        else:
            self._queue.begin_calls()
            await done.wait()

    def _outcome(self, timeout: float | None) -> int:
        """The native value that this one became, borrowed; waits for it."""
        outcome = self._process.value_outcome(self._address)
        if outcome == 0:
            self._wait(timeout)
            outcome = self._process.value_outcome(self._address)
        return outcome

    def _wait(self, timeout: float | None) -> None:
        found: list[Diagnostic] = []

        def is_hopeless() -> bool:
            if self.why_never is not None:
                found.extend(self.why_never(self))
            return bool(found)

        if not wait_for([self], timeout, is_hopeless):
            if found:
                raise TfrtError(*found)
            raise TimeoutError(f"the value is still unavailable after {timeout} s")

    def _read(self) -> object:
        return self._read_at(self._process.value_outcome(self._address))

    def _read_at(self, value: int) -> object:
        if self.type in SCALAR_TYPES and WORDS[(value + VALUE_KIND) >> 3] >> 8 < TYPE_OBJECT:
            return read_as(self.type, value)
        return read_payload(value, self._process.objects, CHAIN)

    def _diagnostic(self) -> Diagnostic:
        outcome = self._process.value_outcome(self._address)
        handle = WORDS[(outcome + VALUE_PAYLOAD) >> 3]
        diagnostic = self._process.objects.get(handle)
        assert isinstance(diagnostic, Diagnostic)
        return diagnostic

    def emplace(self, value: object = CHAIN) -> None:
        """Make a value that `make_unavailable` made available, and run the waiters.

        Numbers are stored as the value's type says, everything else as an object.

        Raises:
            RuntimeError: if the value is already resolved, or gets its value from another one.
            PayloadError: if the number does not fit the type.
        """
        number, first, second = encode(self.type, value, self._process)
        try:
            self._claim()
        except RuntimeError:
            if number == TYPE_OBJECT:
                self._process.objects.release(first)
            raise
        self._publish("handles.value_emplace", number, first, second)

    def set_error(self, diagnostic: Diagnostic) -> None:
        """Resolve to an error.  Only what depends on this value is skipped.

        Raises:
            RuntimeError: if the value is already resolved, or gets its value from another one.
        """
        self._claim()
        handle = self._process.objects.add(diagnostic)
        self._publish("handles.value_set_error", handle)

    def _publish(self, entry: str, *words: int) -> None:
        """Resolve the value, which is claimed, and hand over what becomes ready."""
        queue, address = self._queue, self._address
        queue.resolving.add(address)
        try:
            self._process.slow(entry, 2 + len(words))(queue.context(), address, *words)
            queue.hand_over()
        finally:
            queue.resolving.discard(address)

    def _claim(self) -> None:
        """Become the one who resolves the value: of several threads that try, one succeeds."""
        if self._process.quick("handles.value_claim", 1)(self._address):
            return
        if self.is_indirect:
            raise RuntimeError("this AsyncValue gets its value from another one")
        state = self.state.value if self.done() else "about to be resolved"
        raise RuntimeError(f"an AsyncValue resolves once; this one is {state}")


class Promise(AsyncValue):
    """The reference of whoever must resolve a value.

    When it dies first, the value becomes an error: otherwise what waits for it would wait for ever.
    """

    __slots__ = ("_on_broken",)

    def __init__(
        self,
        queue: WorkQueue,
        address: int,
        type_text: str,
        on_broken: Callable[[], Diagnostic] = lambda: error(BROKEN_PROMISE),
    ) -> None:
        super().__init__(queue, address, type_text)
        self._on_broken = on_broken

    def __del__(self) -> None:
        if not sys.is_finalizing() and not self.done() and self.references > 1:
            with contextlib.suppress(RuntimeError):
                self.set_error(self._on_broken())
        super().__del__()


def _is_error(outcome: int) -> bool:
    """Whether an available native value is an error."""
    return WORDS[(outcome + VALUE_STATE) >> 3] & STATE_BITS == ERROR


def encode(type_text: str, value: object, process: NativeProcess) -> tuple[int, int, int]:
    """A Python value as payload type and two words; an object's handle belongs to the caller, and
    a tensor's address to the tensor.

    Raises:
        PayloadError: if `value` does not fit a scalar type.
    """
    if value is CHAIN:
        return TYPE_CHAIN, 0, 0
    if type_text in SCALAR_TYPES:
        first, second = encode_scalar(type_text, value)
        return SCALAR_TYPES[type_text], signed(first), signed(second)
    if (encoder := ENCODERS.get(type(value))) is not None:
        number, encode_object = encoder
        return number, encode_object(value), 0
    return TYPE_OBJECT, process.objects.add(value), 0


def make_unavailable(
    queue: WorkQueue,
    type_text: str = "",
    on_broken: Callable[[], Diagnostic] = lambda: error(BROKEN_PROMISE),
) -> AsyncValue:
    """A value that its maker resolves later, with `emplace` or `set_error`.

    When the maker's reference dies without that, the value becomes the error that `on_broken` says.
    """
    number = SCALAR_TYPES.get(type_text, 0)
    address = native_process().quick("handles.value_make", 2)(queue.context(), number)
    return Promise(queue, address, type_text, on_broken)


def make_available(queue: WorkQueue, value: object, type_text: str = "") -> AsyncValue:
    """A value that is there from the start.

    Raises:
        PayloadError: if the number does not fit the type.
    """
    process = native_process()
    number, first, second = encode(type_text, value, process)
    make = process.quick("handles.value_of", 4)
    return AsyncValue(queue, make(queue.context(), number, first, second), type_text)


def make_error(queue: WorkQueue, diagnostic: Diagnostic) -> AsyncValue:
    """An error from the start."""
    made = make_unavailable(queue)
    made.set_error(diagnostic)
    return made


def wait_for(
    values: Iterable[AsyncValue],
    timeout: float | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until every value is resolved; False when the time is over first.

    The thread works for the values' queue while it waits.  Signals are seen every few milliseconds.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    for value in values:
        if not value.done():
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not _wait_for_one(value, left, interrupted):
                return False
    return True


def _wait_for_one(
    value: AsyncValue, timeout: float | None, interrupted: Callable[[], bool]
) -> bool:
    process, queue = native_process(), value._queue
    latch = process.quick("handles.latch_make", 2)(queue.context(), value.address)
    try:
        return queue.wait(latch + LATCH_PENDING, timeout, interrupted)
    finally:
        process.quick("handles.latch_drop", 2)(queue.context(), latch)
