"""Exceptions for cancelled values and exceeded time limits.

The exceptions are in a separate module because few runs need them.
"""

from __future__ import annotations

import builtins
import concurrent.futures

from tfrt_runtime.diagnostics import Diagnostic, TfrtError


class CancelledError(TfrtError, concurrent.futures.CancelledError):
    """The value, or the run that would have produced it, was cancelled."""


class TimeoutError(TfrtError, builtins.TimeoutError):
    """The run was cancelled because its time limit was exceeded."""


def awaited_cancellation(diagnostic: Diagnostic) -> BaseException:
    """Return the exception for an asyncio task that awaits a cancelled value.

    The exception is also an `asyncio.CancelledError`, so the task ends as cancelled, as if it had
    awaited a cancelled future.
    """
    import asyncio

    kind = type("CancelledError", (CancelledError, asyncio.CancelledError), {})
    made: BaseException = kind(diagnostic)
    return made
