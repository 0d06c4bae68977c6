"""A run that Python started, as a board.

A run that is watched from its start (see `watching`) has all that the board of a cell has.  Any other run is watched
from the moment when it is shown; one that is over by then has only its results.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.job import ROW_LIMIT
from tfrt_magics.bridge.live import Bundle, LiveRecord, LiveRuns, Publisher
from tfrt_magics.bridge.pump import INTERVAL_SECONDS, Pump
from tfrt_magics.bridge.snapshot import OVER, Snapshot, decided, ended
from tfrt_magics.live.batch_run import BatchRun
from tfrt_magics.live.reprs import snapshot_of
from tfrt_magics.views.outlet import Slot, run_bundle, table_bundle
from tfrt_nb.documents.escapes import label
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_magics.bridge.runtime import PageProgram, TracedRun
    from tfrt_nb.documents.run import RunDocument

MAX_PAUSE_SECONDS = 0.5
"""The longest pause between two looks at a run in which nothing happens."""


class PythonRun:
    """An Execution, as a record follows it; kept alive until it is over."""

    pause = INTERVAL_SECONDS
    """Seconds between two looks while something happens."""

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
        )  # read first, so that everything read below is complete if the run is over
        [section] = found.sections
        elapsed = time.monotonic_ns() - self._start
        if self._traced is not None:
            values = self._traced.named_values()
            rows, more = (*section.rows, *values[:ROW_LIMIT]), decided(values[ROW_LIMIT:])
            section = replace(section, rows=rows, hidden=more)
        if found.status in OVER:
            section = ended(section, found.status)
            times = [row.resolved_ns for row in section.rows if row.resolved_ns is not None]
            elapsed = max(times, default=0 if self._traced is None else elapsed)
            self._run = None
        self._latest = replace(found, sections=(section,), elapsed_ns=elapsed)
        return self._latest

    def standing(self) -> Snapshot:
        if self._traced is None or (run := self._run) is None:
            return self.snapshot()
        printed = snapshot_of(run)
        if printed.status in OVER:  # as is a cancelled run, even while a kernel of it still runs
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
        """Stop holding values and events once the run is over; what it shows stays."""
        self._traced = None


def _traced(run: Execution) -> TracedRun | None:
    """Return the run with its events, which are logged from now on; None if they cannot be."""
    # Here, because a board of results needs no compiler.
    from tfrt_magics.bridge.runtime import PageProgram, TracedRun
    from tfrt_nb.documents.run import RunDocument

    program: Any = run.program.origin()
    if program is None:
        return None
    running: list[int] | None = None
    if run.watch is None:
        if run.is_done or program._compiled is not None:
            return None
        from tfrt_runtime.host.tracing.events import Watch  # %load_ext loads no runtime

        run._log_events(Watch())
        running = run._running_kernels()
    page = PageProgram(program)
    return TracedRun(run, page, RunDocument(program, run, page.document, run.late, running))


class LiveExecution(LiveRecord):
    """A board of an Execution, at which the pump looks less and less often while nothing happens."""

    def __init__(self, run: Execution, channel: Publisher) -> None:
        self._followed = BatchRun(run) if isinstance(run, Batch) else PythonRun(run)
        self._pause, self._next, self._is_watched = self._followed.pause, 0.0, False
        super().__init__(self._followed, channel, run_bundle)

    def show(self, run: Execution, runs: LiveRuns, shell: InteractiveShell, pump: Pump) -> None:
        """Publish the board in the cell that runs, and follow the run."""
        slot = Slot(shell, self.bundle(), self.id)
        if not self._is_watched:
            runs.hold(self, 1)

            def end() -> None:
                slot.replace(self.bundle())
                runs.release(self)

            self.at_end = end
        self.watch(run, pump)

    def watch(self, run: Execution, pump: Pump) -> None:
        """Let `pump` look at the run again and again, and at once when it is over."""
        if self._is_watched:
            return
        self._is_watched = True
        this = weakref.ref(self)

        def mark() -> None:
            if (one := this()) is not None:
                one._next = 0.0
                pump.mark(one)

        if not HAS_THREADS:
            # Perhaps no cell ever waits for it: in a page, it continues between cells.
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
    """Return the board of a run: always the same one, because only one can read the events."""
    live = _boards.get(run)
    if live is None:
        live = _boards[run] = LiveExecution(run, channel)
    live.send_to(channel)
    return live


def standing_bundle(run: Execution) -> Bundle:
    """Return the display data of a run at this moment, which nothing keeps live."""
    return table_bundle(BatchRun(run).snapshot() if isinstance(run, Batch) else snapshot_of(run))
