"""How a pass refuses a program: with a diagnostic at the operation that it cannot handle."""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import Operation

from tfrt_nb.internal_errors import location_of
from tfrt_runtime.diagnostics import TfrtError, error


class PassError(TfrtError):
    """A program that is valid but that a pass cannot transform."""


def fail(op: Operation, message: str) -> NoReturn:
    """Raise `PassError` at the place of `op` in the source."""
    raise PassError(error(message, location_of(op)))
