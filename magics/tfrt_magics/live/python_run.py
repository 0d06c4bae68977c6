"""A run that Python started, as a board: its results only, because such a run logs no events."""

from __future__ import annotations

import time
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.live import LiveRecord, LiveRuns, Publisher
from tfrt_magics.bridge.pump import Pump
from tfrt_magics.bridge.snapshot import OVER, Snapshot
from tfrt_magics.live.reprs import snapshot_of
from tfrt_magics.views.outlet import Slot, run_bundle
from tfrt_nb.documents.escapes import label
from tfrt_runtime.executor.execution import Execution

if TYPE_CHECKING:
    from tfrt_nb.documents.run import RunDocument


class PythonRun:
    """An Execution, as a record follows it; kept alive until it is over."""

    def __init__(self, run: Execution) -> None:
        self._run: Execution | None = run
        types = [label(one) for one in run._entry.result_types]
        function = {"id": 0, "name": label(run.function.name), "arguments": [], "results": []}
        functions = [function | {"result_types": types}]
        program = {"functions": functions, "operations": [], "values": []}
        self.body: dict[str, Any] = {"program": program, "layout": None, "source": ""}
        self._start = time.perf_counter_ns()
        self._latest = snapshot_of(run)

    def snapshot(self) -> Snapshot:
        if (run := self._run) is not None:
            elapsed = 0 if self._latest.status in OVER else time.perf_counter_ns() - self._start
            self._latest = replace(snapshot_of(run), elapsed_ns=elapsed)
            if self._latest.status in OVER:
                self._run = None
        return self._latest

    standing = snapshot

    def document(self) -> PythonRun:
        return self

    def logs(self) -> list[RunDocument]:
        return []

    def ready(self) -> None:
        return None

    def cancel(self, note: str) -> None:
        if (run := self._run) is not None:
            run.cancel(note)


class LiveExecution(LiveRecord):
    """A board of an Execution: the pump takes a look when a result is resolved, and at the end."""

    def __init__(self, run: Execution, channel: Publisher) -> None:
        super().__init__(PythonRun(run), channel, run_bundle)

    def show(self, run: Execution, runs: LiveRuns, shell: InteractiveShell, pump: Pump) -> None:
        """Publish the board in the cell that runs, and follow the run."""
        runs.hold(self, 1)
        slot = Slot(shell, self.bundle(), self.id)

        def end() -> None:
            slot.replace(self.bundle())
            runs.release(self)

        self.at_end = end
        self.watch(run, pump)

    def watch(self, run: Execution, pump: Pump) -> None:
        """Let `pump` take a look whenever something of the run is resolved."""
        pump.start()
        this = weakref.ref(self)

        def mark() -> None:
            if (one := this()) is not None:
                pump.mark(one)

        for value in run.results:
            value.and_then(mark)
        run.on_done(mark)

    def step(self) -> bool:
        if not self.over.is_set():
            super().step()
        return False
