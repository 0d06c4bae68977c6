"""What ran, from events: calls of functions and kernels, each with its begin and its end.

A kernel ends with its `end`, or with the first of its results; one that starts functions, with their results.
Sync functions log values only: a kernel of theirs began when its thread logged before.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

Row = tuple[int, str, int, int, int]
"""Time, kind, the number of a kernel, or of a function for `call` and `return`, instance, worker."""

_ENDS = frozenset({"end", "available", "error", "suspend"})
_BEGINS = frozenset({"begin", "resume"})


@dataclass(eq=False, slots=True)
class Span:
    """A call of a function or a kernel that runs; `end` is None while it goes on."""

    is_call: bool
    number: int
    instance: int
    worker: int
    begin: int
    end: int | None = None


class Spans:
    """Pairs the begins and ends of one run, whose events come in order, in any number of parts."""

    def __init__(self, without_begin: Container[int] = ()) -> None:
        """`without_begin` are the kernels of sync functions."""
        self._without_begin = without_begin
        self._open: dict[tuple[int, int], Span] = {}
        self._latest: dict[int, int] = {}
        self.last = 0
        """The time of the last event."""

    def take(self, rows: Iterable[Row]) -> Iterator[Span]:
        """Each span once when it begins, and once, with its end, when it ends."""
        for time, kind, number, instance, worker in rows:
            if kind == "call":
                yield self._begin((instance, -1), Span(True, number, instance, worker, time))
            elif kind == "return":
                yield from self._end((instance, -1), time)
            elif kind in _BEGINS:
                yield self._begin((instance, number), Span(False, number, instance, worker, time))
            elif kind in _ENDS:
                if number in self._without_begin:
                    began = self._latest.get(worker, time)
                    span = Span(False, number, instance, worker, began)
                    yield self._begin((instance, number), span)
                yield from self._end((instance, number), time)
            self._latest[worker] = self.last = time

    def finish(self) -> Iterator[Span]:
        """The run is over: what has not ended ends with the last event."""
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
