"""The events of a run as rows in columns.

The module has the columns of a row, a buffer that keeps only the first and the newest rows, and
`Fold`. `Fold` computes the states of values and operations from rows. The board's `history.js`
computes the same states, and a test compares the two.

A busy run has a hundred thousand events, so they are handled column by column: a list of numbers
costs a tenth of what the same number of tuples would, because the garbage collector searches tuples
again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from tfrt_runtime.native.layouts import LOG_KINDS as KINDS

COLUMNS = ("time", "kind", "op", "value", "instance", "worker", "payload")
Event = tuple[int, int, int, int, int, int, Any]
"""A row: time, kind, operation, value, instance, thread, and payload.

The time is in nanoseconds since the first event. The kind and the thread are numbers. The operation
and the value are ids of the program document, or -1. The payload is a string or None.
"""
Columns = dict[str, list[Any]]

OF_CODE = ("func", "async")
"""The kinds of compiled functions."""
NUMBER = {name: number for number, name in enumerate(KINDS)}


def among(*kinds: str) -> frozenset[int]:
    """Return the numbers that events use for the given kinds."""
    return frozenset(NUMBER[kind] for kind in kinds)


STATES = {NUMBER[kind]: kind for kind in ("available", "error", "skipped", "cancelled")}
BEGINS = among("begin", "resume")
CALL, END, SUSPEND, ERROR, SKIPPED = (
    NUMBER[kind] for kind in ("call", "end", "suspend", "error", "skipped")
)


def columns_of(rows: Sequence[Event]) -> Columns:
    """Return the rows as columns."""
    columns = zip(*rows, strict=True) if rows else repeat(())
    return {name: list(column) for name, column in zip(COLUMNS, columns, strict=False)}


def rows_of(columns: Columns) -> Iterator[Event]:
    """Return the events that the columns hold; the reverse of `columns_of`."""
    return zip(*columns.values(), strict=True)


def by_time(columns: Columns) -> Columns:
    """Return the columns with their rows sorted by time."""
    times = columns["time"]
    if times == sorted(times):
        return columns
    order = sorted(range(len(times)), key=times.__getitem__)
    return {name: [items[at] for at in order] for name, items in columns.items()}


class FirstAndNewest:
    """The rows of a run: the first `most`, and the newest `most`, in columns."""

    def __init__(self, most: int) -> None:
        self.first, self._newest = columns_of(()), columns_of(())
        self._most = most
        self.total = 0

    def extend(self, rows: Columns) -> None:
        """Append rows; drop rows that are neither among the first nor among the newest."""
        room = max(0, self._most - self.total)
        for name, items in rows.items():
            self.first[name] += items[:room]
            self._newest[name] += items[room:]
            if len(self._newest[name]) > 2 * self._most:  # rarely, because this moves rows
                del self._newest[name][: -self._most]
        self.total += len(rows["time"])

    @property
    def dropped(self) -> int:
        """The number of dropped rows."""
        return max(0, self.total - 2 * self._most)

    def since(self, number: int = 0) -> Columns:
        """Return the kept rows from row number `number` on."""
        newest = min(self._most, self.total - max(number, self._most))
        return {
            name: items[number:] + (self._newest[name][-newest:] if newest > 0 else [])
            for name, items in self.first.items()
        }


@dataclass(slots=True)
class Seen:
    """The latest outcome of a value. Times are in nanoseconds since the first event."""

    state: str
    """`available`, `error`, `skipped` or `cancelled`."""
    worker: int | None
    started: int | None
    resolved: int | None
    """The time at which the value was resolved, or None.

    The time and the worker are None if the value's events were overwritten before they were read.
    """
    count: int = 1
    """The number of times that the value was computed."""
    failed: int = 0
    """The number of times that the value was an error.

    If it is not 0, the state is `error`, even if a later outcome was not an error.
    """


class Fold:
    """Computes the states of values and operations from the rows so far."""

    def __init__(
        self, operations: Sequence[Mapping[str, Any]], functions: Sequence[Mapping[str, Any]]
    ) -> None:
        self._results = [row["results"] for row in operations]
        kinds = [row["kind"] for row in functions]
        self._is_code = [kinds[row["function"]] in OF_CODE for row in operations]
        self.seen: dict[int, Seen] = {}
        """The latest outcomes of the values, by id."""
        self.running: dict[int, tuple[int, int]] = {}
        """The start time and the worker of each running operation.

        The worker is -1 if the kernel has returned, but its results have not arrived yet.
        """
        self._begun: dict[int, tuple[int, int]] = {}
        """The start time and the worker of each value that these operations compute."""
        self._waiting: set[int] = set()
        """The values in `_begun` whose operations are suspended."""
        self.previews: dict[int, str] = {}
        """The latest text of each value that has one, by id."""
        self.failures: dict[int, str] = {}
        """For each value with several outcomes, as in mapped calls, how many failed, as text.
        """

    def take(self, rows: Iterable[Event]) -> None:
        """Process the next rows, which must be in order."""
        # A board spends most of a busy run's time in this loop, so it makes no calls.
        all_results, all_begun, running, waiting = (
            self._results,
            self._begun,
            self.running,
            self._waiting,
        )
        for time, kind, op, value, _, worker, payload in rows:
            if kind in STATES:
                if op >= 0:
                    running.pop(op, None)
                if value < 0:
                    continue
                if payload.__class__ is str:
                    self.previews[value] = payload
                started, by = all_begun.pop(value, (time, worker))
                if waiting:
                    waiting.discard(value)
                found = self.seen.get(value)
                if found is None:
                    found = self.seen[value] = Seen("", None, None, None, 0)
                found.state = STATES[kind]
                found.worker = -1 if kind == SKIPPED else worker if by < 0 else by
                found.started, found.resolved = started, time
                found.count += 1
                if kind == ERROR:
                    found.failed += 1
                if found.failed and found.count > 1:
                    found.state = "error"
                    text = f"{found.failed} of {found.count} failed"
                    self.previews[value] = self.failures[value] = text
            elif op < 0:
                continue
            elif kind in BEGINS:
                begun = running[op] = time, worker
                for value in all_results[op]:
                    all_begun[value] = begun
                if waiting:
                    waiting.difference_update(all_results[op])
            elif kind == END or kind == SUSPEND:
                self._leave(op, is_end=kind == END)

    def _leave(self, op: int, *, is_end: bool) -> None:
        """Process the end or the suspension of an operation."""
        results, ran = self._results[op], self.running.pop(op, None)
        if is_end and (ran is None or self._is_code[op]):
            return
        late = [value for value in results if value in self._begun]
        for value in late:
            self._begun[value] = self._begun[value][0], -1
        if not is_end:
            self._waiting.update(late)
        elif results and ran is not None:
            self.running[op] = ran[0], -1

    def finish(self) -> None:
        """Finish the run. Operations whose end event is missing have ended, too."""
        self.running.clear()
        self._begun.clear()

    def states(self) -> dict[int, tuple[str, int | None]]:
        """Return the state and the worker of each value whose computation has started.

        The keys are value ids. The state is `running`, or the state in the value's `Seen`.
        """
        found: dict[int, tuple[str, int | None]] = {
            number: (one.state, one.worker) for number, one in self.seen.items()
        }
        begun = self._begun.items()
        return found | {n: ("running", by) for n, (_, by) in begun if n not in self._waiting}
