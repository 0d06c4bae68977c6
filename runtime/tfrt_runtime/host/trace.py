"""Tracing: what runs when, on which thread, told to a sink.

There are levels: `default` tells of runs and of calls of functions, `debug` of every kernel as well;
`verbose` stands between them for what kernels of the user say of themselves.  A program says nothing
unless it was loaded for a level, so tracing costs nothing where it is off.

A scope opens and closes on one thread, inside out.  A span may end on another thread than it began
on: a call does when a kernel in it is asynchronous.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Protocol

from tfrt_runtime.diagnostics import TfrtError, error

Write = Callable[[str], object]


class Level(IntEnum):
    """How much is traced; each level includes those below it."""

    NONE = 0
    DEFAULT = 1
    VERBOSE = 2
    DEBUG = 3

    @staticmethod
    def of(name: str) -> Level:
        """The level of that name.

        Raises:
            TfrtError: if there is none.
        """
        try:
            return Level[name.upper()]
        except KeyError:
            names = ", ".join(level.name.lower() for level in Level)
            raise TfrtError(error(f"unknown tracing level '{name}': expected {names}")) from None


class TracingSink(Protocol):
    """Where a trace goes.  Called from any thread, also from several at once."""

    def event(self, name: str) -> None:
        """Something happened now, on this thread."""

    def push(self, name: str) -> None:
        """A scope opens on this thread."""

    def pop(self) -> None:
        """The innermost scope of this thread closes."""

    def begin(self, name: str, number: int) -> None:
        """A span begins; no other one of that name has this number now."""

    def end(self, name: str, number: int) -> None:
        """The span of that name and number ends, perhaps on another thread."""

    def close(self) -> None:
        """Nothing more will come."""


class Tracing:
    """A sink with a level.  It receives events while it is requested; requests are counted."""

    def __init__(self, sink: TracingSink, level: Level = Level.DEFAULT) -> None:
        self.sink = sink
        self.level = level
        self._requests = 0
        self._lock = threading.Lock()

    def request(self, on: bool) -> None:
        """Ask for tracing, or take back that one has asked."""
        with self._lock:
            self._requests = max(0, self._requests + (1 if on else -1))

    @contextlib.contextmanager
    def requested(self) -> Iterator[None]:
        """Within: tracing is on."""
        self.request(True)
        try:
            yield
        finally:
            self.request(False)

    def is_on(self, level: Level) -> bool:
        """Whether the sink hears of things of this level now."""
        return self._requests > 0 and Level.NONE < level <= self.level

    def event(self, level: Level, name: str) -> None:
        """Tell that something happened."""
        if self.is_on(level):
            self.sink.event(name)

    @contextlib.contextmanager
    def scope(self, level: Level, name: str) -> Iterator[None]:
        """Within: a scope is open on this thread."""
        if not self.is_on(level):
            yield
            return
        self.sink.push(name)
        try:
            yield
        finally:
            self.sink.pop()

    def begin(self, level: Level, name: str, number: int) -> Callable[[], None]:
        """Begin a span; the result ends it, on any thread.  Calls beyond the first do nothing."""
        if not self.is_on(level):
            return lambda: None
        self.sink.begin(name, number)
        ends = [lambda: self.sink.end(name, number)]

        def end() -> None:
            # Atomic: another thread may end it at the same time.
            with contextlib.suppress(IndexError):
                ends.pop()()

        return end


class DebugSink:
    """Writes a line for everything: `Scope:NAME`, `End Scope`, `Event:NAME`."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def event(self, name: str) -> None:
        self._write(f"Event:{name}\n")

    def push(self, name: str) -> None:
        self._write(f"Scope:{name}\n")

    def pop(self) -> None:
        self._write("End Scope\n")

    def begin(self, name: str, _number: int) -> None:
        self.push(name)

    def end(self, _name: str, _number: int) -> None:
        self.pop()

    def close(self) -> None:
        pass


MOST_ACTIVITIES = 100


class SimpleSink:
    """Keeps the first activities of each thread, and writes them when it is closed.

    A line per activity: when it began, in microseconds since the sink was made, how long it took if
    it is a scope or a span that has ended, and its name.
    """

    def __init__(self, write: Write, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._write = write
        self._clock = clock
        self._start = clock()
        self._threads: dict[str, list[_Activity]] = {}
        self._open: dict[tuple[str, int], _Activity] = {}
        self._local = threading.local()

    def event(self, name: str) -> None:
        self._record(_Activity(name, self._clock()))

    def push(self, name: str) -> None:
        activity = _Activity(name, self._clock())
        self._record(activity)
        self._scopes().append(activity)

    def pop(self) -> None:
        if scopes := self._scopes():
            scopes.pop().end_ns = self._clock()

    def begin(self, name: str, number: int) -> None:
        activity = self._open[name, number] = _Activity(name, self._clock())
        self._record(activity)

    def end(self, name: str, number: int) -> None:
        if (activity := self._open.pop((name, number), None)) is not None:
            activity.end_ns = self._clock()

    def close(self) -> None:
        threads, self._threads = self._threads, {}
        for name, activities in threads.items():
            self._write(f"{name}: {len(activities)} activities\n")
            for activity in activities:
                self._write(f"  {activity.line(self._start)}\n")

    def _scopes(self) -> list[_Activity]:
        scopes: list[_Activity] | None = getattr(self._local, "scopes", None)
        if scopes is None:
            scopes = self._local.scopes = []
        return scopes

    def _record(self, activity: _Activity) -> None:
        activities = self._threads.setdefault(threading.current_thread().name, [])
        if len(activities) < MOST_ACTIVITIES:
            activities.append(activity)


class _Activity:
    """Something that began, and may have ended."""

    __slots__ = ("begin_ns", "end_ns", "name")

    def __init__(self, name: str, begin_ns: int) -> None:
        self.name, self.begin_ns, self.end_ns = name, begin_ns, -1

    def line(self, start_ns: int) -> str:
        begin = (self.begin_ns - start_ns) / 1000
        if self.end_ns < 0:
            return f"{begin:.1f} us: {self.name}"
        return f"{begin:.1f} us, {(self.end_ns - self.begin_ns) / 1000:.1f} us: {self.name}"


SINKS: dict[str, Callable[[Write], TracingSink]] = {"debug": DebugSink, "simple": SimpleSink}
"""The sinks that write text, by the names that the command line has for them."""
