"""The Python object for a value that may not be available yet.

An `AsyncValue` changes once, from unavailable to available or to error.  Code that uses a value
adds a callback with `and_then` and does not wait.  Code that must wait calls `result` or `await`s
the value.
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
"""The payload types that native code converts to Python objects, keyed by type word."""
if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

Future: TypeAlias = "concurrent.futures.Future[Any] | asyncio.Future[Any]"
BROKEN_PROMISE = "nothing can resolve this value anymore"
_DECIDING = threading.RLock()


class AsyncValue(AwaitedValue):
    """A value that may not be available yet.  Safe to share between threads.

    The object refers to a native value, and drops its reference when it is destroyed.  `type` is
    the value's MLIR type in the program, or "".  A scalar is read as that type.
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
        """Take over a reference to the native value at `address`.

        If the value is a run's result, `source()` returns the run.
        """
        self._decided = 0
        self._address = address
        """The address of the native value, or of the error `_decided`."""
        self._owned = address
        self._found = 0
        """The native value at the end of the forwards, once `result` has found it."""
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
        """Return another reference to the value, whose holder need not resolve the value."""
        native_process().quick.value_add_reference(self._address)
        return AsyncValue(self._queue, self._address, self.type)

    def alive(self) -> AsyncValue | None:
        """Return another reference to the value, or None if this object is being destroyed."""
        add_reference = native_process().quick.value_add_reference
        address = self._address
        if address == 0:
            return None
        # CPython does not switch threads between the check and this call (`_let_go`).
        add_reference(address)
        return AsyncValue(self._queue, address, self.type)

    def for_waiter(self) -> AsyncValue:
        """Return the object from which an `and_then` callback should read the value.

        A callback must not keep a promise alive.  For a promise, the returned object is therefore
        another reference.  For a run's result, it is this object, because `decide` may resolve only
        this object.
        """
        return self.reference() if self.source is None else self

    def add_done_callback(self, function: Callable[[AsyncValue], None]) -> None:
        """Call `function(self)` once the value is resolved, as `and_then` does.

        If this object no longer exists by then, the function gets another object for the same
        value.
        """
        require(callable(function), "a callback", "a function", function)
        this, came = weakref.ref(self), self.for_waiter()

        def call() -> None:
            value = this()
            function(came if value is None or value._address == 0 else value)

        self.and_then(call)

    def then(self, function: Callable[[Any], object]) -> AsyncValue:
        """Return a new value, which becomes `function(value)` when this value is available.

        `function` is called on the thread that resolves this value.  If this value becomes an
        error, so does the new value, and `function` is not called.  If `function` raises an
        exception, the new value becomes an error with that cause.  If `function` returns an
        AsyncValue, the new value follows it.
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
        """Resolve this value to the outcome of `other`, when `other` is resolved."""
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
        """Return a future that is done when the value is resolved.

        Cancelling the future cancels the value.
        """
        import concurrent.futures  # the caller uses futures, so the module is already loaded

        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        came = self.for_waiter()

        def resolve() -> None:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                if came.cancelled():
                    future.cancel()
                    future.set_running_or_notify_cancel()  # tells `concurrent.futures.wait`
                elif (problem := came.exception(0)) is not None:
                    future.set_exception(problem)
                else:
                    future.set_result(came.result(0))

        def cancel(done: concurrent.futures.Future[Any]) -> None:
            if done.cancelled():
                self.cancel()

        self.and_then(resolve)
        future.add_done_callback(cancel)
        # A thread that waits for the future does not run the queue's tasks.
        self.have_made()
        return future

    @staticmethod
    def from_future(future: Future) -> AsyncValue:
        """Return a value that is resolved when `future` is done.

        Cancelling the value cancels the future.

        Raises:
            TypeError: if `future` is not a future of `concurrent.futures`, `asyncio`, or
                `distributed`.
        """
        made: AsyncValue = HOOKS.of_future(future)
        return made

    def cancel(self, message: str = "Cancelled") -> bool:
        """Cancel the value; return whether the value is cancelled.

        Cancelling a run's result cancels the run, unless other code holds another unresolved result
        of the same run.  In that case, only this object becomes cancelled.
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
        # The value follows another one, or another thread is resolving it. Cancel only this object.
        self.decide(make_error(self._queue, diagnostic))
        return True

    def decide(self, failure: AsyncValue) -> None:
        """Turn this object into the error `failure`, even if the native value becomes available."""
        address, quick = failure.address, native_process().quick
        with _DECIDING:
            if self.done():
                return
            quick.value_add_reference(address)
            is_alive = self._owned != 0
            if is_alive:
                # CPython does not switch threads between the check and this line (`_let_go`).
                self._decided = self._address = address
        # Do both of these without the lock: callbacks are users' code.
        if not is_alive:
            quick.value_drop(self._queue.context(), address)
        elif self._callbacks is not None:
            self._callbacks()

    def set_result(self, value: object) -> None:
        """Resolve a value that `unavailable` returned to `value`.

        Raises:
            InvalidStateError: of `concurrent.futures`, if this value is already resolved or is a
                run's result.
            PayloadError: if `value` does not fit this value's type.
        """
        self._set(lambda: self.emplace(value))

    def set_exception(self, exception: BaseException | type[BaseException]) -> None:
        """Resolve a value that `unavailable` returned to an error whose cause is `exception`.

        Raises:
            TypeError: if `exception` is not an exception.
            InvalidStateError: of `concurrent.futures`, if this value is already resolved or is a
                run's result.
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
        """Wait for the value and return it.

        In the meantime, this thread runs the queue's tasks.  A dense tensor is returned as a numpy
        array over its memory.

        Args:
            timeout: seconds; None means no limit.

        Raises:
            TimeoutError: if the value is not resolved in time.
            TfrtError: if the value is an error or will never be resolved.  The exception has the
                diagnostic.
            KeyboardInterrupt: if the code that computes the value raised a KeyboardInterrupt.
        """
        try:
            if timeout is None and (reads := _ORDINARY.get(self.type)) is not None:
                # The fast path for numbers: native code runs the tasks and creates the Python
                # object.
                queue = self._queue
                found = queue.process.result(queue.address, self._address, reads)
                if found is not MISSING:
                    return found
                INTERRUPTS.raise_if_noted()
            return self._result(timeout)
        except (TfrtError, KeyboardInterrupt, TimeoutError) as problem:
            raise for_users(problem)

    def _result(self, timeout: float | None) -> object:
        """Implement `result` for all cases except the fast path."""
        if timeout is not None:
            deadline_in(timeout)  # reject an invalid timeout even if the value is available
        outcome = self._found or self._outcome(timeout)
        if Value.at(outcome).is_error:
            # Do not store the exception in a variable: its traceback would refer to this frame, and
            # thus to the exception and the value.
            diagnostic = self._diagnostic()
            if isinstance(diagnostic.cause, KeyboardInterrupt):
                setattr(diagnostic.cause, WAS_RAISED, True)
                raise KeyboardInterrupt from TfrtError(diagnostic)
            raise exception_of(diagnostic)
        return as_python(self._read_at(outcome))

    def exception(self, timeout: float | None = None) -> TfrtError | None:
        """Return the error that `result` would raise, or None, after waiting as `result` does.

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
    """A reference for the code that must resolve the value.

    If the object is dropped before the value is resolved, the value becomes an error, because other
    code would otherwise wait for it forever.
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
        # Resolve the value through another object: during `__del__`, threads that get this object
        # from a weak reference must find no value in it.
        last = AsyncValue(self._queue, self._let_go()[0], self.type)
        # Callbacks hold no reference to the value, but also need the error.
        if last.references > 1 or self._callbacks is not None:
            with contextlib.suppress(RuntimeError):
                last.set_error(replace(self._on_broken(), ending=Ending.BROKEN))


def make_unavailable(
    queue: WorkQueue,
    type_text: str = "",
    on_broken: Callable[[], Diagnostic] = lambda: error(BROKEN_PROMISE),
) -> AsyncValue:
    """Make a value that its creator must resolve, with `emplace` or `set_error`.

    If the creator drops the object without doing so, the value becomes the error that `on_broken`
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
    """Call `call` once all values are resolved.

    It is called now if they already are, and otherwise on the thread that resolves the last value.
    """
    left = list(values)

    def go_on() -> None:
        # Only one callback is registered at a time, so `left` needs no lock.
        while left:
            value = left.pop()
            if not value.done():
                value.and_then(go_on)
                return
        call()

    go_on()
