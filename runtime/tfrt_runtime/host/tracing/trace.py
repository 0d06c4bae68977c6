"""Tracing: report activities, with their times and threads, to a sink that writes text or a file.

The level `default` covers runs and calls of functions.  `verbose` adds activities that users'
kernels record, and `debug` adds every kernel.  Runs and kernels are reported from the native core's
event log (`executor.tracing`), so a run that starts while tracing is off costs nothing extra.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Protocol

from tfrt_runtime.diagnostics import TfrtError, error, require

Write = Callable[[str], object]


class Level(IntEnum):
    """How much a trace contains.  Each level includes the lower levels."""

    NONE = 0
    DEFAULT = 1
    VERBOSE = 2
    DEBUG = 3

    @staticmethod
    def of(name: str) -> Level:
        """Return the level with the given name.

        Raises:
            TfrtError: if no level has that name.
        """
        try:
            return Level[name.upper()]
        except KeyError:
            names = ", ".join(level.name.lower() for level in Level)
            raise TfrtError(error(f"unknown tracing level '{name}': expected {names}")) from None


@dataclass(eq=False, slots=True)
class Activity:
    """An activity that is running or has ended.

    Times are in nanoseconds of `time.monotonic_ns`.
    """

    name: str
    worker: str
    """The name of the thread on which the activity started."""
    begin_ns: int
    end_ns: int | None = None
    """None while the activity continues."""
    id: int = 0
    """0, or a number that distinguishes activities with the same name.

    An activity with a number may end on another thread.
    """
    place: str = ""
    """The source location, if the activity is an operation of a program."""
    source: Activity | None = None
    """The activity or event that made this activity ready."""


def thread_name() -> str:
    """Return the name that boards show for this thread."""
    name = threading.current_thread().name
    return "main" if name == "MainThread" else name


class TracingSink(Protocol):
    """Receives the activities and events of a trace.

    The methods may be called on any thread, but only on one thread at a time for each run.  The
    activities of one thread are nested: inner activities end first.  A function or a run may end on
    another thread.
    """

    def begin(self, activity: Activity, /) -> None:
        """Record that an activity starts or has started."""

    def end(self, activity: Activity, /) -> None:
        """Record that an activity has ended."""

    def event(self, activity: Activity, /) -> None:
        """Record an event, which has no duration."""

    def close(self) -> None:
        """Finish the trace.  No activity is reported afterward."""


class Tracing:
    """Sends a host's activities to a sink while tracing is requested.

    The sink receives the runs that start in the meantime, at the detail of `level`.  Several
    requests may overlap: tracing ends when the last one is withdrawn.
    """

    def __init__(self, sink: TracingSink, level: Level = Level.DEFAULT) -> None:
        is_sink = all(callable(getattr(sink, name, None)) for name in ("begin", "end", "event"))
        require(
            is_sink, "the sink of a Tracing", "an object with begin, end, event, and close", sink
        )
        require(isinstance(level, Level), "the level of a Tracing", "a Level", level)
        self.sink = sink
        self.level = level
        self._requests = 0
        self._lock = threading.RLock()
        self._followed: set[Callable[[], None]] = set()

    def request(self, on: bool) -> None:
        """Add a request for tracing, or withdraw one.

        Withdrawing the last request flushes the trace.
        """
        with self._lock:
            self._requests = max(0, self._requests + (1 if on else -1))
            left = [] if self._requests else list(self._followed)
        for drain in left:
            drain()

    @contextlib.contextmanager
    def requested(self) -> Iterator[None]:
        """Request tracing inside the block."""
        self.request(True)
        try:
            yield
        finally:
            self.request(False)

    def is_on(self, level: Level) -> bool:
        """Return whether the sink receives activities of this level now."""
        return self._requests > 0 and Level.NONE < level <= self.level

    def follow(self, drain: Callable[[], None]) -> Callable[[], None]:
        """Call `drain` when tracing stops.

        The returned function withdraws this request.
        """
        with self._lock:
            self._followed.add(drain)
        # No lock is needed, because `discard` is atomic.
        return lambda: self._followed.discard(drain)

    def event(self, level: Level, name: str) -> None:
        """Record an event on this thread."""
        if self.is_on(level):
            now = time.monotonic_ns()
            self.sink.event(Activity(name, thread_name(), now, now))

    @contextlib.contextmanager
    def scope(self, level: Level, name: str) -> Iterator[None]:
        """Record the block as an activity on this thread."""
        if not self.is_on(level):
            yield
            return
        activity = Activity(name, thread_name(), time.monotonic_ns())
        self.sink.begin(activity)
        try:
            yield
        finally:
            activity.end_ns = time.monotonic_ns()
            self.sink.end(activity)


class DebugSink:
    """Writes a line for each activity and event: `Scope:NAME`, `End Scope`, `Event:NAME`."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def begin(self, activity: Activity) -> None:
        self._write(f"Scope:{activity.name}\n")

    def end(self, _activity: Activity) -> None:
        self._write("End Scope\n")

    def event(self, activity: Activity) -> None:
        self._write(f"Event:{activity.name}\n")

    def close(self) -> None:
        pass


MAX_ACTIVITIES = 100


class SimpleSink:
    """Keeps the first `MAX_ACTIVITIES` activities of each thread, and writes them at the end.

    A line shows the start of the activity, in microseconds since the sink was created, its
    duration, and its name.  An event, or an activity that has not ended, has no duration.
    """

    def __init__(self, write: Write, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._write = write
        self._start = clock()
        self._workers: dict[str, list[Activity]] = {}

    def begin(self, activity: Activity) -> None:
        kept = self._workers.setdefault(activity.worker, [])
        if len(kept) < MAX_ACTIVITIES:
            kept.append(activity)

    def end(self, _activity: Activity) -> None:
        pass

    def event(self, activity: Activity) -> None:
        self.begin(activity)

    def close(self) -> None:
        workers, self._workers = self._workers, {}
        for name, activities in workers.items():
            self._write(f"{name}: {len(activities)} activities\n")
            for one in activities:
                self._write(f"  {self._line(one)}\n")

    def _line(self, one: Activity) -> str:
        begin = f"{(one.begin_ns - self._start) / 1000:.1f} us"
        if one.end_ns is None or one.end_ns == one.begin_ns:
            return f"{begin}: {one.name}"
        return f"{begin}, {(one.end_ns - one.begin_ns) / 1000:.1f} us: {one.name}"


SINKS: dict[str, Callable[[Write], TracingSink]] = {"debug": DebugSink, "simple": SimpleSink}
"""The sinks that write text, keyed by command-line name."""


CHROME_PROCESS = 1
CHROME_BATCH = 1000


class ChromeSink:
    """Writes a JSON file for Perfetto and chrome://tracing.

    In the file's "traceEvents", an activity of one thread is a complete event.  An activity that
    may end on another thread is two asynchronous events.  Times are in microseconds since
    `start_ns`.
    """

    def __init__(self, path: str | Path, start_ns: int | None = None) -> None:
        """Open the file.  `start_ns` is a time of `time.monotonic_ns`; the default is now.

        Raises:
            TfrtError: if the file cannot be written.
        """
        self._path = path
        self._start = time.monotonic_ns() if start_ns is None else start_ns
        self._lock = threading.RLock()
        self._waiting: list[str] = []
        self._threads: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._problem: OSError | None = None
        self._arrows = 0
        self._marked: set[Activity] = set()
        try:
            self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - until `close`
            self._file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        except OSError as problem:
            raise self._refusal(problem) from None
        self._separator = ""

    def begin(self, activity: Activity) -> None:
        """Do nothing, because `end` writes the whole activity, including its start."""

    def end(self, one: Activity) -> None:
        name = f'"name":{self._quoted(one.name)}'
        begin, end = self._micros(one.begin_ns), self._micros(one.end_ns or one.begin_ns)
        args = f',"args":{{"place":{self._quoted(one.place)}}}' if one.place else ""
        if not one.id:
            duration = round(end - begin, 3)
            self._add(one, f'"ph":"X","cat":"kernel",{name},"ts":{begin},"dur":{duration}{args}')
        else:
            category, separator, _ = one.name.partition(":")
            category = category if separator else "kernel" if one.place else "run"
            rest = f'"cat":{self._quoted(category)},"id":{one.id},{name}'
            self._add(one, f'"ph":"b",{rest},"ts":{begin}{args}', f'"ph":"e",{rest},"ts":{end}')
        if one.source is not None:
            self._arrow(one.source, one)

    def event(self, one: Activity) -> None:
        name, time_ = self._quoted(one.name), self._micros(one.begin_ns)
        self._add(one, f'"ph":"i","s":"t","name":{name},"ts":{time_}')

    def _arrow(self, source: Activity, target: Activity) -> None:
        """Draw an arrow from the end of an activity to the start of another.

        Trace viewers attach each end of an arrow to the innermost slice of its thread at that time.
        Therefore, an activity that has no slice gets one of length 0.
        """
        for one in (source, target):
            if (one.id or one.begin_ns == one.end_ns) and one not in self._marked:
                self._marked.add(one)
                self.event(one)
        self._arrows += 1
        rest = f'"cat":"ready","id":{self._arrows},"name":{self._quoted(target.name)}'
        # Start the arrow inside the source's slice: viewers do not attach it to a slice that has
        # just ended.
        start = max(source.begin_ns, (source.end_ns or 0) - 1)
        self._add(source, f'"ph":"s",{rest},"ts":{self._micros(start)}')
        self._add(target, f'"ph":"f","bp":"e",{rest},"ts":{self._micros(target.begin_ns)}')

    def close(self) -> None:
        """Finish the file.

        Raises:
            TfrtError: if the file could not be written.
        """
        with self._lock:
            if self._file.closed:
                return
            self._flush()
            try:
                with self._file:
                    self._file.write("\n]}\n")
            except OSError as problem:
                self._problem = self._problem or problem
        if self._problem is not None:
            raise self._refusal(self._problem)

    def _micros(self, time_ns: int) -> float:
        return (time_ns - self._start) / 1000

    def _quoted(self, text: str) -> str:
        """Return `text` as JSON, from a cache, because few different strings occur."""
        quoted = self._names.get(text)
        if quoted is None:
            import json  # not at the top, because few runs are traced

            quoted = self._names[text] = json.dumps(text)
        return quoted

    def _add(self, one: Activity, *all_fields: str) -> None:
        """Add lines for an activity, including the number of its thread."""
        with self._lock:
            if self._file.closed:
                return
            number = self._threads.get(one.worker)
            if number is None:
                number = self._threads[one.worker] = len(self._threads) + 1
                place = f'"pid":{CHROME_PROCESS},"tid":{number}'
                args = f'"args":{{"name":{self._quoted(one.worker)}}}'
                self._waiting.append(f'{{"ph":"M","name":"thread_name",{place},{args}}}')
            for fields in all_fields:
                self._waiting.append(f'{{{fields},"pid":{CHROME_PROCESS},"tid":{number}}}')
            if len(self._waiting) >= CHROME_BATCH:
                self._flush()

    def _flush(self) -> None:
        """Write the buffered lines.

        If this fails, `close` reports the failure, so that the running thread continues.
        """
        lines, self._waiting = self._waiting, []
        if not lines or self._problem is not None:
            return
        try:
            self._file.write(self._separator + ",\n".join(lines))
            self._separator = ",\n"
        except OSError as problem:
            self._problem = problem

    def _refusal(self, problem: OSError) -> TfrtError:
        return TfrtError(error(f"cannot write the trace '{self._path}': {problem.strerror}"))
