"""The base class of AsyncValue: a reference to a native value, with its state and its resolution.

`waiting` and `async_value` build on this class.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextvars import copy_context
from enum import StrEnum
from typing import Any, NoReturn, SupportsIndex

from tfrt_runtime.diagnostics import Diagnostic, Ending, error
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.payload import (
    CHAIN,
    READERS,
    SCALAR_TYPES,
    NativeValue,
    encode,
    read_payload,
)
from tfrt_runtime.host.process import native_process, shielded
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Value
from tfrt_runtime.host.values.fitting import fitting
from tfrt_runtime.native import layouts as at


class Public(type):
    """A metaclass for classes whose `dir` lists only the names in `_public` and special methods.

    `help`, Tab completion, and the Python reference use `dir`, so they omit members that are only
    for the runtime.
    """

    _public: tuple[str, ...]

    def __dir__(cls) -> list[str]:
        special = [name for name in super().__dir__() if name.startswith("__")]
        # Omit operators that only raise an error with advice.
        hidden = getattr(cls, "_refuse_operator", None)
        return [*cls._public, *(n for n in special if getattr(cls, n, None) is not hidden)]


_SCALAR_READERS = {word: READERS[number] for word, number in SCALAR_TYPES.items()}


class State(StrEnum):
    """Whether a value is unavailable, available, or an error."""

    UNAVAILABLE = "unavailable"
    AVAILABLE = "available"
    ERROR = "error"


ORDER = threading.RLock()
"""Held while callbacks are added or taken.

The lock is reentrant, because a garbage collection may destroy a promise while a thread holds the
lock, and the promise's waiters are then called on that thread.
"""


class Callbacks:
    """Callbacks that wait for a value through one Python object.  Each is called once, in order.

    The callbacks do not refer to that object, because callbacks must not keep a promise alive.
    """

    __slots__ = ("_waiting",)

    def __init__(self, first: Callable[[], None]) -> None:
        self._waiting: list[Callable[[], None]] | None = [first]

    def add(self, waiter: Callable[[], None]) -> bool:
        """Add `waiter` after the others; return False if they have already been called.

        The caller must hold `ORDER`.
        """
        if self._waiting is None:
            return False
        self._waiting.append(waiter)
        return True

    def __call__(self) -> None:
        with ORDER:
            waiting, self._waiting = self._waiting or [], None
        waiting.reverse()
        while waiting:  # keep no reference: a traceback may refer to this frame
            shielded(waiting.pop())


class HeldValue(NativeValue, metaclass=Public):
    """A Python object that owns one reference to a native value until it is destroyed."""

    __slots__ = (
        "__weakref__",
        "_callbacks",
        "_decided",
        "_found",
        "_owned",
        "_queue",
        "type",
    )
    _callbacks: Callbacks | None
    _decided: int
    _found: int
    _owned: int
    _queue: WorkQueue
    type: str

    def __del__(self) -> None:
        if getattr(self, "_owned", 0):
            owned, decided = self._let_go()
            drop = native_process().quick.value_drop
            drop(self._queue.context(), owned)
            if decided:
                drop(self._queue.context(), decided)

    def _let_go(self) -> tuple[int, int]:
        """Take this object's references from it because it is being destroyed, and return them.

        The references are the addresses of its native value and of the error `_decided`, or 0.
        Until `__del__` has returned, another thread may still get the object from a weak reference,
        but finds no value in it.  No lock is needed: CPython switches threads only at calls and at
        the ends of loops, so the next lines are atomic.
        """
        owned, decided = self._owned, self._decided
        self._owned = self._address = self._decided = 0
        return owned, decided

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("an AsyncValue cannot be copied or pickled: use its result()")

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
        """Return what a notebook displays: a board's row with the value's current state."""
        return HOOKS.value_html(self)

    def _display_(self) -> object:
        """Return what marimo displays for the value."""
        return HOOKS.marimo(self)

    def widget(self, name: str = "value") -> Any:
        """Return an ipywidgets widget that follows this value, for boxes, links, and observers.

        The widget's line shows `name`.  The traits `state`, `text`, `type`, `error`, and `place`
        are strings.  The trait `value` is a number, a string, or None.  The trait `elapsed` is in
        seconds.  When the value is resolved, `state` changes last.  Observers are called on one of
        the notebook's threads, at most 1/30 s after the change unless an observer is slow.  The
        widget does not keep a promise alive.  The widget exists until it is closed.

        Raises:
            ImportError: if ipywidgets or anywidget is not installed.
        """
        return HOOKS.widget(self, name)

    @property
    def address(self) -> int:
        """The address of the native value.  The caller gets no reference."""
        return self._address

    @property
    def native(self) -> int:
        """The address of the native value for which this object was created, even after `decide`.

        The caller gets no reference.
        """
        return self._owned

    @property
    def state(self) -> State:
        """The value's current state."""
        outcome = native_process().quick.value_outcome(self._address)
        if outcome == 0:
            return State.UNAVAILABLE
        return State.ERROR if Value.at(outcome).is_error else State.AVAILABLE

    @property
    def references(self) -> int:
        """How many references to the native value exist now, including this object's."""
        return Value.at(self._address).references

    @property
    def is_indirect(self) -> bool:
        """Whether the native value forwards to another value."""
        return Value.at(self._address).is_indirect

    @property
    def queue(self) -> WorkQueue:
        """The queue to which the value belongs."""
        return self._queue

    def has_type(self, word: str) -> bool:
        """Return whether the value is, or will become, a number of the type `word` or an error."""
        outcome = native_process().quick.value_outcome(self._address)
        if outcome == 0:
            return self.type == word
        value = Value.at(outcome)
        return value.is_error or value.payload_type == SCALAR_TYPES[word]

    def addresses(self) -> list[int]:
        """Return the addresses of the native value and of its forwards, in order.

        The caller gets no references.
        """
        found = [self._address]
        while self.done() and (last := Value.at(found[-1])).is_indirect:
            found.append(last.target)
        return found

    def done(self) -> bool:
        """Return whether the value is available or an error."""
        if self._found:
            return True
        outcome = native_process().quick.value_outcome
        # The address is 0 during `__del__`, while another thread may get this object from a weak
        # reference.
        address = self._address
        return address == 0 or outcome(address) != 0

    def and_then(self, waiter: Callable[[], None]) -> None:
        """Call `waiter` when the value is resolved, on the thread that resolves it.

        If the value is already resolved, call `waiter` now, on this thread.  Waiters of one object
        are called in the order in which they were added, each in a copy of its caller's contextvars
        context.  If a waiter raises an exception, `sys.excepthook` shows it, and nothing else
        happens.
        """
        address = self._address
        waiter = functools.partial(copy_context().run, waiter)
        with ORDER:
            callbacks = Callbacks(waiter)
            if not self.done():
                if self._callbacks is not None and self._callbacks.add(waiter):
                    return
                native_process().track(self)  # with a waiter, this object may be part of a cycle
                self._callbacks = callbacks
        handle = native_process().objects.add(callbacks)
        native_process().quick.value_and_then(self._queue.context(), address, handle)
        if self._address != address:  # `decide` may have missed the callbacks
            callbacks()

    def cancelled(self) -> bool:
        """Return whether the value, or its run, was cancelled before the value was resolved."""
        return self.state is State.ERROR and self._diagnostic().ending is Ending.CANCELLED

    @property
    def _condition(self) -> NoReturn:
        """The attribute that `concurrent.futures.wait` reads.

        Reading it raises an error with advice.
        """
        raise TypeError(
            "concurrent.futures accepts only futures: pass it value.to_future(), or call"
            " tfrt.wait_for([value])"
        )

    def payload(self) -> object:
        """Return an available value's payload.

        A tensor is returned as the runtime's own object, not as an array.
        """
        return self._read_at(native_process().quick.value_outcome(self._address))

    def _read_at(self, value: int) -> object:
        reader = _SCALAR_READERS.get(self.type)
        if reader is not None and Value.at(value).payload_type < at.TYPE_OBJECT:
            return reader(value)
        return read_payload(value, native_process().objects)

    def _diagnostic(self) -> Diagnostic:
        outcome = native_process().quick.value_outcome(self._address)
        handle = Value.at(outcome).payload
        diagnostic: Diagnostic = native_process().objects.get(handle)
        return diagnostic

    def emplace(self, value: object = CHAIN) -> None:
        """Resolve an AsyncValue that `make_unavailable` created, and run its waiters.

        A number is stored as the AsyncValue's type, and anything else as an object.

        Raises:
            RuntimeError: if this value is already resolved or follows another value.
            PayloadError: if `value` does not fit the type.
        """
        # Convert before claiming: no code could resolve a claimed value if the conversion failed.
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
        """Resolve the value to an error: a diagnostic, or a new diagnostic with the given message.

        Only kernels that depend on this value are skipped.

        Raises:
            TypeError: if `diagnostic` is neither a diagnostic nor a message.
            RuntimeError: if this value is already resolved or follows another value.
        """
        if isinstance(diagnostic, str):
            diagnostic = error(diagnostic)
        if not isinstance(diagnostic, Diagnostic):
            kind = type(diagnostic).__name__
            raise TypeError(f"an error is a Diagnostic or a message, found {kind}")
        self._claim()
        handle = native_process().objects.add(diagnostic)
        self._publish(native_process().slow.value_set_error, handle)

    def _publish(self, entry: Callable[..., object], *words: int) -> None:
        """Resolve the claimed value by calling `entry`.

        Hand the work that becomes ready to the queue.
        """
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
        """Claim the right to resolve the value.  If several threads try, only one succeeds."""
        if native_process().quick.value_claim(self._address):
            return
        if self.is_indirect:
            raise RuntimeError("this AsyncValue gets its value from another one")
        state = self.state.value if self.done() else "about to be resolved"
        raise RuntimeError(f"an AsyncValue can be resolved only once; this one is {state}")
