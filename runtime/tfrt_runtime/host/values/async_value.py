"""A value that may not be available yet, as Python sees it.

An `AsyncValue` changes once, from unavailable to available or to error.  Code that uses the value
does not wait for it, but adds a callback with `and_then`.  Code that must wait calls `result`, or
`await`s the value.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tfrt_runtime.diagnostics import Diagnostic, Ending, TfrtError, deadline_in, error, require
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.failures import cancellation, diagnostic_of, exception_of, for_users
from tfrt_runtime.host.interrupts import INTERRUPTS, WAS_RAISED
from tfrt_runtime.host.payload import (
    SCALAR_TYPES,
    as_python,
    encode,
    shown,
)
from tfrt_runtime.host.process import MISSING, native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Value
from tfrt_runtime.host.values.held_value import Callbacks, State
from tfrt_runtime.host.values.waiting import AwaitedValue, Source

_ORDINARY = {
    word: number
    for word, number in SCALAR_TYPES.items()
    if word[0] == "i" or word in ("f32", "f64")
}
"""Types whose values native code converts to Python objects."""
if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

Future: TypeAlias = "concurrent.futures.Future[Any] | asyncio.Future[Any]"
BROKEN_PROMISE = "nothing can resolve this value anymore"
_DECIDING = threading.RLock()


class AsyncValue(AwaitedValue):
    """A reference to a single-assignment cell of the native core.  Safe to share between threads.

    It holds one native reference, and drops it when the Python object is destroyed.  `type` is the
    MLIR type that the program gives the value, or ""; scalars are read as that type.
    """

    _public = (
        *("type", "state", "done", "result", "exception", "add_done_callback", "then"),
        *("cancel", "cancelled", "to_future", "from_future", "set_result", "set_exception"),
        *("and_then", "emplace", "set_error"),
    )
    __slots__ = ()

    def __init__(
        self,
        queue: WorkQueue,
        address: int,
        type_text: str = "",
        source: Callable[[], Source | None] | None = None,
    ) -> None:
        """Take ownership of one reference to the native value at `address`, a result of run
        `source()`.
        """
        self._decided = 0
        self._address = address
        """The address of the value that this object was created for, or of the error `_decided`."""
        self._owned = address
        self._found = 0
        """The native value that this one resolved to, once `result` has seen it."""
        self._callbacks: Callbacks | None = None
        self.source = source
        self.basis = ()
        self._queue = queue
        self.type = type_text

    def __repr__(self) -> str:
        state = self.state
        text = f" {shown(self.result(0))}" if state is State.AVAILABLE else ""
        if state is State.ERROR:
            text = f" {self._diagnostic().message!r}"
        kind = f" {self.type}" if self.type else ""
        return f"<AsyncValue{kind} {state.value}{text}>"

    def reference(self) -> AsyncValue:
        """Return another reference to the value, without the obligation to resolve it."""
        native_process().quick.value_add_reference(self._address)
        return AsyncValue(self._queue, self._address, self.type)

    def alive(self) -> AsyncValue | None:
        """Return another reference, or None if this object is being destroyed."""
        add_reference = native_process().quick.value_add_reference
        address = self._address
        if address == 0:
            return None
        # No thread switch can happen between the check and this call; see `_let_go`.
        add_reference(address)
        return AsyncValue(self._queue, address, self.type)

    def for_waiter(self) -> AsyncValue:
        """Return the object from which a callback of `and_then` reads the value.

        The callback must not keep a promise alive; this object may be the one that resolves a run's
        result (`decide`).
        """
        return self.reference() if self.source is None else self

    def add_done_callback(self, function: Callable[[AsyncValue], None]) -> None:
        """Call `function(self)` once the value is resolved, as `and_then` does.

        If this object has been destroyed by then, the function receives another object for the same
        value.
        """
        require(callable(function), "a callback", "a function", function)
        this, came = weakref.ref(self), self.for_waiter()

        def call() -> None:
            value = this()
            function(came if value is None or value._address == 0 else value)

        self.and_then(call)

    def then(self, function: Callable[[Any], object]) -> AsyncValue:
        """Return the value of `function(value)`, which is called on the thread that resolves this
        value.

        If this value becomes an error, so does the returned one, and `function` is not called.  If
        `function` raises an exception, the exception is the cause of the error.  If it returns an
        AsyncValue, the returned value follows that AsyncValue.
        """
        require(callable(function), "the argument of then()", "a function of the value", function)
        queue = self._queue
        made = make_unavailable(queue)
        came = self.for_waiter()
        made.basis = (weakref.ref(self),)

        def call() -> None:
            made.basis = ()
            try:
                returned = came if came.state is State.ERROR else function(came.result(0))
            except BaseException as problem:  # noqa: BLE001 - it becomes the value's error
                returned = make_error(queue, diagnostic_of(problem))
            if isinstance(returned, AsyncValue):
                made.follow(returned)
                return
            with contextlib.suppress(RuntimeError):  # it was cancelled in the meantime
                made.emplace(returned)

        self.and_then(call)
        return made

    def follow(self, other: AsyncValue) -> None:
        """Resolve to the same outcome as `other`."""
        came = other.for_waiter()
        self.basis = (weakref.ref(other),)

        def resolve() -> None:
            self.basis = ()
            with contextlib.suppress(RuntimeError):  # it was cancelled in the meantime
                if came.state is State.ERROR:
                    self.set_error(came._diagnostic())
                else:
                    self.emplace(came.payload())

        other.and_then(resolve)

    def to_future(self) -> concurrent.futures.Future[Any]:
        """Return a future that is done when the value is resolved; cancelling it cancels the
        value.
        """
        import concurrent.futures  # a future exists, so its module is loaded

        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        came = self.for_waiter()

        def resolve() -> None:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                if came.cancelled():
                    future.cancel()
                    future.set_running_or_notify_cancel()  # otherwise, `wait` would keep waiting
                elif (problem := came.exception(0)) is not None:
                    future.set_exception(problem)
                else:
                    future.set_result(came.result(0))

        def cancel(done: concurrent.futures.Future[Any]) -> None:
            if done.cancelled():
                self.cancel()

        self.and_then(resolve)
        future.add_done_callback(cancel)
        self.have_made()
        return future

    @staticmethod
    def from_future(future: Future) -> AsyncValue:
        """Return a value that is resolved when `future` is done.

        Cancelling the value cancels the future.

        Raises:
            TypeError: if it is not a future of `concurrent.futures`, `asyncio`, or `distributed`.
        """
        made: AsyncValue = HOOKS.of_future(future)
        return made

    def cancel(self, message: str = "Cancelled") -> bool:
        """Cancel the value; return False if it was already resolved, unless by a cancellation.

        This cancels the value's run, unless another unresolved result of the run is held.  In that
        case, only holders of this object see the cancellation.
        """
        if self.done():
            return self.cancelled()
        require(isinstance(message, str), "the reason to cancel", "a string", message)
        diagnostic = cancellation(message)
        if self.source is not None:
            run = self.source()
            if run is None or not run.cancel_for(self, diagnostic):
                self.decide(make_error(self._queue, diagnostic))
            return True
        with contextlib.suppress(RuntimeError):
            self.set_error(diagnostic)
            return True
        self.decide(make_error(self._queue, diagnostic))
        return True

    def decide(self, failure: AsyncValue) -> None:
        """Become the error `failure`, regardless of the native value's outcome."""
        address, quick = failure.address, native_process().quick
        with _DECIDING:
            if self.done():
                return
            quick.value_add_reference(address)
            is_alive = self._owned != 0
            if is_alive:
                # No thread switch can happen between the check and this line; see `_let_go`.
                self._decided = self._address = address
        if not is_alive:
            quick.value_drop(self._queue.context(), address)
        elif self._callbacks is not None:
            self._callbacks()

    def set_result(self, value: object) -> None:
        """Resolve a value created by `unavailable` to `value`.

        Raises:
            InvalidStateError: of `concurrent.futures`, if it is already resolved or is a run's
                result.
            PayloadError: if `value` does not fit the value's type.
        """
        self._set(lambda: self.emplace(value))

    def set_exception(self, exception: BaseException | type[BaseException]) -> None:
        """Resolve a value created by `unavailable` to an error whose cause is `exception`.

        Raises:
            TypeError: if `exception` is not an exception.
            InvalidStateError: of `concurrent.futures`, if it is already resolved or is a run's
                result.
        """
        if isinstance(exception, type) and issubclass(exception, BaseException):
            exception = exception()
        if not isinstance(exception, BaseException):
            raise TypeError(f"expected an exception, found {type(exception).__name__}")
        self._set(lambda: self.set_error(diagnostic_of(exception)))

    def _set(self, resolve: Callable[[], None]) -> None:
        import concurrent.futures

        try:
            if self.source is not None:
                raise RuntimeError("the result of a run is set by its kernels")
            resolve()
        except RuntimeError as problem:
            raise concurrent.futures.InvalidStateError(str(problem)) from None

    def result(self, timeout: float | None = None) -> object:
        """Wait for the value and return it; in the meantime, this thread runs the queue's tasks.

        A dense tensor is returned as a numpy array over its memory.

        Args:
            timeout: seconds; None means no limit.

        Raises:
            TimeoutError: if the value is not resolved in time.
            TfrtError: if the value is an error or will never be resolved; it carries the
                diagnostic.
            KeyboardInterrupt: if the code that should have made the value raised it.
        """
        try:
            if timeout is None and (reads := _ORDINARY.get(self.type)) is not None:
                # This is the fast path for a number: native code does the work and creates the
                # Python object.
                queue = self._queue
                found = queue.process.result(queue.address, self._address, reads)
                if found is not MISSING:
                    return found
                INTERRUPTS.raise_if_noted()
            return self._result(timeout)
        except (TfrtError, KeyboardInterrupt, TimeoutError) as problem:
            raise for_users(problem)

    def _result(self, timeout: float | None) -> object:
        """Implement `result` for values that are not numbers, have failed, or are needed within a
        time limit.
        """
        if timeout is not None:
            deadline_in(timeout)  # rejects an invalid timeout even if the value is available
        outcome = self._found or self._outcome(timeout)
        if Value.at(outcome).is_error:
            # The exception is not stored in a variable: its traceback would hold the variable, and
            # thus the exception itself and the value.
            diagnostic = self._diagnostic()
            if isinstance(diagnostic.cause, KeyboardInterrupt):
                setattr(diagnostic.cause, WAS_RAISED, True)
                raise KeyboardInterrupt from TfrtError(diagnostic)
            raise exception_of(diagnostic)
        return as_python(self._read_at(outcome))

    def exception(self, timeout: float | None = None) -> TfrtError | None:
        """Return the error that `result` would raise, or None; wait as `result` does.

        Raises:
            TimeoutError: if the value is not resolved in time.
            TfrtError: if the value will never be resolved.
        """
        try:
            is_error = Value.at(self._outcome(timeout)).is_error
        except (TfrtError, KeyboardInterrupt, TimeoutError) as problem:
            raise for_users(problem)
        return exception_of(self._diagnostic()) if is_error else None

    def __await__(self) -> Generator[object, None, object]:
        if self._found == 0 and not self.done():
            yield from self.resolved().__await__()
        if self._found == 0 and self.cancelled():
            from tfrt_runtime.host.exceptions import awaited_cancellation

            raise awaited_cancellation(self._diagnostic())
        return self.result(0)


class Promise(AsyncValue):
    """A reference held by the code that must resolve the value.

    If it is dropped first, the value becomes an error: otherwise, its users would wait forever.
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
        if self.done() or sys.is_finalizing():
            super().__del__()
            return
        last = AsyncValue(self._queue, self._let_go()[0], self.type)
        # Callbacks hold no reference: the only waiter may belong to a run that counts this value.
        if last.references > 1 or self._callbacks is not None:
            with contextlib.suppress(RuntimeError):
                last.set_error(replace(self._on_broken(), ending=Ending.BROKEN))


def make_unavailable(
    queue: WorkQueue,
    type_text: str = "",
    on_broken: Callable[[], Diagnostic] = lambda: error(BROKEN_PROMISE),
) -> AsyncValue:
    """Make a value that its creator resolves later, with `emplace` or `set_error`.

    If the creator's reference is dropped first, the value becomes the error that `on_broken`
    returns.
    """
    number = SCALAR_TYPES.get(type_text, 0)
    address = native_process().quick.value_make(queue.context(), number)
    return Promise(queue, address, type_text, on_broken)


def make_available(queue: WorkQueue, value: object, type_text: str = "") -> AsyncValue:
    """Make an available value.

    Raises:
        PayloadError: if `value` does not fit the type.
    """
    process = native_process()
    number, first, second = encode(type_text, value, process.objects)
    make = process.quick.value_of
    return AsyncValue(queue, make(queue.context(), number, first, second), type_text)


def make_error(queue: WorkQueue, diagnostic: Diagnostic) -> AsyncValue:
    """Make an error value."""
    made = make_unavailable(queue)
    made.set_error(diagnostic)
    return made


def when_all(values: Iterable[AsyncValue], call: Callable[[], None]) -> None:
    """Call `call` once all values are resolved: now, or on the thread that resolves
    the last one.
    """
    left = list(values)

    def go_on() -> None:
        while left:
            value = left.pop()
            if not value.done():
                value.and_then(go_on)
                return
        call()

    go_on()
