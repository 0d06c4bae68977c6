"""The destinations of a cell's output: a page, an executed notebook, or a terminal.

Each destination has its own form of output. Only the main thread uses an outlet, with one
exception: if no cell waits for a run, the pump's thread writes the end of the run to the cell that
started it.
"""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, ClassVar

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.live import Bundle, LiveRun, LiveRuns
from tfrt_magics.bridge.pump import Pump
from tfrt_magics.bridge.record import RUN_MIME, Record
from tfrt_magics.bridge.snapshot import Snapshot
from tfrt_magics.views.diagnostics import CellText, diagnostics_bundle, diagnostics_text
from tfrt_magics.views.page import page
from tfrt_magics.views.text import text_table
from tfrt_runtime.diagnostics import Diagnostic, Severity
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_magics.bridge.explored import Explored

QUIET_SECONDS = 0.5
"""In a terminal, a run that takes fewer seconds than this shows no progress line."""
SHOW_SECONDS = 0.2
TABLE_SECONDS = 1.0
"""The interval, in seconds, at which a page without a board gets a new table."""
NO_BOARD = (
    "The run is waiting for a choice on the board, but this page has "
    "no board, because it lacks tfrt-nb's JupyterLab extension. Interrupt the cell."
)


class Terminal:
    """Plain IPython: a line with the run's progress, then a table.

    The table has colors if the terminal has colors.
    """

    is_live = False
    """Whether a page shows running runs, and can request that they be stopped or stepped."""
    board: LiveRun | None = None
    """The run as pages see it."""

    def __init__(self) -> None:
        self._start: float | None = None
        self._next = QUIET_SECONDS
        """The time of the next progress line, in seconds since the run's first `watch`."""

    def watch(self, job: Job) -> None:
        """Show the running job if a reader can see it. This may be called repeatedly."""
        self._start = self._start or time.monotonic()
        seconds = time.monotonic() - self._start
        if seconds >= self._next and sys.stdout.isatty():
            # Imported here because %load_ext must not load the compiler.
            from tfrt_nb.cli.running.following import progress_text, put_line

            for log in job.logs()[-1:]:
                put_line(sys.stdout, progress_text(log, seconds))
            self._next = seconds + SHOW_SECONDS

    def finish(self, job: Job) -> None:
        """Show the finished job instead of the output of `watch`."""
        # `_next` grows only when a progress line is shown, which must now be erased.
        if self._next > QUIET_SECONDS:
            print("\r\x1b[2K", end="")
        print(text_table(job.snapshot(), ansi=sys.stdout.isatty()))

    def leave(self, job: Job, cell: CellText) -> None:
        """Show the running job and return.

        The end of the run and its diagnostics are shown later; no further call is needed.
        """
        names = ", ".join(f"@{section.name}" for section in job.snapshot().sections)
        print(f"{names} runs in the background")

    def diagnose(self, diagnostics: Sequence[Diagnostic], cell: CellText) -> None:
        """Show errors and remarks below the cell. If there are no errors, use standard output."""
        is_error = any(one.severity is not Severity.REMARK for one in diagnostics)
        print(diagnostics_text(diagnostics, cell), file=sys.stderr if is_error else sys.stdout)

    def show_explored(self, found: Explored) -> None:
        """Show the outcomes of all schedules of a function."""
        print(found.text, end="")

    def show_stage(self, text: str, stage: str) -> None:
        """Show a program at a stage of its compilation, in color if the terminal shows colors."""
        from tfrt_magics.views.stages import stage_colored

        print(stage_colored(text, stage) if sys.stdout.isatty() else text, end="")


class Slot:
    """A piece of a cell's output. Any thread can replace it.

    nbclient and papermill read messages only while a cell runs. Therefore, a replacement that is
    made while no cell runs is published again when the next cell runs.
    """

    is_between = False
    """Whether no cell is running."""
    _late: ClassVar[dict[str, Callable[[], None]]] = {}

    def __init__(self, shell: InteractiveShell, bundle: Bundle, name: str | None = None) -> None:
        self._publish = shell.display_pub.publish
        self._id = name or uuid.uuid4().hex
        self._publish(bundle, transient={"display_id": self._id})

    def replace(self, bundle: Bundle) -> None:
        publish = partial(self._publish, bundle, transient={"display_id": self._id}, update=True)
        if Slot.is_between:
            # Keep only the newest replacement: each one contains the complete output.
            Slot._late[self._id] = publish
        publish()

    @staticmethod
    def before_cell(shell: InteractiveShell) -> None:
        """Publish again every replacement since the last cell, unless a page has received it."""
        Slot.is_between = False
        late, Slot._late = Slot._late, {}
        if not is_watched(shell):
            for publish in late.values():
                publish()


class Page:
    """A notebook. The class has the same methods as `Terminal`.

    While a cell runs, the run is published only if a page can show it.
    """

    def __init__(
        self,
        shell: InteractiveShell,
        pump: Pump,
        runs: LiveRuns,
        *,
        live: bool,
        tables: bool,
        in_widget: Callable[[LiveRun], None] | None = None,
    ) -> None:
        """Args:
        tables: whether the page cannot show our board, so that a running cell's output is drawn
            again.
        in_widget: for a page without our extension, publishes a run as a widget, and later the
            run's final state.
        """
        self._shell, self._pump, self._runs, self.is_live = shell, pump, runs, live and not tables
        self._tables, self._in_widget = tables, in_widget
        self._next_table = 0.0
        self._slot: Slot | None = None
        self.board: LiveRun | None = None

    def watch(self, job: Job) -> None:
        if self.board is None and (self.is_live or self._tables or self._in_widget):
            self.board = self._runs.add(job)
            self._slot = self._shown(self.board)
            self._pump.watch(self.board)
        elif self._tables and self._slot is not None and time.monotonic() >= self._next_table:
            self._slot.replace(table_bundle(job.snapshot()))
            self._next_table = time.monotonic() + TABLE_SECONDS

    def _shown(self, run: LiveRun) -> Slot | None:
        """Publish a run, and return its slot, or None if `in_widget` replaces the output itself."""
        if self._in_widget is None:
            return Slot(self._shell, run.bundle(), run.id)
        self._in_widget(run)
        return None

    def finish(self, job: Job) -> None:
        if self.board is None:
            self.board = self._runs.add(job)
            Slot(self._shell, self.board.bundle(), self.board.id)
            return
        # Pages with our extension get the run's end from the pump's last message, which is sent now
        # rather than at the pump's next check. All other pages need the replacement below.
        self._pump.step()
        if HAS_THREADS:
            self.board.over.wait(1.0)
        else:
            self._pump.drain(1.0)
        if self._slot is not None:
            self._slot.replace(self.board.bundle())

    def leave(self, job: Job, cell: CellText) -> None:
        run = self.board = self._runs.add(job)
        slot = self._shown(run)
        # When errors arrive, another cell may be running, so reserve an output of this cell.
        errors = Slot(self._shell, {"text/html": "", "text/plain": ""})

        def end() -> None:
            if slot is not None:
                slot.replace(run.bundle())
            if job.diagnostics:
                errors.replace(diagnostics_bundle(job.diagnostics, cell))

        run.at_end = end
        self._pump.watch(run)  # last, because from here on `end` may be called at any moment

    def diagnose(self, diagnostics: Sequence[Diagnostic], cell: CellText) -> None:
        self._shell.display_pub.publish(diagnostics_bundle(diagnostics, cell))

    def show_explored(self, found: Explored) -> None:
        """Show a board with the outcomes."""
        bundle: Bundle = {
            RUN_MIME: found.file(self._runs.place),
            "text/html": f"<pre>{escape(found.text)}</pre>",
            "text/plain": found.text.rstrip("\n"),
        }
        self._shell.display_pub.publish(bundle)

    def show_stage(self, text: str, stage: str) -> None:
        from tfrt_magics.views.stages import stage_bundle

        self._shell.display_pub.publish(stage_bundle(text, stage))


Outlet = Terminal | Page


def run_bundle(record: Record) -> Bundle:
    """Return the display data of a run's current state: JSON for our extension, HTML, and text."""
    snapshot = record.snapshot
    if record.is_stepped and not snapshot.note:
        snapshot = replace(snapshot, note=NO_BOARD)
    return {RUN_MIME: record.file(), **table_bundle(snapshot)}


def table_bundle(snapshot: Snapshot) -> Bundle:
    """Return the display data of a run for a page without a board: HTML and text."""
    return {"text/html": page(snapshot), "text/plain": text_table(snapshot)}


def is_watched(shell: InteractiveShell) -> bool:
    """Return whether a page shows this cell now.

    A page that edits cells tells the kernel which cell it runs. A console, nbclient, and papermill
    do not; they need a single final output.
    """
    kernel = getattr(shell, "kernel", None)
    return False if kernel is None else "cellId" in kernel.get_parent().get("metadata", {})


def has_no_board(shell: InteractiveShell) -> bool:
    """Return whether this is VS Code, Colab, or a Voila page, which cannot have our extension."""
    return "__vsc_ipynb_file__" in shell.user_ns or "google.colab" in sys.modules or in_voila()


def in_voila() -> bool:
    """Return whether Voila serves this kernel's notebook as a page."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
