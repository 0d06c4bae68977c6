"""Make activities from a run's events, and report them to the host's tracing.

`Spans` pairs events.  A *span* is a call of a function, a kernel, or a wait, with a start and an
end.

* A kernel occupies its thread from its `begin` event to its `end` event or the first of its
  results.  Such spans of one thread are nested or disjoint.
* A kernel that calls functions lasts until their results are available, on any thread.  Such a
  kernel overlaps other work on its thread, and so do the functions.
* A kernel's results may become available after it has returned, and a task of compiled code may be
  suspended.  The resulting wait lasts until the first result is available or the task resumes.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.tracing.events import KINDS, NO_VALUE, LogColumns, Watch, logged
from tfrt_runtime.host.tracing.trace import Activity, Level, Tracing, thread_name

Row = tuple[int, str, int, int, int]
"""The time, the kind, a number, the instance, and the worker.

The number is a function's for the kinds `call` and `return`, and otherwise a kernel's.
"""

_ENDS = frozenset({"end", "available", "error", "suspend", "skipped", "cancelled"})
_BEGINS = frozenset({"begin", "resume"})


Timing = Literal["caller", "late"]
"""Whether a kernel ends with the functions it calls (`caller`) or with its results (`late`)."""


@dataclass(eq=False, slots=True)
class Span:
    """A call of a function, a running kernel, or a kernel's wait.

    `end` is None until the span has ended.
    """

    kind: Literal["call", "kernel", "wait"]
    number: int
    instance: int
    worker: int
    """The thread on which the span started.  For a wait, the thread that ended the wait."""
    begin: int
    id: int
    """0 if the span occupies its thread until it ends."""
    end: int | None = None


class Spans:
    """Pairs one run's start and end events, which arrive in order, in any number of parts."""

    def __init__(self, timings: Mapping[int, Timing]) -> None:
        """Start without spans.

        `timings` contains an entry, keyed by number, for each kernel that does not end with its own
        `end` event.
        """
        self._timings = timings
        self._ids = itertools.count(1)
        self._open: dict[tuple[int, int], Span] = {}
        self._waits: dict[tuple[int, int], int] = {}
        """The start times of the waits that have not ended."""
        self.last = 0
        """The time of the last event."""

    def take(self, rows: Iterable[Row]) -> Iterator[Span]:
        """Yield each span when it starts, and again when it ends.

        A wait is yielded twice when it ends.
        """
        for when, kind, number, instance, worker in rows:
            key = instance, number
            timing = None if kind in ("call", "return") else self._timings.get(number)
            if kind == "call":
                key = instance, -1
                yield self._begin(
                    key, Span("call", number, instance, worker, when, next(self._ids))
                )
            elif kind == "return":
                yield from self._end((instance, -1), when)
            elif kind in _BEGINS:
                yield from self._end_wait(key, when, worker)
                id_ = next(self._ids) if timing == "caller" else 0
                yield self._begin(key, Span("kernel", number, instance, worker, when, id_))
            elif kind in _ENDS:
                if kind == "suspend" or (kind == "end" and timing == "late"):
                    self._waits[key] = when
                else:
                    yield from self._end_wait(key, when, worker)
                yield from self._end(key, when)
            self.last = max(self.last, when)

    def finish(self) -> Iterator[Span]:
        """End all open spans at the time of the last event, because the run is over."""
        # A span may be nested in one that started earlier, so the inner span ends first.
        for key in reversed(list(self._open)):
            yield from self._end(key, self.last)

    def _begin(self, key: tuple[int, int], span: Span) -> Span:
        self._open[key] = span
        return span

    def _end(self, key: tuple[int, int], time: int) -> Iterator[Span]:
        span = self._open.pop(key, None)
        if span is not None:
            span.end = time
            yield span

    def _end_wait(self, key: tuple[int, int], time: int, worker: int) -> Iterator[Span]:
        since = self._waits.pop(key, None)
        if since is not None:
            instance, number = key
            yield self._begin(key, Span("wait", number, instance, worker, since, next(self._ids)))
            yield from self._end(key, time)


RUN_SCOPE = "Bef Executor"
REGION = "region"
DRAIN_SECONDS = 0.05
"""The time between two drains.  Even a busy run takes a few times as long to fill its rings."""


class RunTracing:
    """Reports one run to a host's tracing.  Any thread may drain it."""

    def __init__(self, tracing: Tracing, request: Request, program: Executable) -> None:
        """Start logging the events of a run that has not started."""
        functions = program.functions
        self._sink, self._level, self._request = tracing.sink, tracing.level, request
        self._lock = threading.RLock()
        self._names = [f"Function: {one.name or REGION}" for one in functions]
        self._kernels = [kernel.name for one in functions for kernel in one.kernels]
        self._makers: dict[tuple[int, int], int] = {}
        timings: dict[int, Timing] = {}
        places = [(index, kernel) for index, one in enumerate(functions) for kernel in one.kernels]
        for number, (index, kernel) in enumerate(places):
            self._makers |= {(index, register): number for register in kernel.results}
            if kernel.functions:
                timings[number] = "caller"
        self._spans = Spans(timings)
        self._activities: dict[Span, Activity] = {}
        self._take = self._begin_watch(program)
        self._run = Activity(RUN_SCOPE, thread_name(), time.monotonic_ns(), id=request.id << 32)
        self._sink.begin(self._run)
        self._forget = tracing.follow(self.drain)
        request.before_output = self.drain
        request.on_done(self.finish)
        self._drain_later()

    def finish(self) -> None:
        """Report the remaining events of the run, which is over."""
        with self._lock:
            self.drain()
            if self._run.end_ns is None:
                self._tell(self._spans.finish())
                self._run.end_ns = max(self._spans.last, self._run.begin_ns)
                self._sink.end(self._run)
        self._forget()

    def drain(self) -> None:
        """Report new events."""
        with self._lock:
            if self._run.end_ns is None:
                self._tell(self._spans.take(self._rows(self._take())))

    def _begin_watch(self, program: Executable) -> Callable[[], LogColumns]:
        """Return a function that takes events from the run's watch, which is created if needed."""
        if self._request.watched is not None:
            return self._request.watched.reader().take
        watch = Watch()
        program.watch(self._request, watch)

        def take() -> LogColumns:
            watch.log.clear()
            return watch.take()

        return take

    def _drain_later(self) -> None:
        self.drain()
        if not self._request.is_done:
            with contextlib.suppress(RuntimeError):  # the host is closed, so its run is over
                due = time.monotonic() + DRAIN_SECONDS
                self._request.host.timers.at(due, self._drain_later)

    def _rows(self, events: LogColumns) -> Iterator[Row]:
        for when, number, value, instance, kind, worker, _ in logged(events):
            name = KINDS[kind]
            if value != NO_VALUE and name not in ("call", "return"):
                # No kernel sets the registers of arguments and constants. No span has the number
                # -2; -1 is the function itself.
                number = self._makers.get((number, value), -2)
            yield when, name, number, instance, worker

    def _tell(self, spans: Iterator[Span]) -> None:
        for span in spans:
            if (Level.DEFAULT if span.kind == "call" else Level.DEBUG) > self._level:
                continue
            if span.end is None:
                names = self._names if span.kind == "call" else self._kernels
                label = self._request.queue.labels[span.worker]
                id_ = self._request.id << 32 | span.id if span.id else 0
                begun = Activity(names[span.number], label, span.begin, id=id_)
                self._activities[span] = begun
                self._sink.begin(begun)
            else:
                ended = self._activities.pop(span)
                ended.end_ns = span.end
                self._sink.end(ended)
