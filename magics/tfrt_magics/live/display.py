"""What is displayed: which objects are live, and by which path their output reaches those who look.

A page with our extension gets a run document, which it keeps live.  Any other page gets widgets while something is
unresolved.  Where nobody looks, as in nbclient, HTML and text are replaced under their display id.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from enum import Enum, auto
from typing import Any, TypeGuard

from IPython.core.formatters import (
    IPythonDisplayFormatter,
    MimeBundleFormatter,
)
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.dir2 import get_real_method

from tfrt_magics.bridge.cell_run import CellRun
from tfrt_magics.bridge.live import Bundle, LiveRuns
from tfrt_magics.live.lines import line_of, parts_of
from tfrt_magics.live.python_run import LiveExecution
from tfrt_magics.live.reprs import snapshot_of
from tfrt_magics.live.values_run import LiveValues, values_bundle
from tfrt_magics.session import Session
from tfrt_magics.views.outlet import Slot, has_no_board, is_watched, table_bundle
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.values.async_value import AsyncValue

OWN = ("_ipython_display_", "_repr_mimebundle_", "_repr_html_")
"""An object that says itself how it is shown is asked."""


class Where(Enum):
    """Who looks at an output."""

    PAGE = auto()
    """A page with our extension."""
    WIDGET = auto()
    """Another page, which may draw widgets."""
    FILE = auto()
    """Nobody: a program fills in the notebook, or prints it."""


Parts = Sequence[tuple[str, object]]
ShowInWidget = Callable[[Parts, Callable[[], Bundle]], None]
"""Shows parts, of which some are unresolved, in a page without our extension; the bundle is what they are now."""


class Displays:
    """The displayed values and runs of one kernel.  Used on the main thread."""

    def __init__(
        self,
        shell: InteractiveShell,
        session: Session,
        runs: LiveRuns,
        show_in_widget: ShowInWidget | None = None,
    ) -> None:
        """Without `show_in_widget`, all pages but ours get HTML and text."""
        self._shell, self._session, self._runs = shell, session, runs
        self._show_in_widget = show_in_widget

    def show(self, thing: object) -> bool:
        """Show `thing` live; False if it is not ours, or nothing in it will change."""
        if isinstance(thing, CellRun):
            return self._show_cell_run(thing)
        if not is_ours(thing) or self._session.settings.live == "never":
            return False
        pump = self._session.pump
        if is_run(thing):
            if not thing.is_done:
                LiveExecution(thing, self._runs).show(thing, self._shell, pump)
            return not thing.is_done
        parts = parts_of(thing, self._name_of(thing))
        if all(part.done() for _, part in parts if isinstance(part, AsyncValue)):
            return False
        where = self._where()
        if where is Where.WIDGET and self._show_in_widget is not None:
            head = self._runs.place
            self._show_in_widget(parts, lambda: values_bundle([line_of(*p) for p in parts], head))
        else:
            values = LiveValues(parts, self._runs, is_page=where is Where.PAGE)
            values.show(parts, self._shell, pump)
        return True

    def bundle(self, thing: object) -> Bundle | None:
        """What `thing` is at this moment; None if it is not ours."""
        if isinstance(thing, CellRun):
            return thing.board.bundle() if thing.board else table_bundle(thing.snapshot())
        if not is_ours(thing):
            return None
        if is_run(thing):
            if not thing.is_done:  # nothing keeps it live
                return table_bundle(snapshot_of(thing))
            return LiveExecution(thing, self._runs).bundle()
        if parts := parts_of(thing, self._name_of(thing)):
            lines = [line_of(*part) for part in parts]
            return values_bundle(
                lines, {**self._runs.place, "run": uuid.uuid4().hex, "status": "done"}
            )
        return None

    def _show_cell_run(self, run: CellRun) -> bool:
        """Show the board that a cell has drawn already, in a cell behind it."""
        if run.execution == self._shell.execution_count:
            return True  # it is the value of its own cell
        if run.board is None or run.board.over.is_set():
            return False
        Slot(self._shell, run.board.bundle(), run.board.id)
        return True

    def _where(self) -> Where:
        """Who looks at the output of the cell that runs."""
        if self._session.settings.live == "tables" or not is_watched(self._shell):
            return Where.FILE
        if has_no_board(self._shell) or not self._runs.channel.is_ours():
            return Where.WIDGET
        return Where.PAGE

    def _name_of(self, thing: object) -> str:
        """The user's name of a value that is shown by itself."""
        if not isinstance(thing, AsyncValue):
            return ""
        names = [*self._shell.user_ns.items()]
        found = (name for name, one in names if one is thing and not name.startswith("_"))
        return next(found, "value")

    def install(self, formatter: Any) -> Callable[[], None]:
        """Show our objects in this way from now on; returns what undoes that."""
        show, bundle = self.show, self.bundle

        class Shown(IPythonDisplayFormatter):
            def __call__(self, thing: Any) -> Any:
                return show(thing) or super().__call__(thing)

        class Bundled(MimeBundleFormatter):
            def __call__(self, thing: Any, include: Any = None, exclude: Any = None) -> Any:
                found = bundle(thing)
                return super().__call__(thing, include, exclude) if found is None else (found, {})

        before = formatter.ipython_display_formatter, formatter.mimebundle_formatter
        formatter.ipython_display_formatter = _like(before[0], Shown(parent=formatter))
        formatter.mimebundle_formatter = _like(before[1], Bundled(parent=formatter))

        def undo() -> None:
            formatter.ipython_display_formatter, formatter.mimebundle_formatter = before

        return undo


def is_run(thing: object) -> TypeGuard[Execution]:
    """Whether it is a run that has a board: one of a batch would have thousands of rows."""
    return isinstance(thing, Execution) and not isinstance(thing, Batch)


def is_ours(thing: object) -> bool:
    """Whether it may be shown live: a value, a run, or a container that does not say itself how it is shown."""
    if isinstance(thing, AsyncValue | Execution) or type(thing) in (list, tuple, dict):
        return True
    is_container = isinstance(thing, tuple) or is_dataclass(thing)
    return is_container and not any(get_real_method(thing, name) for name in OWN)


def _like(before: Any, formatter: Any) -> Any:
    """`formatter` with what users have registered, and will register, with the one before."""
    for name in ("singleton_printers", "type_printers", "deferred_printers"):
        setattr(formatter, name, getattr(before, name))
    return formatter
