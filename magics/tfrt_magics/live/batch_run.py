"""A batch that Python started, as a board: a row for each call, or for many calls that follow each other."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tfrt_magics.bridge.snapshot import OVER, Row, Section, Snapshot, State, Status, ended
from tfrt_nb.documents.escapes import label
from tfrt_nb.documents.events import NUMBER, Event
from tfrt_nb.documents.previews import preview_of
from tfrt_runtime.diagnostics import Ending
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.host.values.async_value import AsyncValue

MAX_ROWS = 1_000
"""The largest number of calls that have a row each."""
FOLDED_ROWS = 100
"""The largest number of rows of more calls."""
MAX_LOOKS = 20_000
"""The largest number of calls that a look at a running batch asks about: others have their turn later."""
COST_FACTOR = 60
"""A look may take this part of the time until the next one."""
MAX_NAMED = 3
"""How many failed calls the note names."""


class BatchRun:
    """A Batch, as a record follows it, and its events: each call starts, and is available or an
    error.

    The states of all calls are read at once, so that no AsyncValue is created for a call that has
    no row.
    """

    pause = 0.1
    """Seconds between two looks while something happens."""
    dropped, absent, start = 0, (), 0
    log: Sequence[tuple[int, int | None, str]] = ()
    workers: Sequence[str] = ()

    def __init__(self, batch: Batch) -> None:
        self._batch: Batch | None = batch
        self._began = time.monotonic_ns()
        self._size = 1 if batch.calls <= MAX_ROWS else -(-batch.calls // FOLDED_ROWS)
        self._firsts = range(0, batch.calls, self._size)
        name, kind = label(batch.function.name), label(", ".join(batch.function.result_types))
        lasts = [min(first + self._size, batch.calls) - 1 for first in self._firsts]
        names = [
            f"[{first}]" if first == last else f"[{first} … {last}]"
            for first, last in zip(self._firsts, lasts, strict=True)
        ]
        self._rows = [
            Row(one, kind, State.UNAVAILABLE, number=number) for number, one in enumerate(names)
        ]
        self._begun = 0
        self._waiting = deque(range(batch.calls))
        """The calls that were unavailable at the last look."""
        self._failed: list[int] = []
        self._over, self._wrong = [0] * len(names), [0] * len(names)
        """How many calls of each row are over, and how many of them are errors."""
        self._new: list[Event] = []
        self.previews: dict[int, str] = {}
        self.pictures: dict[int, Any] = {}
        """None: a call's results are shown as text."""
        self._latest = Snapshot(Status.RUNNING, (Section(name, Status.RUNNING, ()),))
        place = {"line": 0, "column": 0, "end_line": 0, "end_column": 0, "function": 0}
        inside: dict[str, Any] = {"parent": None, "region": 0, "regions": [], "operands": []}
        operations = [
            {"id": n, "kernel": name, "text": f"{name}{one}", "results": [n], **place, **inside}
            for n, one in enumerate(names)
        ]
        values = [
            {"id": n, "name": one, "type": kind, "chain": False, "op": n, "function": 0}
            for n, one in enumerate(names)
        ]
        function = {"id": 0, "name": name, "kind": "batch", "line": 0, "end_line": 0}
        functions = [function | {"arguments": [], "results": [], "result_types": []}]
        program = {"functions": functions, "operations": operations, "values": values}
        self.body: dict[str, Any] = {"program": program, "layout": None, "source": ""}

    def snapshot(self) -> Snapshot:
        if (batch := self._batch) is None:
            return self._latest
        status = self._status(
            batch
        )  # read first, so that everything read below is complete if the batch has ended
        elapsed, cost = time.monotonic_ns() - self._began, time.thread_time()
        self._look(batch, elapsed, MAX_LOOKS if status is Status.RUNNING else batch.calls)
        over, failed = batch.calls - len(self._waiting), self._failed
        note = f"{over:,} of {batch.calls:,} calls" if self._size > 1 else ""
        if status is Status.DONE and failed:
            status = Status.FAILED
        if batch.request.cancellation is not None:
            said = batch.request.cancellation.message
            note = f"{said}: {over - len(failed):,} of {batch.calls:,} calls were available"
        elif failed:
            named = ", ".join(map(str, sorted(failed)[:MAX_NAMED]))
            more = ", …" if len(failed) > MAX_NAMED else ""
            note = f"▲ {len(failed):,} of {batch.calls:,} failed: element {named}{more}"
        section = Section(self._latest.sections[0].name, status, tuple(self._rows))
        if status in OVER:
            section = ended(section, status)
            self._batch = None
        self.pause = max(BatchRun.pause, COST_FACTOR * (time.thread_time() - cost))
        self._latest = Snapshot(status, (section,), elapsed_ns=elapsed, log=batch.output, note=note)
        return self._latest

    standing = snapshot

    def _status(self, batch: Batch) -> Status:
        if not batch.is_done:
            return Status.RUNNING
        cancellation = batch.request.cancellation
        if cancellation is None:
            return Status.FAILED if batch.diagnostics else Status.DONE
        return Status.TIMED_OUT if cancellation.ending is Ending.TIMED_OUT else Status.CANCELLED

    def _look(self, batch: Batch, now: int, most: int) -> None:
        """Look at no more than `most` calls, and note what is new in their rows."""
        changed = set()
        for _ in range(min(most, len(self._waiting))):
            call = self._waiting.popleft()
            number = call // self._size
            if (outcome := batch._outcome(call)) == 0:
                self._waiting.append(call)
                continue
            changed.add(number)
            self._over[number] += 1
            if outcome < 0:
                self._wrong[number] += 1
                self._failed.append(call)
        over = batch.calls - len(self._waiting)
        rows = range(self._begun, -(-min(batch.begun + over, batch.calls) // self._size))
        for number in rows:
            self._add(now if self._begun else 0, "begin", number)
        self._begun = max(self._begun, rows.stop)
        for number in sorted(changed):
            first, row = self._firsts[number], self._rows[number]
            count, failed = self._over[number], self._wrong[number]
            size = min(self._size, batch.calls - first)
            if self._size > 1:
                text = f"{count:,} of {size:,}" + (f", {failed:,} failed" if failed else "")
            else:
                text = ", ".join(map(preview_of, _results(batch, first)))
            state = State.UNAVAILABLE
            if count == size:
                stopped = batch.request.is_cancelled and failed
                is_cancelled = stopped and any(one.cancelled() for one in _results(batch, first))
                state = State.ERROR if failed else State.AVAILABLE
                state = State.CANCELLED if is_cancelled else state
                self._add(now, str(state), number)
            self.previews[number] = text
            self._rows[number] = replace(row, state=state, text=text)

    def _add(self, now: int, kind: str, number: int) -> None:
        self._new.append((now, NUMBER[kind], number, number, number, -1, None))

    def document(self) -> BatchRun:
        return self

    def logs(self) -> Sequence[BatchRun]:
        return [self]

    def drain(self) -> list[Event]:
        """Return the events since the last call."""
        new, self._new = self._new, []
        return new

    def preview(self) -> None:
        """Do nothing, because the texts are made as the calls finish."""

    def states(self) -> Mapping[int, tuple[str, int | None]]:
        """Return nothing, because events have all states."""
        return {}

    counts = unlogged = states

    def ready(self) -> None:
        return None

    def cancel(self, note: str) -> None:
        if (batch := self._batch) is not None:
            batch.cancel(note)

    def forget(self) -> None:
        """Do nothing: the run holds the batch until the batch has finished."""


def _results(batch: Batch, call: int) -> Sequence[AsyncValue]:
    """Return the results of a call."""
    width = len(batch.function.result_types)
    return batch.results[width * call : width * (call + 1)]
