"""`%load_ext tfrt_nb`, and its undo."""

from __future__ import annotations

import atexit

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.assist import Assistant
from tfrt_magics.cell import CellMagics
from tfrt_magics.lessons import LessonMagics
from tfrt_magics.lines import LINE_MAGICS, LineMagics
from tfrt_magics.session import Session
from tfrt_runtime.host.interrupts import INTERRUPTS

_sessions: dict[InteractiveShell, Session] = {}
_assistants: dict[InteractiveShell, Assistant] = {}
_lessons: dict[InteractiveShell, LessonMagics] = {}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register `%%tfrt`, its line magics and `%config TFRT`.  Compiles and starts nothing."""
    if shell in _sessions:
        return
    session = _sessions[shell] = Session(config=shell.config)
    shell.register_magics(CellMagics(shell, session))
    shell.register_magics(LineMagics(shell, session))
    lessons = _lessons[shell] = LessonMagics(shell, session)
    shell.register_magics(lessons)
    shell.events.register("pre_run_cell", _before_cell)
    shell.events.register("post_run_cell", lessons.after_cell)
    shell.configurables.append(session.settings)  # type: ignore[arg-type]
    _assistants[shell] = Assistant(shell)
    _assistants[shell].install()
    atexit.register(session.leave)


def _before_cell(_: object) -> None:
    """IPython's kernel has put Python's handler of interrupts in the place of ours."""
    INTERRUPTS.install()


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Close the session and take the magics away."""
    session = _sessions.pop(shell, None)
    if session is None:
        return
    _assistants.pop(shell).uninstall()
    session.close()
    shell.events.unregister("pre_run_cell", _before_cell)
    shell.events.unregister("post_run_cell", _lessons.pop(shell).after_cell)
    atexit.unregister(session.leave)
    shell.configurables.remove(session.settings)  # type: ignore[arg-type]
    magics = shell.magics_manager.magics
    for name in ("tfrt", "tfrt_check"):
        magics["cell"].pop(name, None)
    for name in ("tfrt", *LINE_MAGICS, "tfrt_predict", "tfrt_progress"):
        magics["line"].pop(name, None)
