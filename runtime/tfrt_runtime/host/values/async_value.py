"""A value that may not be available yet, as Python sees it.

An `AsyncValue` leaves the unavailable state once, to available or to error, and never comes back.
A user of the value does not wait for it: it adds a callback with `and_then`.  Code that must wait
calls `result`, or `await`s it.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, SupportsIndex

from tfrt_runtime.callers import deadline_in, require, seconds_until
from tfrt_runtime.diagnostics import Diagnostic, Ending, TfrtError, error
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.failures import cancellation, diagnostic_of, exception_of, for_users
from tfrt_runtime.host.interrupts import INTERRUPTS, WAS_RAISED
from tfrt_runtime.host.payload import (
    CHAIN,
    READERS,
    SCALAR_TYPES,
    NativeValue,
    as_python,
    encode,
    read_payload,
    shown,
)
from tfrt_runtime.host.process import MISSING, native_process, shielded
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Value
from tfrt_runtime.host.values.fitting import fitting
from tfrt_runtime.host.values.public import Public
from tfrt_runtime.host.waiting import NO_KERNEL, Maker, kernel_wait
from tfrt_runtime.native import layouts as at

_ORDINARY = {
    word: number
    for word, number in SCALAR_TYPES.items()
    if word[0] == "i" or word in ("f32", "f64")
}
"""Types whose values native code makes objects of."""
_SCALAR_READERS = {word: READERS[number] for word, number in SCALAR_TYPES.items()}

LOOK_SECONDS = 0.05
"""How often a task that awaits a value looks whether it waits in vain."""
if TYPE_CHECKING:
    import asyncio
    import concurrent.futures

    Future = concurrent.futures.Future[Any] | asyncio.Future[Any]

BROKEN_PROMISE = "nothing is left that could resolve this value"


class State(StrEnum):
    """What is known of a value."""

    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    ERROR = "error"


_DECIDING = threading.RLock()
"""Two threads may cancel a value at once; within, a collection may end other values."""


"""What makes a value of a future on the default host; `default_host`, which stands on values,
puts it here.
"""


ORDER = threading.RLock()
"""Held while callbacks are added or taken.  Within, a collection may end a value, and so call
what waits for it.
"""


class Callbacks:
    """What waits for a value through one of its objects; called once, in order.

    It does not hold the object: a promise must be able to die.
    """

    __slots__ = ("_waiting",)

    def __init__(self, first: Callable[[], None]) -> None:
        self._waiting: list[Callable[[], None]] | None = [first]

    def add(self, waiter: Callable[[], None]) -> bool:
        """Call `waiter` behind the others; False if they were called already.  Within `ORDER`."""
        if self._waiting is None:
            return False
        self._waiting.append(waiter)
        return True

    def __call__(self) -> None:
        with ORDER:
            waiting, self._waiting = self._waiting or [], None
        waiting.reverse()
        while waiting:  # the traceback of one that raises holds this frame, which must hold none
            shielded(waiting.pop())


class AsyncValue(NativeValue, metaclass=Public):
    """A reference to a single-assignment cell of the native core.  Safe to share between threads.

    Holds one native reference, and drops it when the Python object dies.  `type` is the MLIR type
    that the program gives the value, or "" where there is none; scalars are read as that type.
    """

    _public = (
        *("type", "state", "done", "result", "exception", "add_done_callback", "then"),
        *("cancel", "cancelled", "to_future", "from_future", "set_result", "set_exception"),
        *("and_then", "emplace", "set_error"),
    )
    __slots__ = (
        "__weakref__",
        "_callbacks",
        "_decided",
        "_found",
        "_owned",
        "_queue",
        "basis",
        "source",
        "type",
    )

    def __init__(
        self,
        queue: WorkQueue,
        address: int,
        type_text: str = "",
        source: Callable[[], Source | None] | None = None,
    ) -> None:
        """Takes ownership of one reference to the native value at `address`, a result of the run
        that `source` gives.
        """
        self._decided = 0
        self._address = address
        """What this object stands for: the value that it was made for, or the error `_decided`."""
        self._owned = address
        self._found = 0
        """The native value that this one became, once `result` has seen it."""
        self._callbacks: Callbacks | None = None
        self.source = source
        self.basis: Sequence[weakref.ref[AsyncValue]] = ()
        """The values that it is made of, until it is made; a promise among them must be able to
        die.
        """
        self._queue = queue
        self.type = type_text

    def __del__(self) -> None:
        if getattr(self, "_owned", 0):
            owned, decided = self._let_go()
            drop = native_process().quick.value_drop
            drop(self._queue.context(), owned)
            if decided:
                drop(self._queue.context(), decided)

    def _let_go(self) -> tuple[int, int]:
        """The references that this object, which dies, has owned: to its value, and to the error
        `_decided` or 0.

        Another thread may get the object from a weak reference until `__del__` is over: from now on
        it finds nothing.  Without a lock, as values die often: CPython lets another thread go on at
        calls and at the ends of loops only, so these lines are one step.
        """
        owned, decided = self._owned, self._decided
        self._owned = self._address = self._decided = 0
        return owned, decided

    def __repr__(self) -> str:
        state = self.state
        text = f" {shown(self.result(0))}" if state is State.AVAILABLE else ""
        if state is State.ERROR:
            text = f" {self._diagnostic().message!r}"
        kind = f" {self.type}" if self.type else ""
        return f"<AsyncValue{kind} {state.value}{text}>"

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("an AsyncValue is neither copied nor pickled: take its result()")

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "an AsyncValue is neither true nor false: .done() says whether it has a value, .result() gives the value"  # noqa: E501
        )

    def _refuse_operator(self, other: object = None) -> NoReturn:
        raise TypeError(
            "an AsyncValue is not a number yet: .result() waits for the number, .then(lambda x: ...) computes"  # noqa: E501
            " with it later"
        )

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _refuse_operator
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = (
        _refuse_operator
    )
    __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __matmul__ = __rmatmul__ = (
        _refuse_operator
    )

    def _repr_html_(self) -> str:
        """What a notebook shows of the value at this moment: a row of a board."""
        return HOOKS.value_html(self)

    def _display_(self) -> object:
        """What marimo displays."""
        return HOOKS.marimo(self)

    def widget(self, name: str = "value") -> Any:
        """An ipywidgets widget that follows this value, for boxes, links and observers; `name` is
        on its line.

        Its traits `state`, `value`, `text`, `type`, `error`, `place` and `elapsed` are strings,
        except `value` (a number or a string; else None) and `elapsed` (seconds).  When the value is
        resolved, `state` changes last.  Observers are called on a thread of the notebook's, a
        thirtieth of a second later at most unless an observer is slow. The widget does not keep a
        promise alive.  It stays until it is closed.

        Raises:
            ImportError: if ipywidgets or anywidget is not installed.
        """
        return HOOKS.widget(self, name)

    @property
    def address(self) -> int:
        """The native value; borrowed."""
        return self._address

    @property
    def native(self) -> int:
        """The native value that this object was made for, also after `decide`; borrowed."""
        return self._owned

    @property
    def state(self) -> State:
        """The state at this moment."""
        outcome = native_process().quick.value_outcome(self._address)
        if outcome == 0:
            return State.UNAVAILABLE
        return State.ERROR if Value.at(outcome).is_error else State.AVAILABLE

    @property
    def references(self) -> int:
        """How many references the value has now; this object's is one of them."""
        return Value.at(self._address).references

    @property
    def is_indirect(self) -> bool:
        """Whether the value stands for another one."""
        return Value.at(self._address).is_indirect

    @property
    def queue(self) -> WorkQueue:
        """The queue whose values it is one of."""
        return self._queue

    def has_type(self, word: str) -> bool:
        """Whether the value is a number of that type, or will be one, or an error."""
        outcome = native_process().quick.value_outcome(self._address)
        if outcome == 0:
            return self.type == word
        value = Value.at(outcome)
        return value.is_error or value.payload_type == SCALAR_TYPES[word]

    def reference(self) -> AsyncValue:
        """Another reference to the value, which is no promise to resolve it."""
        native_process().quick.value_add_reference(self._address)
        return AsyncValue(self._queue, self._address, self.type)

    def alive(self) -> AsyncValue | None:
        """Another reference; None if this object, which a weak reference gave, dies at this
        moment.
        """
        add_reference = native_process().quick.value_add_reference
        address = self._address
        if address == 0:
            return None
        add_reference(address)  # one step with the look before, as in `_let_go`
        return AsyncValue(self._queue, address, self.type)

    def for_waiter(self) -> AsyncValue:
        """What a callback of `and_then` reads the value from.

        A promise must be able to die; the result of a run may be decided by this object (`decide`).
        """
        return self.reference() if self.source is None else self

    def addresses(self) -> list[int]:
        """The native value, and those that it stands for one behind the other; borrowed."""
        found = [self._address]
        while self.done() and (last := Value.at(found[-1])).is_indirect:
            found.append(last.target)
        return found

    def done(self) -> bool:
        """Whether the value is available or an error."""
        if self._found:
            return True
        outcome = native_process().quick.value_outcome
        # 0 in `__del__`: while that runs, another thread may still get the object from a weak
        # reference.
        address = self._address
        return address == 0 or outcome(address) != 0

    def and_then(self, waiter: Callable[[], None]) -> None:
        """Call `waiter` once the value is resolved: now, on this thread, if it already is.

        Otherwise on the thread that resolves it; waiters of one object in the order in which they
        came, each in a copy of the context in which it did.  What `waiter` raises is shown by
        `sys.excepthook`, and ends nothing.
        """
        address = self._address
        waiter = functools.partial(copy_context().run, waiter)
        with ORDER:
            callbacks = Callbacks(waiter)
            if not self.done():
                if self._callbacks is not None and self._callbacks.add(waiter):
                    return
                native_process().track(self)  # what is called may refer to this object
                self._callbacks = callbacks
        handle = native_process().objects.add(callbacks)
        entry = native_process().quick.value_and_then
        entry(self._queue.context(), address, handle)
        if self._address != address:  # `decide` may not have seen them
            callbacks()

    def add_done_callback(self, function: Callable[[AsyncValue], None]) -> None:
        """Call `function(self)` once the value is resolved, as `and_then` does.

        If this object is dead by then, the function gets another one for the same value.
        """
        require(callable(function), "a callback", "a function", function)
        this, came = weakref.ref(self), self.for_waiter()

        def call() -> None:
            value = this()
            function(came if value is None or value._address == 0 else value)

        self.and_then(call)

    def then(self, function: Callable[[Any], object]) -> AsyncValue:
        """The value of `function(value)`, which is called on the thread that resolves this one.

        If this one becomes an error, that is the error, and `function` is not called.  What
        `function` raises is the cause of the error.  If it returns an AsyncValue, that one's value
        is taken.
        """
        require(callable(function), "what follows a value", "a function of it", function)
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
            with contextlib.suppress(RuntimeError):  # it was cancelled meanwhile
                made.emplace(returned)

        self.and_then(call)
        return made

    def follow(self, other: AsyncValue) -> None:
        """Become what `other` becomes."""
        came = other.for_waiter()
        self.basis = (weakref.ref(other),)

        def resolve() -> None:
            self.basis = ()
            with contextlib.suppress(RuntimeError):  # it was cancelled meanwhile
                if came.state is State.ERROR:
                    self.set_error(came._diagnostic())
                else:
                    self.emplace(came.payload())

        other.and_then(resolve)

    def to_future(self) -> concurrent.futures.Future[Any]:
        """A future that is done when the value is resolved; cancelling it cancels the value."""
        import concurrent.futures  # a future exists, so its module is loaded

        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        came = self.for_waiter()

        def resolve() -> None:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                if came.cancelled():
                    future.cancel()
                    future.set_running_or_notify_cancel()  # else `wait` and `as_completed` wait on
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
        """A value that is resolved when `future` is done; cancelling the value cancels the future.

        Raises:
            TypeError: if it is no future of `concurrent.futures`, `asyncio` or `distributed`.
        """
        made: AsyncValue = HOOKS.of_future(future)
        return made

    def cancelled(self) -> bool:
        """Whether the value, or the run whose result it is, was cancelled before it was
        resolved.
        """
        return self.state is State.ERROR and self._diagnostic().ending is Ending.CANCELLED

    def cancel(self, message: str = "Cancelled") -> bool:
        """Decide the value now; False if it is resolved already, otherwise than by a cancellation.

        Cancels the run whose result it is, unless another undecided result of the run is held.
        Then only holders of this object see it cancelled.
        """
        if self.done():
            return self.cancelled()
        require(isinstance(message, str), "the reason to cancel", "a text", message)
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
        """Stand for the error `failure` from now on, whatever the native value becomes."""
        address, quick = failure.address, native_process().quick
        with _DECIDING:
            if self.done():
                return
            quick.value_add_reference(address)
            is_alive = self._owned != 0
            if is_alive:  # one step with the look before, as in `_let_go`
                self._decided = self._address = address
        if not is_alive:
            quick.value_drop(self._queue.context(), address)
        elif self._callbacks is not None:
            self._callbacks()

    def set_result(self, value: object) -> None:
        """Resolve a value of `unavailable` to `value`.

        Raises:
            InvalidStateError: of `concurrent.futures`, if it is resolved already, or is a run's
                result.
            PayloadError: if its type has no such values.
        """
        self._set(lambda: self.emplace(value))

    def set_exception(self, exception: BaseException | type[BaseException]) -> None:
        """Resolve a value of `unavailable` to an error, the cause of which is `exception`.

        Raises:
            TypeError: if it is no exception.
            InvalidStateError: of `concurrent.futures`, if it is resolved already, or is a run's
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
        """The value; waits for it, and lets this thread work for it meanwhile.

        A dense tensor is a numpy array over its memory.

        Args:
            timeout: seconds; None is no limit.

        Raises:
            TimeoutError: if it is not resolved in time.
            TfrtError: if it is an error, or will never resolve; carries the diagnostic.
            KeyboardInterrupt: if that was raised where the value should have been made.
        """
        try:
            return self._result(timeout)
        except (TfrtError, KeyboardInterrupt, TimeoutError) as problem:
            raise for_users(problem)

    def _result(self, timeout: float | None) -> object:
        if timeout is not None:
            deadline_in(timeout)  # a wrong one is refused also where the value is there already
        elif (reads := _ORDINARY.get(self.type)) is not None:
            # The shortest way to a number: native code works for it, and makes the object.
            queue = self._queue
            found = queue.process.result(queue.address, self._address, reads)
            if found is not MISSING:
                return found
            INTERRUPTS.raise_if_noted()
        outcome = self._found or self._outcome(timeout)
        if Value.at(outcome).is_error:
            # Not in a variable: the exception's traceback would hold it, and so itself and the
            # value.
            diagnostic = self._diagnostic()
            if isinstance(diagnostic.cause, KeyboardInterrupt):
                setattr(diagnostic.cause, WAS_RAISED, True)
                raise KeyboardInterrupt from TfrtError(diagnostic)
            raise exception_of(diagnostic)
        return as_python(self._read_at(outcome))

    def payload(self) -> object:
        """What programs hold of an available value: a tensor as the runtime knows it."""
        return self._read_at(native_process().quick.value_outcome(self._address))

    def exception(self, timeout: float | None = None) -> TfrtError | None:
        """The error that `result` would raise, or None; waits like it.

        Raises:
            TimeoutError: if the value is not resolved in time.
            TfrtError: if it will never resolve.
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

    @property
    def _condition(self) -> NoReturn:
        """What `concurrent.futures.wait` looks at, and futures have."""
        raise TypeError(
            "concurrent.futures waits for futures only: give it value.to_future(), or the value to"
            " tfrt.wait_for"
        )

    async def resolved(self) -> None:
        """Return once the value is resolved; other tasks of the loop go on meanwhile."""
        import asyncio  # takes 20 ms; code that awaits has it already

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            advice = "with trio, write `await trio.to_thread.run_sync(value.result)`"
            raise RuntimeError(f"`await` needs a running loop of asyncio; {advice}") from None
        done = asyncio.Event()

        def wake() -> None:
            # The loop may have been closed before the value was resolved.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set)

        self.and_then(wake)
        # A loop that sleeps does not see that its task was cancelled by a signal handler, as a
        # notebook does it: it gets up now and then.
        kernel = kernel_wait(self._queue, self._described, self.done)
        with self._queue.worked_for(), self._worked_for_elsewhere(), kernel as look:
            while not done.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(done.wait(), LOOK_SECONDS)
                if not done.is_set():
                    look()
                    if found := self._why_never(blocks=False):
                        raise TfrtError(*found)

    def _why_never(self, *, blocks: bool = True) -> Sequence[Diagnostic]:
        """Why the value will never resolve; nothing if it may come.

        With `blocks` this thread waits for it, and so does nothing else.
        """
        first: Sequence[Diagnostic] = ()
        for value, run in self._makers():
            found = () if run is None else run.why_never(value, blocks=blocks)
            if not found:
                return ()
            first = first or found
        return first

    def _described(self) -> tuple[str, list[Source | None]]:
        """What the value is for the kernel that waits for it, and where it comes from."""
        makers = self._makers()
        names = [run.name_of(value) for value, run in makers if run is not None]
        return ", ".join(names) or "a value", [run for _, run in makers]

    def _makers(self) -> list[tuple[AsyncValue, Source | None]]:
        """The unresolved values that this one is made of, and their runs; None for what is
        outside of runs.
        """
        if self.source is not None or not self.basis:
            return [(self, None if self.source is None else self.source())]
        found: list[tuple[AsyncValue, Source | None]] = []
        for reference in self.basis:
            value = reference()
            if value is None:  # it ends at this moment, and this one with it
                found.append((self, None))
            elif not value.done():
                found += value._makers()
        return found

    def _queues_without_workers(self) -> set[WorkQueue]:
        """Those of the runs that make the value: they need a thread that waits."""
        queues = {value._queue for value, run in self._makers() if run is not None}
        return {queue for queue in queues if queue.threads == 0}

    @contextlib.contextmanager
    def _worked_for_elsewhere(self) -> Iterator[None]:
        """Within, queues without workers run what they have, apart from the value's own, for
        which its waiter works.
        """
        with contextlib.ExitStack() as stack:
            for queue in self._queues_without_workers() - {self._queue}:
                stack.enter_context(queue.worked_for())
            yield

    def have_made(self) -> None:
        """Let queues without workers run what makes the value, though no thread waits for it."""
        for queue in self._queues_without_workers():
            with contextlib.ExitStack() as stack:
                stack.enter_context(queue.worked_for())
                self.and_then(stack.pop_all().close)

    def _outcome(self, timeout: float | None) -> int:
        """The native value that this one became, borrowed; waits for it."""
        value_outcome = native_process().quick.value_outcome
        outcome = self._found or value_outcome(self._address)
        if outcome == 0:
            if timeout is None:
                process, queue = native_process(), self._queue
                process.result(queue.address, self._address, 0)  # works for it
                INTERRUPTS.raise_if_noted()
                outcome = value_outcome(self._address)
            if outcome == 0:
                self._wait(timeout)
                outcome = value_outcome(self._address)
        self._found = outcome
        return outcome

    def _wait(self, timeout: float | None) -> None:
        found: list[Diagnostic] = []

        def is_hopeless() -> bool:
            look()
            found.extend(self._why_never())
            return bool(found)

        kernel = (
            kernel_wait(self._queue, self._described, self.done) if timeout is None else NO_KERNEL
        )
        with self._worked_for_elsewhere(), kernel as look:
            is_over = wait_for([self], timeout, is_hopeless)
        if found:
            raise TfrtError(*found)
        if not is_over:
            raise TimeoutError(f"the value is still unavailable after {timeout:.4g} s")

    def _read_at(self, value: int) -> object:
        reader = _SCALAR_READERS.get(self.type)
        if reader is not None and Value.at(value).payload_type < at.TYPE_OBJECT:
            return reader(value)
        return read_payload(value, native_process().objects)

    def _diagnostic(self) -> Diagnostic:
        outcome = native_process().quick.value_outcome(self._address)
        handle = Value.at(outcome).payload
        diagnostic = native_process().objects.get(handle)
        assert isinstance(diagnostic, Diagnostic)
        return diagnostic

    def emplace(self, value: object = CHAIN) -> None:
        """Make a value that `make_unavailable` made available, and run the waiters.

        Numbers are stored as the value's type says, everything else as an object.

        Raises:
            RuntimeError: if the value is already resolved, or gets its value from another one.
            PayloadError: if the type has no such values.
        """
        value = fitting(self.type, value)
        number, first, second = encode(self.type, value, native_process().objects)
        try:
            self._claim()
        except RuntimeError:
            if number == at.TYPE_OBJECT:
                native_process().objects.release(first)
            raise
        self._publish(native_process().slow.value_emplace, number, first, second)

    def set_error(self, diagnostic: Diagnostic | str) -> None:
        """Resolve to an error, or to one with this message.  Only what depends on this value is
        skipped.

        Raises:
            TypeError: if it is neither.
            RuntimeError: if the value is already resolved, or gets its value from another one.
        """
        if isinstance(diagnostic, str):
            diagnostic = error(diagnostic)
        if not isinstance(diagnostic, Diagnostic):
            kind = type(diagnostic).__name__
            raise TypeError(f"an error is a Diagnostic or a message, found {kind}")
        self._claim()
        handle = native_process().objects.add(diagnostic)
        self._publish(native_process().slow.value_set_error, handle)

    def _publish(self, entry: Callable[..., None], *words: int) -> None:
        """Resolve the value, which is claimed, and hand over what becomes ready."""
        queue, address = self._queue, self._address
        if queue.on_resolve is not None:
            queue.on_resolve(address)
        queue.resolving.add(address)
        try:
            entry(queue.context(), address, *words)
            queue.hand_over()
        finally:
            queue.resolving.discard(address)

    def _claim(self) -> None:
        """Claim the right to resolve the value: of several threads that try, one succeeds."""
        if native_process().quick.value_claim(self._address):
            return
        if self.is_indirect:
            raise RuntimeError("this AsyncValue gets its value from another one")
        state = self.state.value if self.done() else "about to be resolved"
        raise RuntimeError(f"an AsyncValue resolves once; this one is {state}")


class Source(Maker, Protocol):
    """The run that makes a value."""

    def why_never(self, value: AsyncValue, *, blocks: bool) -> Sequence[Diagnostic]:
        """Why the value will never resolve; nothing while it may come."""

    def name_of(self, value: AsyncValue) -> str:
        """What the value is called in messages."""

    def cancel_for(self, value: AsyncValue, reason: Diagnostic) -> bool:
        """Cancel the run, unless a caller holds other results of it; whether it was."""


class Promise(AsyncValue):
    """The reference of the code that must resolve a value.

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
        if self.done() or sys.is_finalizing():
            super().__del__()
            return
        last = AsyncValue(self._queue, self._let_go()[0], self.type)
        # Callbacks hold no reference: that of a run which counts this value may be all that waits
        # for it.
        if last.references > 1 or self._callbacks is not None:
            with contextlib.suppress(RuntimeError):
                last.set_error(replace(self._on_broken(), ending=Ending.BROKEN))


def make_unavailable(
    queue: WorkQueue,
    type_text: str = "",
    on_broken: Callable[[], Diagnostic] = lambda: error(BROKEN_PROMISE),
) -> AsyncValue:
    """A value that its maker resolves later, with `emplace` or `set_error`.

    When the maker's reference dies without that, the value becomes the error that `on_broken` says.
    """
    number = SCALAR_TYPES.get(type_text, 0)
    address = native_process().quick.value_make(queue.context(), number)
    return Promise(queue, address, type_text, on_broken)


def make_available(queue: WorkQueue, value: object, type_text: str = "") -> AsyncValue:
    """A value that is available from the start.

    Raises:
        PayloadError: if the number does not fit the type.
    """
    process = native_process()
    number, first, second = encode(type_text, value, process.objects)
    make = process.quick.value_of
    return AsyncValue(queue, make(queue.context(), number, first, second), type_text)


def make_error(queue: WorkQueue, diagnostic: Diagnostic) -> AsyncValue:
    """An error from the start."""
    made = make_unavailable(queue)
    made.set_error(diagnostic)
    return made


def when_all(values: Iterable[AsyncValue], call: Callable[[], None]) -> None:
    """Call `call` once every value is resolved: now, or on the thread that resolves the last of
    them.
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


def wait_for(
    values: Iterable[AsyncValue],
    timeout: float | None = None,
    interrupted: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until every value is resolved; False when the time is over first.

    The thread works for the values' queue while it waits.  Signals are seen every few milliseconds.

    Raises:
        TfrtError: if they are no AsyncValues, at the line of the caller.
    """
    deadline = deadline_in(timeout)
    expected = "AsyncValues, as in wait_for([value]) or wait_for(run)"
    require(isinstance(values, Iterable), "what is waited for", expected, values)
    given = [*values]
    are_values = all(isinstance(value, AsyncValue) for value in given)
    require(are_values, "what is waited for", expected, given)
    return all(
        value.done() or _wait_for_one(value, seconds_until(deadline), interrupted)
        for value in given
    )


def _wait_for_one(
    value: AsyncValue, timeout: float | None, interrupted: Callable[[], bool]
) -> bool:
    process, queue = native_process(), value._queue
    latch = process.quick.latch_make(queue.context(), value.address)
    try:
        is_over = queue.wait(
            latch + at.LATCH_PENDING, timeout, lambda: value.done() or interrupted()
        )
        return is_over or value.done()
    finally:
        process.quick.drop_latch(queue.context(), latch)
