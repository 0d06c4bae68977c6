"""`%load_ext tfrt_nb`, `%unload_ext tfrt_nb`, and advice for a program in a Python cell."""

from __future__ import annotations

import ast
import atexit
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from tfrt_magics.assist import Assistant
from tfrt_magics.bridge.live import LiveRuns
from tfrt_magics.cell import CellMagics
from tfrt_magics.lessons import LessonMagics
from tfrt_magics.lines import LineMagics
from tfrt_magics.live.formatters import install
from tfrt_magics.session import Session
from tfrt_magics.views.outlet import Slot, run_bundle
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.failures import for_users
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.native.machine import HAS_THREADS

_undo: dict[InteractiveShell, ExitStack] = {}
_lacking = set[str]()
"""The packages that a cell of this page needed but the page could not load."""
_PROGRAM = re.compile(
    r"^\s*(?:(?P<magic>%%tfrt\w*)|(?:(?:async|func)\.)?func\s.*@.*\)[^={]*\{|module\b[^=(]*\{\s*$)",
    re.MULTILINE,
)
_NOT_PYTHON = re.compile(r"^\s*(?:%|!|//).*$", re.MULTILINE)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register `%%tfrt`, its line magics, and `%config TFRT`. This compiles and runs nothing."""
    if shell in _undo:
        return
    undo = _undo[shell] = ExitStack()
    session = Session(config=shell.config)
    atexit.register(session.leave)
    undo.callback(atexit.unregister, session.leave)
    lessons = LessonMagics(shell)
    assistant = Assistant(shell)
    runs = (
        LiveRuns(shell, run_bundle, assistant.answer, lambda: session.settings.board == "simple")
        if hasattr(shell, "kernel")
        else None
    )
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

    def after_cell(result: ExecutionResult) -> None:
        if lessons.prediction is not None:
            lessons.after_cell(result)

    actions: list[tuple[str, Callable[[Any], object]]] = [
        # IPython's kernel has replaced our interrupt handler with Python's.
        ("pre_run_cell", lambda _: INTERRUPTS.install()),
        ("pre_run_cell", cells.before_cell),
        ("post_run_cell", after_cell),
    ]
    if runs is not None:
        actions += [
            ("pre_run_cell", lambda _: Slot.before_cell(shell)),
            ("post_run_cell", lambda _: setattr(Slot, "is_between", True)),
            ("post_run_cell", lambda _: session.pump.flush()),
        ]
    for event, action in actions:
        shell.events.register(event, action)
        undo.callback(shell.events.unregister, event, action)
    if not shell.custom_exceptions:  # otherwise, the user has a handler
        handled = (TfrtError,) if HAS_THREADS else (Exception,)
        shell.set_custom_exc(handled, show_problem)  # type: ignore[no-untyped-call]
        undo.callback(shell.set_custom_exc, (), None)
    shell.input_transformers_cleanup.append(refuse_program_in_python)
    undo.callback(shell.input_transformers_cleanup.remove, refuse_program_in_python)
    shell.configurables.append(session.settings)  # type: ignore[arg-type]
    undo.callback(shell.configurables.remove, session.settings)  # type: ignore[arg-type]
    # Callbacks run in reverse order: the session closes while its channel to the pages is open.
    undo.callback(session.close)
    assistant.install()
    undo.callback(assistant.uninstall)


def show_problem(
    shell: InteractiveShell,
    kind: type,
    problem: Exception,
    trace: Any,
    tb_offset: int | None = None,
) -> None:
    """Show a cell's exception; the traceback of a TfrtError has no frames of ours.

    If the cell needs a feature that the page lacks, print a sentence instead. Such a cell counts as
    successful for the page, so Run All continues.
    """
    if str(problem) == "can't start new thread":
        print("This cell needs several threads, but Python in a page has only one.")
    elif getattr(problem, "name", None) == "numpy":
        _lacking.add("numpy")
        print("This cell needs numpy: the page could not load it from the network.")
    elif "numpy" in _lacking and "is not defined" in str(problem):
        print(
            f"This cell needs numpy, which the page could not load for an earlier cell: {problem}"
        )
    else:
        if isinstance(problem, TfrtError):
            trace = for_users(problem).__traceback__
        shell.showtraceback((kind, problem, trace), tb_offset=tb_offset)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Close the session and remove the magics."""
    if shell in _undo:
        _undo.pop(shell).close()


def refuse_program_in_python(lines: list[str]) -> list[str]:
    """IPython input transformer: return a cell's lines unchanged unless they contain a program.

    Raises:
        UsageError: if the cell contains a program. The message says how to start the cell.
    """
    text = "".join(lines)
    program = None if text.startswith("%%") else _PROGRAM.search(text)
    if (
        program is None
        or not _is_python(text[: program.start()])
        or (not program["magic"] and _is_python(text))
    ):
        return lines
    if program["magic"]:
        advice = (
            "must be the first line of its cell, without spaces before it; a comment goes below "
            "it, as in '// comment', and Python goes in a cell of its own"
        )
        raise UsageError(f"{program['magic']} {advice}")
    if re.search(r"^%tfrt\b", text, re.MULTILINE):
        raise UsageError("%tfrt runs a file: write %%tfrt, with two '%', above a program")
    raise UsageError("this is a program: begin its cell with the line %%tfrt")


# Because of this attribute, IPython skips the transformer when it only checks whether a cell is
# complete.
refuse_program_in_python.has_side_effects = True  # type: ignore[attr-defined]


def _is_python(text: str) -> bool:
    """Return whether the lines contain only complete Python statements, magics, and comments."""
    try:
        ast.parse(_NOT_PYTHON.sub("", text))
    except (SyntaxError, ValueError):
        return False
    return True
