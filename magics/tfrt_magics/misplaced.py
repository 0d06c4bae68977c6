"""Programs in cells of Python: the reader forgot `%%tfrt`, or it is not the first line."""

from __future__ import annotations

import ast
import re

from IPython.core.error import UsageError

_PROGRAM = re.compile(
    r"^\s*(?:(?P<magic>%%tfrt\w*)|(?:(?:async|func)\.)?func\s.*@.*\)[^={]*\{|module\b[^=(]*\{\s*$)",
    re.MULTILINE,
)
_NOT_PYTHON = re.compile(r"^\s*(?:%|!|//).*$", re.MULTILINE)


def refuse_program_in_python(lines: list[str]) -> list[str]:
    """Return the lines of a cell: an input transformer of IPython.

    Raises:
        UsageError: if a program is in it; says how to begin the cell.
    """
    text = "".join(lines)
    program = None if text.startswith("%%") else _PROGRAM.search(text)
    if program is None or not _is_python(text[: program.start()]):
        return lines
    if not program["magic"] and _is_python(text):
        return lines
    if program["magic"]:
        advice = (
            "must be the first line of its cell, without spaces before it; a comment goes below it, as in"
            " '// comment', and Python into a cell of its own"
        )
        raise UsageError(f"{program['magic']} {advice}")
    if re.search(r"^%tfrt\b", text, re.MULTILINE):
        raise UsageError("%tfrt runs a file: write %%tfrt, with two '%', above a program")
    raise UsageError("this is a program: begin its cell with the line %%tfrt")


# IPython then leaves it out where it only asks whether more lines follow.
refuse_program_in_python.has_side_effects = True  # type: ignore[attr-defined]


def _is_python(text: str) -> bool:
    """Whether lines are whole statements of Python, magics, and comments."""
    try:
        ast.parse(_NOT_PYTHON.sub("", text))
    except (SyntaxError, ValueError):
        return False
    return True
