"""What passes say: why they refuse a program, at the operation that they cannot handle, and
remarks.
"""

from __future__ import annotations

from typing import NoReturn

from xdsl.context import Context
from xdsl.ir import Operation

from tfrt_nb.internal_errors import location_of
from tfrt_runtime.diagnostics import Diagnostic, Severity, TfrtError, error, note


class PassError(TfrtError):
    """A program that is valid but that a pass cannot transform."""


def fail(op: Operation, message: str, *advice: str) -> NoReturn:
    """Raise `PassError` at the place of `op` in the source, with notes on what to write instead."""
    place = location_of(op)
    raise PassError(error(message, place, [note(text, place) for text in advice]))


class RemarkContext(Context):
    """A context that keeps the remarks of passes, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.remarks: list[Diagnostic] = []


def remark(context: Context, op: Operation, message: str) -> None:
    """Say something about `op`, if there is a listener."""
    if isinstance(context, RemarkContext):
        context.remarks.append(Diagnostic(Severity.REMARK, message, location_of(op)))
