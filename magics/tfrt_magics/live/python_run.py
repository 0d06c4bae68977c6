"""The board of a run that Python started.

If events are recorded from the run's start (see `watching`), the board shows as much as a cell's
board. Otherwise, events are recorded from the moment when the run is shown. If the run is already
over then, its board has only results.

The board of a batch has a row for each call, or for many consecutive calls.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.job import ROW_LIMIT
from tfrt_magics.bridge.live import Bundle, LiveRecord, LiveRuns, Publisher
from tfrt_magics.bridge.pump import INTERVAL_SECONDS, Pump
from tfrt_magics.bridge.snapshot import OVER, Row, Section, Snapshot, State, Status, decided, ended
from tfrt_magics.live.reprs import snapshot_of
from tfrt_magics.views.outlet import Slot, run_bundle, table_bundle
from tfrt_nb.documents.escapes import label
from tfrt_nb.documents.events import NUMBER, Columns, Event, columns_of
from tfrt_nb.documents.previews import preview_of
from tfrt_runtime.diagnostics import Ending
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_magics.bridge.runtime import PageProgram, TracedRun
    from tfrt_nb.documents.run import RunDocument

MAX_ROWS = 1_000
"""If a batch has at most this many calls, each call has its own row."""
FOLDED_ROWS = 100
"""The maximum number of rows of a batch with more than `MAX_ROWS` calls."""
MAX_LOOKS = 20_000
"""The maximum number of calls that one check of a batch reads. Later checks read the rest."""
COST_FACTOR = 60
"""The pause between two checks is at least this many times as long as a check."""
MAX_NAMED = 3
"""The maximum number of failed calls that the board's note names."""


class BatchRun:
    """A Batch in the form that a record expects.

    An event says that a call started, became available, or failed. The states of calls are read
    directly from the batch, so that no AsyncValue is created for a call without a row.
    """

    pause = 0.1
    """The number of seconds between two checks while the run makes progress."""
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
        """The calls that were unavailable at the last check."""
        self._failed: list[int] = []
        self._over, self._wrong = [0] * len(names), [0] * len(names)
        """For each row, the number of calls that are over, and the number of those that failed."""
        self._new: list[Event] = []
        self.previews: dict[int, str] = {}
        self.pictures: dict[int, Any] = {}
        """Always empty, because a call's results are shown as text."""
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
        )  # read this first: if the batch has finished, everything read below is complete
        elapsed, cost = time.monotonic_ns() - self._began, time.thread_time()
        self._look(batch, elapsed, MAX_LOOKS if status is Status.RUNNING else batch.calls)
        over, failed = batch.calls - len(self._waiting), self._failed
        note = f"{over:,} of {batch.calls:,} calls" if self._size > 1 else ""
        if status is Status.DONE and failed:
            status = Status.FAILED
        if batch.request.cancellation is not None:
            said = batch.request.cancellation.message
            note = f"{said}: {over - len(failed):,} of {batch.calls:,} calls had succeeded"
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
        """Check at most `most` calls, and record the changes in the rows of these calls."""
        changed = set()
        for _ in range(min(most, len(self._waiting))):
            call = self._waiting.popleft()
            number = call // self._size
            if (outcome := batch._outcome(call)) == 0:
                # Append it, so that the next check, which may be limited, starts with other calls.
                self._waiting.append(call)
                continue
            changed.add(number)
            self._over[number] += 1
            if outcome < 0:
                self._wrong[number] += 1
                self._failed.append(call)
        over = batch.calls - len(self._waiting)
        # After the first `batch.begun` calls, one call starts whenever another finishes.
        rows = range(self._begun, -(-min(batch.begun + over, batch.calls) // self._size))
        for number in rows:
            # The first calls start with the batch.
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

    def drain(self) -> Columns:
        """Return the events since the last call."""
        new, self._new = self._new, []
        return columns_of(new)

    def preview(self) -> None:
        """Do nothing, because each text is created when its call finishes."""

    def states(self) -> Mapping[int, tuple[str, int | None]]:
        """Return an empty mapping, because the events contain all states."""
        return {}

    counts = unlogged = states

    def ready(self) -> None:
        return None

    def cancel(self, note: str) -> None:
        if (batch := self._batch) is not None:
            batch.cancel(note)

    def forget(self) -> None:
        """Do nothing, because this object releases the batch when the batch finishes."""


def _results(batch: Batch, call: int) -> Sequence[AsyncValue]:
    """Return the results of call number `call` in a batch."""
    width = len(batch.function.result_types)
    return batch.results[width * call : width * (call + 1)]


MAX_PAUSE_SECONDS = 0.5
"""The longest pause, in seconds, between two checks of a run that makes no progress."""


class PythonRun:
    """An Execution in the form that a record expects, kept alive until it is over."""

    pause = INTERVAL_SECONDS
    """The number of seconds between two checks while the run makes progress."""

    def __init__(self, run: Execution) -> None:
        self._run: Execution | None = run
        self._start = run.started_at or time.monotonic_ns()
        self._traced = _traced(run)
        types = [label(one) for one in run._entry.result_types]
        function = {"id": 0, "name": label(run.function.name), "arguments": [], "results": []}
        functions = [function | {"result_types": types}]
        program = {"functions": functions, "operations": [], "values": []}
        self.body: dict[str, Any] = {"program": program, "layout": None, "source": ""}
        self._latest = snapshot_of(run)

    def snapshot(self) -> Snapshot:
        if (run := self._run) is None:
            return self._latest
        found = snapshot_of(
            run
        )  # read this first: if the run is over, everything read below is complete
        [section] = found.sections
        elapsed = time.monotonic_ns() - self._start
        if self._traced is not None:
            values = self._traced.named_values()
            rows, more = (*section.rows, *values[:ROW_LIMIT]), decided(values[ROW_LIMIT:])
            section = replace(section, rows=rows, hidden=more)
        if found.status in OVER:
            section = ended(section, found.status)
            # The run may have finished long before this check, so the events determine its time.
            # Without events, the time is unknown.
            times = [row.resolved_ns for row in section.rows if row.resolved_ns is not None]
            elapsed = max(times, default=0 if self._traced is None else elapsed)
            self._run = None
        self._latest = replace(found, sections=(section,), elapsed_ns=elapsed)
        return self._latest

    def standing(self) -> Snapshot:
        if self._traced is None or (run := self._run) is None:
            return self.snapshot()
        printed = snapshot_of(run)
        # A cancelled run is over, too, even if one of its kernels is still running.
        if printed.status in OVER:
            return self.snapshot()
        elapsed = time.monotonic_ns() - self._start
        return replace(printed, sections=self._latest.sections, elapsed_ns=elapsed)

    def document(self) -> PythonRun | PageProgram:
        return self if self._traced is None else self._traced.page

    def logs(self) -> Sequence[RunDocument]:
        return [] if self._traced is None else [self._traced.events]

    def ready(self) -> None:
        return None

    def cancel(self, note: str) -> None:
        if (run := self._run) is not None:
            run.cancel(note)

    def forget(self) -> None:
        """Release values and events after the run. The content of the board remains."""
        self._traced = None


def _traced(run: Execution) -> TracedRun | None:
    """Return the run with its events from now on, or None if events cannot be recorded."""
    # Imported here because a board of results needs no compiler.
    from tfrt_magics.bridge.runtime import PageProgram, TracedRun
    from tfrt_nb.documents.run import RunDocument

    program: Any = run.program.origin()
    if program is None:
        return None
    running: list[int] | None = None
    if run.watch is None:
        # A finished run has no further events. Compiled code records events only if it was compiled
        # for a watched run.
        if run.is_done or program._compiled is not None:
            return None
        from tfrt_runtime.host.tracing.events import Watch  # %load_ext loads no runtime

        # Watch first, so that no kernel starts unseen between the two calls. If the run is still
        # queued, the watch sees it start, and there is nothing to infer.
        run._log_events(Watch())
        running = run._running_kernels() if run.request.native.known > 0 else None
    page = PageProgram(program)
    return TracedRun(run, page, RunDocument(program, run, page.document, run.late, running))


class LiveExecution(LiveRecord):
    """Publishes a run that Python code started, so that a board can show it.

    While nothing happens, the pump checks the run less and less often.
    """

    def __init__(self, run: Execution, channel: Publisher) -> None:
        self._followed = BatchRun(run) if isinstance(run, Batch) else PythonRun(run)
        self._pause, self._next, self._is_watched = self._followed.pause, 0.0, False
        super().__init__(self._followed, channel, run_bundle)

    def show(self, run: Execution, runs: LiveRuns, shell: InteractiveShell, pump: Pump) -> None:
        """Publish the board in the running cell, and follow the run."""
        slot = Slot(shell, self.bundle(), self.id)
        if not self._is_watched:
            runs.hold(self, 1)

            def end() -> None:
                slot.replace(self.bundle())
                runs.release(self)

            self.at_end = end
        self.watch(run, pump)

    def watch(self, run: Execution, pump: Pump) -> None:
        """Have `pump` check the run repeatedly, and again as soon as the run is over."""
        if self._is_watched:
            return
        self._is_watched = True
        this = weakref.ref(self)

        def mark() -> None:
            if (one := this()) is not None:
                # The run is over, so check it even during a pause.
                one._next = 0.0
                pump.mark(one)

        if not HAS_THREADS:
            # Let the run continue between cells of the page, in case no cell waits for it.
            working = ExitStack()
            working.enter_context(run.request.queue.worked_for())
            run.on_done(working.close)
        run.on_done(mark)
        pump.watch(self)

    def bundle(self) -> Bundle:
        found = super().bundle()
        if self.record.is_over:
            self._followed.forget()
        return found

    def step(self) -> bool:
        # A mark may arrive after the last check.
        if self.over.is_set():
            return False
        if time.monotonic() < self._next:
            return True
        before = self.record.events
        goes_on = super().step()
        is_quiet = self.record.events == before
        self._pause = min(2 * self._pause, MAX_PAUSE_SECONDS) if is_quiet else self._followed.pause
        self._next = time.monotonic() + self._pause
        return goes_on


_boards: weakref.WeakKeyDictionary[Execution, LiveExecution] = weakref.WeakKeyDictionary()


def board_of(run: Execution, channel: Publisher) -> LiveExecution:
    """Return the board of a run. A run has only one, because a board consumes the events."""
    live = _boards.get(run)
    if live is None:
        live = _boards[run] = LiveExecution(run, channel)
    live.send_to(channel)
    return live


def standing_bundle(run: Execution) -> Bundle:
    """Return the display data of a run's current state, for an output that is not updated."""
    return table_bundle(BatchRun(run).snapshot() if isinstance(run, Batch) else snapshot_of(run))
