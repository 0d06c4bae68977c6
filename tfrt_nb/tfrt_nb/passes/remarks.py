"""What a pass has to say about a program that it does not change."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.ir import Operation

from tfrt_nb.internal_errors import location_of
from tfrt_runtime.diagnostics import Diagnostic, Severity


class RemarkContext(Context):
    """A context that keeps the remarks of passes, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.remarks: list[Diagnostic] = []


def remark(context: Context, op: Operation, message: str) -> None:
    """Say something about `op`, if there is a listener."""
    if isinstance(context, RemarkContext):
        context.remarks.append(Diagnostic(Severity.REMARK, message, location_of(op)))
