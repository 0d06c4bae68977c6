"""Decide which displayed objects are live, and how readers get their output.

A page with our extension gets a run document and keeps it up to date. Any other page gets a widget
while something is unresolved. Without a page, as in nbclient, the output is HTML and text, which a
later message replaces under a display id.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import partial
from typing import TypeGuard

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.dir2 import get_real_method

from tfrt_magics.bridge.cell_run import CellRun
from tfrt_magics.bridge.live import Bundle, LiveRun, LiveRuns
from tfrt_magics.bridge.record import Document
from tfrt_magics.live.audience import Where, where_to
from tfrt_magics.live.lines import Line, line_of, parts_of
from tfrt_magics.live.python_run import board_of, standing_bundle
from tfrt_magics.live.values_run import LiveValues, values_bundle
from tfrt_magics.session import Session
from tfrt_magics.views.outlet import Slot, table_bundle
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

OWN = ("_ipython_display_", "_repr_mimebundle_", "_repr_html_")
"""Methods that format an object. IPython itself shows an object that has one of these methods."""


class Displays:
    """The displayed values and runs of one kernel. Only the main thread uses this class."""

    def __init__(self, shell: InteractiveShell, session: Session, runs: LiveRuns) -> None:
        self._shell, self._session, self._runs = shell, session, runs

    def show(self, thing: object) -> bool:
        """Show `thing` live. Return False if it is not one of our objects, or will not change."""
        if isinstance(thing, CellRun):
            return self._show_cell_run(thing)
        if not is_ours(thing) or self._session.settings.live == "never":
            return False
        pump = self._session.pump
        if is_run(thing):
            if thing.is_done:
                return False
            if self._where() is Where.WIDGET:
                show_run_in_widget(thing)
            else:
                board_of(thing, self._runs.channel).show(thing, self._runs, self._shell, pump)
            return True
        parts = parts_of(thing, self._name_of(thing))
        if all(part.done() for _, part in parts if isinstance(part, AsyncValue)):
            return False
        where = self._where()
        if where is Where.WIDGET:
            show_in_widget(parts, partial(values_bundle, head=self._over()))
        else:
            values = LiveValues(parts, self._runs, is_page=where is Where.PAGE)
            values.show(parts, self._shell, pump)
        return True

    def show_now(self, run: Execution) -> None:
        """Show a run that has just started. It may already be over."""
        if not self.show(run) and self._session.settings.live != "never":
            Slot(self._shell, self.bundle(run) or {})

    def bundle(self, thing: object) -> Bundle | None:
        """Return the current display data of `thing`, or None if it is not one of our objects."""
        if isinstance(thing, CellRun):
            return thing.board.bundle() if thing.board else table_bundle(thing.snapshot())
        if not is_ours(thing):
            return None
        if is_run(thing):
            # Nothing keeps this output live. Leave out the run document, so that no page waits for
            # the end of the run.
            over = thing.is_done
            return board_of(thing, self._runs.channel).bundle() if over else standing_bundle(thing)
        if parts := parts_of(thing, self._name_of(thing)):
            return values_bundle([line_of(*part) for part in parts], self._over())
        return None

    def _over(self) -> Document:
        """Return the head of a document whose values will not be updated."""
        return {**self._runs.place, "run": uuid.uuid4().hex, "status": "done"}

    def _show_cell_run(self, run: CellRun) -> bool:
        """Show an earlier cell's run again if its board is still being updated."""
        if run.execution == self._shell.execution_count:
            return True  # the run is the value of its own cell
        if run.board is None or run.board.over.is_set():
            return False
        if self._where() is Where.WIDGET:
            show_board_in_widget(run.board)
        else:
            Slot(self._shell, run.board.bundle(), run.board.id)
        return True

    def _where(self) -> Where:
        return where_to(self._shell, self._session, self._runs)

    def _name_of(self, thing: object) -> str:
        """Return the name of the user's variable for a value that is shown alone."""
        if not isinstance(thing, AsyncValue):
            return ""
        names = [*self._shell.user_ns.items()]
        found = (name for name, one in names if one is thing and not name.startswith("_"))
        return next(found, "value")


def show_in_widget(
    parts: Sequence[tuple[str, object]], bundle_of: Callable[[Sequence[Line]], Bundle]
) -> None:
    """Show values in a page that does not have our extension."""
    # Imported here and below because a page with our extension needs no ipywidgets.
    from tfrt_magics.live.widgets import ValuesWidget, show_until_over

    widget = ValuesWidget(parts)
    show_until_over(widget, partial(bundle_of, widget.lines))


def show_run_in_widget(run: Execution) -> None:
    """Show a run that Python started in a page without our extension."""
    from tfrt_magics.live.widgets import show_until_over, widget_of_run

    widget = widget_of_run(run)
    show_until_over(widget, widget.bundle)


def show_board_in_widget(board: LiveRun) -> None:
    """Show a cell's run in a page that does not have our extension."""
    from tfrt_magics.live.widgets import BoardWidget, show_until_over

    show_until_over(BoardWidget(board, board.job.all_results), board.bundle, has_run=True)


def is_run(thing: object) -> TypeGuard[Execution]:
    """Return whether `thing` is a run. Runs have boards."""
    return isinstance(thing, Execution)


def is_ours(thing: object) -> bool:
    """Return whether `thing` may be shown live: a value, a run, or a container.

    A container that formats itself is excluded.
    """
    if isinstance(thing, AsyncValue | Execution) or type(thing) in (list, tuple, dict):
        return True
    is_container = isinstance(thing, tuple) or is_dataclass(thing)
    return is_container and not any(get_real_method(thing, name) for name in OWN)
