"""What a run still waits for from outside the runtime.

A Python kernel may return a value that is resolved later by a thread, an event loop or a timer.
While such a value exists and is unresolved, a run in which nothing happens is not stuck.
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
    """A value that code outside the runtime may resolve; `text` says what it is.

    With `is_inside` it gets its value from the runtime: if not from another run, it counts only
    where a stuck run is explained.  With `is_counted` the run counts by itself what resolves it
    (`Request.enter`).
    """

    holder: Callable[[], AsyncValue | None]
    text: str
    location: AnyLocation | None
    is_inside: bool = False
    is_counted: bool = False

    def is_open(self) -> bool:
        """Whether the value has a holder, and is not resolved."""
        value = self.holder()
        return value is not None and not value.done()

    def may_be_kept(self, may_come: Callable[[object], bool]) -> bool:
        """Whether code outside the runtime may resolve the value; of a run's result, whether the
        run `may_come`.
        """
        value = self.holder()
        if value is None or value.done() or self.is_counted:
            return False
        if value.source is None:
            return not self.is_inside
        run = value.source()
        # What a run that is over has left undecided will not come.
        return (run is not None or not self.is_inside) and may_come(run)


MIN_SWEPT = 16


class Promises:
    """The promises made to one run.  Safe from any thread."""

    def __init__(self) -> None:
        self._own: weakref.WeakSet[AsyncValue] = weakref.WeakSet()
        self._counted: weakref.WeakSet[AsyncValue] = weakref.WeakSet()
        self._promises: list[Promise] = []
        self._sweep_at = MIN_SWEPT
        self._lock = threading.RLock()

    def own(self, value: AsyncValue) -> None:
        """The run allocated `value` for a kernel: it is decided at the latest when the run is
        cancelled.
        """
        with self._lock:
            self._own.add(value)

    def decide(self, diagnostic: Diagnostic) -> None:
        """Make what the run has allocated, and no thread has resolved, errors."""
        with self._lock:
            values = list(self._own)
        for value in values:
            if (held := value.alive()) is not None:
                with contextlib.suppress(RuntimeError):  # another thread resolves it just now
                    held.set_error(diagnostic)

    def count(self, values: Iterable[AsyncValue]) -> None:
        """The run counts by itself what resolves these values."""
        with self._lock:
            self._counted.update(values)

    def counts(self, value: AsyncValue) -> bool:
        """Whether the run counts what resolves the value, and so stays open until then."""
        return value in self._counted

    def watch(self, value: AsyncValue, text: str, location: AnyLocation | None = None) -> None:
        """The holder of the Python object `value` may resolve it."""
        self._add(Promise(weakref.ref(value), text, location, is_counted=self.counts(value)))

    def watch_inside(self, value: AsyncValue, text: str, location: AnyLocation) -> None:
        """A kernel returned `value`, which gets its own value from another one."""
        self._add(Promise(weakref.ref(value), text, location, is_inside=True))

    def expect(self, value: AsyncValue, text: str) -> None:
        """The value comes from elsewhere, for instance from another run."""
        self._add(Promise(lambda: value, text, None))

    def _add(self, promise: Promise) -> None:
        with self._lock:
            self._promises.append(promise)
            if len(self._promises) >= self._sweep_at:
                self._promises = [kept for kept in self._promises if kept.is_open()]
                self._sweep_at = max(MIN_SWEPT, 2 * len(self._promises))

    def are_open(self, may_come: Callable[[object], bool] = lambda _: True) -> bool:
        """Whether something may still come from outside.

        Of the results of other runs, only those whose run `may_come`.
        """
        with self._lock:
            promises = list(self._promises)
        return any(promise.may_be_kept(may_come) for promise in promises)

    def notes(self) -> list[Diagnostic]:
        """What may still come from outside, each once, in the order in which it was promised."""
        return self._open_notes(is_inside=False)

    def left_by_kernels(self) -> list[Diagnostic]:
        """The results of kernels that are unresolved and will not come from outside."""
        return self._open_notes(is_inside=True)

    def given_by_kernels(self) -> list[AsyncValue]:
        """The results of kernels that get their values from the runtime."""
        with self._lock:
            held = [one.holder() for one in self._promises if one.is_inside]
        return [value for value in held if value is not None]

    def _open_notes(self, *, is_inside: bool) -> list[Diagnostic]:
        with self._lock:
            promises = [one for one in self._promises if one.is_inside == is_inside]
        return [note(promise.text, promise.location) for promise in promises if promise.is_open()]
