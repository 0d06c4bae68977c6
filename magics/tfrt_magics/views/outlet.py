"""Where a cell's output goes: a page that is looked at, a notebook that is filled in, a terminal.

An outlet is used on the main thread.  Only the end of a run that nobody waits for is written by the
pump's thread, through a display id, so that it reaches its own cell.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from typing import Protocol

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.pump import Pump, Watch
from tfrt_magics.bridge.snapshot import Snapshot
from tfrt_magics.bridge.stream import Delta, Json, Keyframe
from tfrt_magics.views.board import Board
from tfrt_magics.views.bundle import run_bundle
from tfrt_magics.views.diagnostics import CellText, diagnostics_bundle, diagnostics_text
from tfrt_magics.views.stage import stage_bundle, stage_text
from tfrt_magics.views.text import text_table
from tfrt_runtime.diagnostics import Diagnostic

Bundle = dict[str, Json]


class Outlet(Protocol):
    """What a cell asks of the place that shows it."""

    def watch(self, job: Job) -> None:
        """Show the run while it goes on, if someone can see that."""

    def finish(self, job: Job) -> None:
        """Show the run as it ended, in place of what `watch` showed."""

    def leave(self, job: Job, cell: CellText) -> None:
        """Show the run and return; it ends, with its diagnostics, by itself."""

    def diagnose(self, diagnostics: Sequence[Diagnostic], cell: CellText) -> None:
        """Show errors under the cell."""

    def show_stage(self, text: str, stage: str) -> None:
        """Show a program at a stage of its compilation."""


class Terminal:
    """Plain IPython: the table when the run is over, in colour where that can be seen."""

    def watch(self, job: Job) -> None:
        """Nothing: a terminal scrolls."""

    def finish(self, job: Job) -> None:
        print(text_table(job.snapshot(), ansi=sys.stdout.isatty()))

    def leave(self, job: Job, cell: CellText) -> None:
        names = ", ".join(f"@{section.name}" for section in job.snapshot().sections)
        print(f"{names} runs in the background")

    def diagnose(self, diagnostics: Sequence[Diagnostic], cell: CellText) -> None:
        print(diagnostics_text(diagnostics, cell), file=sys.stderr)

    def show_stage(self, text: str, stage: str) -> None:
        print(stage_text(text, stage, ansi=sys.stdout.isatty()), end="")


class Slot:
    """A piece of a cell's output that can be replaced, from any thread."""

    def __init__(self, shell: InteractiveShell, bundle: Bundle) -> None:
        self._publish = shell.display_pub.publish
        self._id = uuid.uuid4().hex
        self._publish(bundle, transient={"display_id": self._id})

    def replace(self, bundle: Bundle) -> None:
        self._publish(bundle, transient={"display_id": self._id}, update=True)


class Still:
    """A sink that shows nothing but the end."""

    def __init__(self, end: Callable[[Snapshot], None]) -> None:
        self._end = end

    def show(self, message: Keyframe | Delta) -> None:
        """Nothing: there is no board."""

    def end(self, snapshot: Snapshot) -> None:
        self._end(snapshot)


class Page:
    """A notebook.  A live board is drawn only where someone can see it move."""

    def __init__(
        self, shell: InteractiveShell, pump: Pump, keep: Callable[[Board], None], *, live: bool
    ) -> None:
        """`keep` is given every board, to be closed when it is no longer wanted."""
        self._shell, self._pump, self._keep, self._live = shell, pump, keep, live
        self._slot: Slot | None = None
        self._watch: Watch | None = None

    def watch(self, job: Job) -> None:
        if self._live:
            board = self._board(job, end=lambda snapshot: None)
            self._slot = Slot(self._shell, board_bundle(board))
            self._watch = self._pump.watch(job, board, board.shown)

    def finish(self, job: Job) -> None:
        bundle = run_bundle(job.snapshot())
        if self._slot is None or self._watch is None:
            self._shell.display_pub.publish(bundle)
            return
        # Until then the board is the pump's, and its last message could come after the picture.
        self._watch.over.wait(1.0)
        self._slot.replace(bundle)

    def leave(self, job: Job, cell: CellText) -> None:
        def end(snapshot: Snapshot) -> None:
            slot.replace(run_bundle(snapshot))
            if job.diagnostics:
                errors.replace(diagnostics_bundle(job.diagnostics, cell))

        sink: Board | Still = self._board(job, end) if self._live else Still(end)
        shown = job.snapshot()
        slot = Slot(
            self._shell, board_bundle(sink) if isinstance(sink, Board) else run_bundle(shown)
        )
        errors = Slot(self._shell, {"text/html": "", "text/plain": ""})
        # Last: from here on the pump may call `end` at any moment.
        self._pump.watch(job, sink, sink.shown if isinstance(sink, Board) else shown)

    def diagnose(self, diagnostics: Sequence[Diagnostic], cell: CellText) -> None:
        self._shell.display_pub.publish(diagnostics_bundle(diagnostics, cell))

    def show_stage(self, text: str, stage: str) -> None:
        self._shell.display_pub.publish(stage_bundle(text, stage))

    def _board(self, job: Job, end: Callable[[Snapshot], None]) -> Board:
        board = Board(job, cancel=lambda: job.cancel("cancelled by its button"), end=end)
        self._keep(board)
        return board


def board_bundle(board: Board) -> Bundle:
    """The live widget; whoever has no widgets sees how the run stood when it was displayed."""
    view: Json = {"version_major": 2, "version_minor": 0, "model_id": board.model_id}
    return {"application/vnd.jupyter.widget-view+json": view, **run_bundle(board.shown)}


def is_watched(shell: InteractiveShell) -> bool:
    """Whether a page shows this cell now.

    Pages that edit cells say which cell they run; a console, nbclient and papermill do not, and
    want one final output.
    """
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return False
    return "cellId" in kernel.get_parent().get("metadata", {})
