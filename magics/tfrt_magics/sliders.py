"""A program with controls for its arguments, by ipywidgets."""

from __future__ import annotations

from typing import Any

from ipywidgets import interactive

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError

SECONDS = 10.0
"""The page waits for a run at most so long."""


def sliders(program: Program, function: str = "main", /, **ranges: object) -> interactive:
    """Controls for the arguments of a function; below them its results, computed again when one moves.

    Args:
        program: what `%%tfrt --as NAME` binds.
        function: the name of one of its functions.
        ranges: for each argument what `ipywidgets.interact` takes: `(0, 10)`, a list of choices, a value.

    Raises:
        TypeError: if the program has no such function, or that has other arguments.
    """
    names = [one.name for one in program.functions]
    if function not in names:
        raise TypeError(f"the program has no function @{function}: it has {', '.join(names)}")
    parameters = program.parameters(function)
    if sorted(parameters) != sorted(ranges):
        given = ", ".join(ranges) or "none"
        raise TypeError(f"@{function} takes {', '.join(parameters) or 'no arguments'}, not {given}")

    def compute(**values: Any) -> object:
        try:
            run = program._run_function(function, *(values[name] for name in parameters))
            return run.result(timeout=SECONDS)
        except TfrtError as problem:
            print(f"error: {problem.diagnostics[0].message}")
        except TimeoutError:
            print(f"no result after {SECONDS:.0f} s")
        return None

    # Without `auto_display` it would keep the result for Python, and show nothing.
    return interactive(compute, {"auto_display": True}, **ranges)
