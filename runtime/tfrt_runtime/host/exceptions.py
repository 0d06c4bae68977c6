"""Exceptions that are not failures of a program; a separate module, because few runs need it."""

from __future__ import annotations

import builtins
import concurrent.futures

from tfrt_runtime.diagnostics import Diagnostic, TfrtError


class CancelledError(TfrtError, concurrent.futures.CancelledError):
    """The run that would have made the value was cancelled, or the value was."""


class TimeoutError(TfrtError, builtins.TimeoutError):
    """The run was cancelled because its time was over."""


def awaited_cancellation(diagnostic: Diagnostic) -> BaseException:
    """Return the error of a cancelled value for the asyncio task that awaits it.

    It is also an `asyncio.CancelledError`: the task is cancelled, as by a cancelled future.
    """
    import asyncio

    kind = type("CancelledError", (CancelledError, asyncio.CancelledError), {})
    made: BaseException = kind(diagnostic)
    return made
