"""IPython formatters that show our objects live, and all other objects as before.

This module is separate from `display`, because `%load_ext` must not load the runtime. Before the
runtime is loaded, none of our objects can exist.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.formatters import IPythonDisplayFormatter, MimeBundleFormatter
from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.live import LiveRuns
from tfrt_magics.live import watching
from tfrt_magics.session import Session

if TYPE_CHECKING:
    from tfrt_magics.live.display import Displays

VALUES = "tfrt_runtime.host.values.async_value"
"""The module of the class AsyncValue. An object of ours is an AsyncValue or holds some."""


def install(shell: InteractiveShell, session: Session, runs: LiveRuns) -> Callable[[], None]:
    """Show our objects live from now on. Return a function that undoes this."""
    made: list[Displays] = []

    def displays() -> Displays | None:
        if not made and VALUES in sys.modules:
            from tfrt_magics.live.display import Displays

            made.append(Displays(shell, session, runs))
        return made[0] if made else None

    class Shown(IPythonDisplayFormatter):
        def __call__(self, thing: Any) -> Any:
            live = displays()
            return (live is not None and live.show(thing)) or super().__call__(thing)

    class Bundled(MimeBundleFormatter):
        def __call__(self, thing: Any, include: Any = None, exclude: Any = None) -> Any:
            live = displays()
            found = None if live is None else live.bundle(thing)
            return super().__call__(thing, include, exclude) if found is None else (found, {})

    formatter: Any = shell.display_formatter
    before = formatter.ipython_display_formatter, formatter.mimebundle_formatter
    formatter.ipython_display_formatter = _like(before[0], Shown(parent=formatter))
    formatter.mimebundle_formatter = _like(before[1], Bundled(parent=formatter))

    unwatch = watching.install(shell, displays)

    def undo() -> None:
        unwatch()
        formatter.ipython_display_formatter, formatter.mimebundle_formatter = before

    return undo


def _like(before: Any, formatter: Any) -> Any:
    """Return `formatter`, after making it share the users' registrations with `before`."""
    for name in ("singleton_printers", "type_printers", "deferred_printers"):
        setattr(formatter, name, getattr(before, name))
    return formatter
