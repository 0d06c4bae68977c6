"""`%load_ext tfrt_nb`, and its undo."""

from __future__ import annotations

import atexit
from contextlib import ExitStack

from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.assist import Assistant
from tfrt_magics.bridge.live import LiveRuns
from tfrt_magics.cell import CellMagics
from tfrt_magics.lessons import LessonMagics
from tfrt_magics.lines import LineMagics
from tfrt_magics.live.formatters import install
from tfrt_magics.misplaced import refuse_program_in_python
from tfrt_magics.session import Session
from tfrt_magics.views.outlet import run_bundle
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.interrupts import INTERRUPTS

_undo: dict[InteractiveShell, ExitStack] = {}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register `%%tfrt`, its line magics and `%config TFRT`.  Compiles and starts nothing."""
    if shell in _undo:
        return
    undo = _undo[shell] = ExitStack()
    session = Session(config=shell.config)
    atexit.register(session.leave)
    undo.callback(atexit.unregister, session.leave)
    lessons = LessonMagics(shell)
    assistant = Assistant(shell)
    runs = LiveRuns(shell, run_bundle, assistant.answer) if hasattr(shell, "kernel") else None
    if runs is not None:
        session.warm()
        undo.callback(runs.channel.close)
        undo.callback(install(shell, session, runs))
    HOOKS.last_run = lambda: session.last_run
    undo.callback(setattr, HOOKS, "last_run", lambda: None)
    cells = CellMagics(shell, session, lessons, runs)
    for magics in (cells, LineMagics(shell, session), lessons):
        shell.register_magics(magics)
        for kind, names in magics.magics.items():
            for name in names:
                undo.callback(shell.magics_manager.magics[kind].pop, name, None)
    for event, action in (
        ("pre_run_cell", _before_cell),
        ("pre_run_cell", cells.before_cell),
        ("post_run_cell", lessons.after_cell),
        ("post_run_cell", lambda _: session.pump.flush()),
    ):
        shell.events.register(event, action)
        undo.callback(shell.events.unregister, event, action)
    shell.input_transformers_cleanup.append(refuse_program_in_python)
    undo.callback(shell.input_transformers_cleanup.remove, refuse_program_in_python)
    shell.configurables.append(session.settings)  # type: ignore[arg-type]
    undo.callback(shell.configurables.remove, session.settings)  # type: ignore[arg-type]
    undo.callback(session.close)
    assistant.install()
    undo.callback(assistant.uninstall)


def _before_cell(_: object) -> None:
    """IPython's kernel has put Python's handler of interrupts in the place of ours."""
    INTERRUPTS.install()


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Close the session and take the magics away."""
    if shell in _undo:
        _undo.pop(shell).close()
