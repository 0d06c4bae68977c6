"""Exceptions that are not failures of a program; they are in a separate module because few runs
need them.
"""

from __future__ import annotations

import builtins
import concurrent.futures

from tfrt_runtime.diagnostics import Diagnostic, TfrtError


class CancelledError(TfrtError, concurrent.futures.CancelledError):
    """The value was cancelled, or the run that would have made it was cancelled."""


class TimeoutError(TfrtError, builtins.TimeoutError):
    """The run was cancelled because its time limit was exceeded."""


def awaited_cancellation(diagnostic: Diagnostic) -> BaseException:
    """Return the exception to raise in an asyncio task that awaits a cancelled value.

    It is also an `asyncio.CancelledError`, so the task is cancelled, as it would be by a cancelled
    future.
    """
    import asyncio

    kind = type("CancelledError", (CancelledError, asyncio.CancelledError), {})
    made: BaseException = kind(diagnostic)
    return made
