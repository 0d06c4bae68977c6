"""A program with ipywidgets controls for its arguments."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from tfrt_nb.programs import Program
from tfrt_nb.tracing.functions import CANCELLED, SOON_SECONDS, TracedProgram
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.default_host import default_host
from tfrt_runtime.host.values.async_value import make_error

if TYPE_CHECKING:
    from ipywidgets import interactive


def sliders(
    program: Program | TracedProgram, function: str = "main", /, **ranges: object
) -> interactive:
    """Return controls for a function's arguments, with the function's results below them.

    Moving a control starts a run, and cancels the run that the previous move started. The attribute
    `result` of the returned box has the newest result.

    Args:
        program: a program that `%%tfrt --as NAME` binds, or a `@tfrt.program` function.
        function: the name of the function, for a `%%tfrt` program.
        ranges: for each argument, a value that `ipywidgets.interact` accepts: `(0, 10)`, a list of
            choices, or a single value.

    Raises:
        TypeError: if the program has no such function, or the function has other arguments.
        ImportError: if ipywidgets or anywidget is not installed.
    """
    parameters, start = _started_by(program, function)
    if sorted(parameters) != sorted(ranges):
        given = ", ".join(ranges) or "none"
        raise TypeError(f"@{function} takes {', '.join(parameters) or 'no arguments'}, not {given}")
    # Imported here because importing a program's module must not load ipywidgets.
    from ipywidgets import interactive

    from tfrt_magics.live.lines import parts_of
    from tfrt_magics.live.widgets import ValuesWidget

    shown, runs, moving = ValuesWidget([]), list[Execution](), threading.Lock()

    def newest() -> object:
        with suppress(TfrtError, TimeoutError, IndexError):
            return runs[0].result(0)
        return None

    def compute(**values: object) -> object:
        with moving:  # ipykernel may call this on two threads
            for run in runs:
                run.cancel(CANCELLED)
            runs.clear()
            try:
                runs.append(start(*(values[name] for name in parameters)))
                runs[0].wait_for_results(SOON_SECONDS)
                shown.show(parts_of(runs[0]))
            except TfrtError as problem:
                refused = make_error(default_host().work_queue, problem.diagnostics[0])
                shown.show([("result", refused)])
            return newest()

    box = interactive(compute, **ranges)
    *controls, output = box.children
    box.children = (*controls, shown, output)

    def keep(_: object = None) -> None:
        if (result := newest()) is not None:
            box.result = result

    shown.observe(keep, "state")
    keep()
    return box


def _started_by(
    program: Program | TracedProgram, function: str
) -> tuple[tuple[str, ...], Callable[..., Execution]]:
    """Return the names of a function's arguments, and a callable that starts the function.

    Raises:
        TypeError: if the program has no such function.
    """
    if isinstance(program, TracedProgram):
        return tuple(one.name for one in program._parameters), program.run
    names = [one.name for one in program.functions]
    if function not in names:
        raise TypeError(f"the program has no function @{function}: it has {', '.join(names)}")
    return program.parameters(function), program[function]
