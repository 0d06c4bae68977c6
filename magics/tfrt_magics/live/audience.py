"""Find out who views the output of a cell.

This module is separate from `display`, because `%load_ext` must not load the runtime.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from importlib.util import find_spec

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.live import LiveRuns
from tfrt_magics.session import Session
from tfrt_magics.views.outlet import has_no_board, is_watched
from tfrt_runtime.native.machine import HAS_THREADS


class Where(Enum):
    """Where a cell's output will be read, which decides how it is displayed."""

    PAGE = auto()
    """A page that has our extension."""
    WIDGET = auto()
    """A page without our extension. It may be able to draw widgets."""
    FILE = auto()
    """No page: a program executes or prints the notebook."""


@cache
def has_widgets() -> bool:
    """Return whether widgets can be created."""
    return all(find_spec(name) is not None for name in ("anywidget", "ipywidgets"))


def where_to(shell: InteractiveShell, session: Session, runs: LiveRuns) -> Where:
    """Return the viewers of the running cell's output. This asks the page if necessary."""
    live = session.settings.live
    if live in ("tables", "never") or not (HAS_THREADS and has_widgets()):
        # JupyterLite's pages need no widgets, because a site with this kernel has our extension,
        # too.
        is_page = not HAS_THREADS and live in ("auto", "always")
        return Where.PAGE if is_page and is_watched(shell) else Where.FILE
    if has_no_board(shell):
        return Where.WIDGET
    if live == "always":
        return Where.PAGE
    if not is_watched(shell):
        return Where.FILE
    return Where.PAGE if runs.channel.is_ours() else Where.WIDGET
