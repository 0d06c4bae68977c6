"""The external values that a run still awaits.

A Python kernel may return a value that a thread, an event loop, or a timer resolves later.
While such a value exists and is unresolved, an idle run is not stuck.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, note
from tfrt_runtime.host.values.async_value import AsyncValue


@dataclass(frozen=True, slots=True)
class Promise:
    """A value that code outside the runtime may resolve; `text` describes it.

    With `is_inside`, its value comes from the runtime: unless it comes from another run, it counts
    only in the explanation of a stuck run.
    """

    holder: Callable[[], AsyncValue | None]
    text: str
    location: AnyLocation | None
    is_inside: bool = False

    def is_open(self) -> bool:
        """Return whether the value has a holder and is unresolved."""
        value = self.holder()
        return value is not None and not value.done()

    def may_be_kept(self, may_come: Callable[[object], bool]) -> bool:
        """Tell whether code outside the runtime may resolve the value; for a run's result, ask
        `may_come`.
        """
        value = self.holder()
        if value is None or value.done():
            return False
        if value.source is None:
            return not self.is_inside
        run = value.source()
        # Values that a finished run has left unresolved will not come.
        return (run is not None or not self.is_inside) and may_come(run)


Counted = tuple[str, str, AnyLocation | None]
"""The kernel whose results a run counts itself, the event that they wait for, and its location."""

MIN_SWEPT = 16


def unresolved(kernel: str, index: int, waits: str) -> str:
    """Return a note that a kernel has not resolved its result `index`, which waits for an external
    event.
    """
    return f"kernel '{kernel}' has not resolved its result {index} yet: it waits for {waits}"


class Promises:
    """The promises made to one run.  Safe from any thread."""

    def __init__(self) -> None:
        # Weak.  Each call of a coroutine adds one: a WeakSet would take twice as long.
        self._own: dict[weakref.ref[AsyncValue], tuple[int, Counted] | None] = {}
        self._forget = self._own.__delitem__
        self._promises: list[Promise] = []
        self._sweep_at = MIN_SWEPT
        self._lock = threading.RLock()

    def own(self, value: AsyncValue) -> None:
        """Note that the run allocated `value` for a kernel; cancelling the run resolves it."""
        self._own[weakref.ref(value, self._forget)] = None

    def decide(self, diagnostic: Diagnostic) -> None:
        """Make errors of the values that the run has allocated and no thread has resolved."""
        for value in list(self._own):
            if (own := value()) is not None and (held := own.alive()) is not None:
                with contextlib.suppress(RuntimeError):  # another thread is resolving it
                    held.set_error(diagnostic)

    def count(self, results: Iterable[AsyncValue], kernel: Counted) -> None:
        """Note that the run itself counts the activity that resolves these values of its own."""
        for index, result in enumerate(results):
            self._own[weakref.ref(result)] = index, kernel

    def counts(self, value: AsyncValue) -> bool:
        """Tell whether the run counts the activity that resolves the value, and so stays open until
        then.
        """
        return self._own.get(weakref.ref(value)) is not None

    def watch(
        self,
        value: AsyncValue,
        text: str,
        location: AnyLocation | None = None,
        *,
        is_inside: bool = False,
    ) -> None:
        """Record that the holder of the Python object `value` may resolve it. With `is_inside`, a
        kernel returned the object, which gets its own value from another one.
        """
        self._add(Promise(weakref.ref(value), text, location, is_inside=is_inside))

    def expect(self, value: AsyncValue, text: str) -> None:
        """Note that the value comes from elsewhere, for instance from another run."""
        self._add(Promise(lambda: value, text, None))

    def _add(self, promise: Promise) -> None:
        with self._lock:
            self._promises.append(promise)
            if len(self._promises) >= self._sweep_at:
                self._promises = [kept for kept in self._promises if kept.is_open()]
                self._sweep_at = max(MIN_SWEPT, 2 * len(self._promises))

    def are_open(self, may_come: Callable[[object], bool] = lambda _: True) -> bool:
        """Tell whether a value may still come from outside.

        Results of other runs count only if their run `may_come`.
        """
        with self._lock:
            promises = list(self._promises)
        return any(promise.may_be_kept(may_come) for promise in promises)

    def notes(self) -> list[Diagnostic]:
        """Return the values that may still come from outside, each once, in promised order."""
        own = [(value(), of) for value, of in self._own.copy().items()]
        return self.open_notes(is_inside=False) + [
            note(unresolved(kernel, index, waits), place)
            for value, (index, (kernel, waits, place)) in ((v, of) for v, of in own if of)
            if value is not None and not value.done()
        ]

    def given_by_kernels(self) -> list[AsyncValue]:
        """Return the results of kernels whose values come from the runtime."""
        with self._lock:
            held = [one.holder() for one in self._promises if one.is_inside]
        return [value for value in held if value is not None]

    def open_notes(self, *, is_inside: bool) -> list[Diagnostic]:
        """Return notes on the unresolved promised values: those that kernels returned and that will
        not come from outside, or the others.
        """
        with self._lock:
            promises = [one for one in self._promises if one.is_inside == is_inside]
        return [note(promise.text, promise.location) for promise in promises if promise.is_open()]
