"""The external values for which a run is waiting.

A Python kernel may return a value that a thread, an event loop, or a timer resolves later.  A run
that is idle is not stuck while such a value is unresolved and some code still refers to it.

This module also turns futures from Python libraries into AsyncValues (`from_future`).
"""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error, note
from tfrt_runtime.host.failures import cancellation, diagnostic_of
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.values.async_value import AsyncValue, Future, make_unavailable
from tfrt_runtime.host.values.fitting import misfit


@dataclass(frozen=True, slots=True)
class Promise:
    """A value that code outside the runtime may resolve; `text` describes the value.

    With `is_inside`, the runtime resolves the value, which may come from another run.  If it does
    not, the promise only helps to explain why a run is stuck.
    """

    holder: Callable[[], AsyncValue | None]
    text: str
    location: AnyLocation | None
    is_inside: bool = False

    def is_open(self) -> bool:
        """Return whether the value is unresolved and some code still refers to it."""
        value = self.holder()
        return value is not None and not value.done()

    def may_be_kept(self, may_come: Callable[[object], bool]) -> bool:
        """Return whether code outside the runtime may still resolve the value.

        For the result of a run, `may_come(run)` decides.
        """
        value = self.holder()
        if value is None or value.done():
            return False
        if value.source is None:
            return not self.is_inside
        run = value.source()
        # `source` returns None if the run no longer exists. Such a run never resolves a value.
        return (run is not None or not self.is_inside) and may_come(run)


Counted = tuple[str, int, str, AnyLocation | None]
"""A pending result of a kernel that counts as one of the run's activities.

The fields are the kernel's name, the result's index, the event for which the result waits, and the
kernel's location.
"""

MIN_SWEPT = 16


def unresolved(kernel: str, index: int, waits: str) -> str:
    """Return the text of a note about result `index`, which a waiting kernel has not resolved."""
    return f"kernel '{kernel}' has not resolved its result {index} yet: it is waiting for {waits}"


class Promises:
    """The promises that one run waits for.  Safe to use from any thread."""

    def __init__(self) -> None:
        # The keys are weak references. Each call of a coroutine adds a key, and a WeakSet would
        # take twice as long.
        self._own: dict[weakref.ref[AsyncValue], Counted | None] = {}
        # A weak reference whose value is gone passes itself, which is the key.
        self._forget = self._own.__delitem__
        self._promises: list[Promise] = []
        self._sweep_at = MIN_SWEPT
        self._lock = threading.RLock()

    def own(self, value: AsyncValue, counted: Counted | None = None) -> None:
        """Record that the run has allocated `value` for a kernel.

        Cancelling the run makes such values errors.  With `counted`, the run itself counts the
        activity that resolves the value.
        """
        self._own[weakref.ref(value, self._forget)] = counted

    def decide(self, diagnostic: Diagnostic) -> None:
        """Turn the unresolved values that the run has allocated into errors."""
        for value in list(self._own):
            if (own := value()) is not None and (held := own.alive()) is not None:
                with contextlib.suppress(RuntimeError):  # another thread is resolving it
                    held.set_error(diagnostic)

    def counts(self, value: AsyncValue) -> bool:
        """Return whether `own` has recorded an activity that will resolve the value.

        The run counts such an activity, so it stays open until the value is resolved.
        """
        # Weak references to the same living object are equal, even if only one has a callback.
        return self._own.get(weakref.ref(value)) is not None

    def watch(
        self,
        value: AsyncValue,
        text: str,
        location: AnyLocation | None = None,
        *,
        is_inside: bool = False,
    ) -> None:
        """Record that the code that refers to the Python object `value` may resolve the value.

        With `is_inside`, a kernel has returned the object, and another AsyncValue resolves it.
        """
        self._add(Promise(weakref.ref(value), text, location, is_inside=is_inside))
        if is_inside:
            # Only the kernel may have held the object, and the promise refers to it weakly. This
            # waiter does nothing but keep the object until the value is resolved.
            value.and_then(value.done)  # type: ignore[arg-type]

    def expect(self, value: AsyncValue, text: str) -> None:
        """Record that code outside the run, for example another run, resolves the value."""
        self._add(Promise(lambda: value, text, None))

    def _add(self, promise: Promise) -> None:
        with self._lock:
            self._promises.append(promise)
            if len(self._promises) >= self._sweep_at:
                self._promises = [kept for kept in self._promises if kept.is_open()]
                # Doubling the limit makes the cost of a promise constant on average.
                self._sweep_at = max(MIN_SWEPT, 2 * len(self._promises))

    def are_open(self, may_come: Callable[[object], bool] = lambda _: True) -> bool:
        """Return whether code outside the runtime may still resolve one of the values.

        A result of another run counts only if `may_come(run)` is true.
        """
        with self._lock:
            promises = list(self._promises)
        return any(promise.may_be_kept(may_come) for promise in promises)

    def notes(self) -> list[Diagnostic]:
        """Return notes on the values that code outside the runtime may still resolve.

        There is one note per value, in the order in which the values were recorded.
        """
        # Other threads add and remove values meanwhile, and `copy` is atomic.
        own = [(value(), of) for value, of in self._own.copy().items()]
        return self.open_notes(is_inside=False) + [
            note(unresolved(kernel, index, waits), place)
            for value, (kernel, index, waits, place) in ((v, of) for v, of in own if of)
            if value is not None and not value.done()
        ]

    def given_by_kernels(self) -> list[AsyncValue]:
        """Return those of the kernels' results that the runtime resolves."""
        with self._lock:
            held = [one.holder() for one in self._promises if one.is_inside]
        return [value for value in held if value is not None]

    def open_notes(self, *, is_inside: bool) -> list[Diagnostic]:
        """Return notes on the unresolved values.

        With `is_inside`, these are the values that kernels have returned and the runtime must
        resolve.  Otherwise, these are the values that code outside the runtime must resolve.
        """
        with self._lock:
            promises = [one for one in self._promises if one.is_inside == is_inside]
        return [note(promise.text, promise.location) for promise in promises if promise.is_open()]


Refuse = Callable[[str], Diagnostic]
"""A function that creates the error for a value of the wrong type."""
OBJECT = "!tfrt.object"


def is_on_queue(queue: WorkQueue, value: AsyncValue, type_text: str) -> bool:
    """Return whether the queue's native code can use the value as a value of the given type.

    Native code reads the bits of a number as the program's type, without a check.
    """
    if value.queue is not queue:
        return False
    if type_text in SCALAR_TYPES:
        return value.has_type(type_text)
    return (
        value.type not in ("", *SCALAR_TYPES)
        or (value.done() and value.type != "")
        or type_text in ("", OBJECT)
    )


def on_queue(
    queue: WorkQueue,
    value: AsyncValue,
    type_text: str,
    refuse: Callable[[str], Diagnostic] = error,
) -> AsyncValue:
    """Return `value` if it belongs to `queue` and has the right type.

    Otherwise, return a value of `queue` that follows `value`.  `refuse` creates the error for a
    value that turns out to be of the wrong type.
    """
    if is_on_queue(queue, value, type_text):
        return value
    brought = make_unavailable(queue, type_text)
    came = value.for_waiter()  # a callback must not keep a promise alive

    def resolve() -> None:
        problem = came.exception(0)
        if problem is not None:
            brought.set_error(problem.diagnostics[0])
            return
        payload = came.payload()
        try:
            brought.emplace(payload)
        except PayloadError as wrong:
            brought.set_error(refuse(misfit(type_text, payload, wrong)))

    value.and_then(resolve)
    if value.queue is not queue:
        # The threads of `queue` do not run the other queue's tasks.
        value.have_made()
    return brought


def is_future(value: object) -> TypeGuard[Future]:
    """Return whether `from_future` accepts the object."""
    return any(_is_from(one, value) for one in ("asyncio", "concurrent.futures", "distributed"))


def is_awaited(value: object, type_text: str) -> TypeGuard[Future]:
    """Return whether a future that a kernel returns is replaced with the future's result.

    `type_text` is the type of the kernel's result.  If it is an object type, the future itself is
    the result.
    """
    return type_text not in ("", "object", OBJECT) and is_future(value)


def _is_from(module: str, value: object) -> bool:
    # Do not import the modules, which would take 20 ms: a future's module is already imported.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, loaded.Future)


def from_future(
    queue: WorkQueue,
    future: Future,
    type_text: str = "",
    refuse: Refuse = error,
    fail: Callable[[BaseException], Diagnostic] = diagnostic_of,
    fetch: Callable[[Future], object] = lambda done: done.result(),
) -> AsyncValue:
    """Return a value that is resolved when the future is done.

    The future's exception becomes the value's error.  Any thread may call this, even for an event
    loop's future.

    Args:
        refuse: creates the error for a result of the wrong type.
        fail: creates the error for the future's exception.
        fetch: returns the future's result.
    """
    value = make_unavailable(
        queue, type_text, lambda: refuse("the future was dropped before it was done")
    )

    def resolve(done: Future) -> None:
        with contextlib.suppress(RuntimeError):  # the value was cancelled in the meantime
            if done.cancelled():
                value.set_error(cancellation("the future was cancelled"))
            elif (problem := done.exception()) is not None:
                value.set_error(fail(problem))
            else:
                result = fetch(done)
                try:
                    value.emplace(result)
                except PayloadError as wrong:
                    value.set_error(refuse(misfit(type_text, result, wrong)))

    if future.done():
        resolve(future)
    elif _is_from("asyncio", future):
        loop = future.get_loop()  # type: ignore[union-attr]
        if loop.is_running():
            # Asyncio's futures are not thread-safe: only the loop's thread may add a callback.
            loop.call_soon_threadsafe(future.add_done_callback, resolve)
        else:
            value.set_error(
                refuse(
                    "this future will never be done, because its event loop is not running:"
                    " start the loop first"
                )
            )
    else:
        future.add_done_callback(resolve)
    return value
