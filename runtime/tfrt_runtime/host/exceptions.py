"""Exceptions for what is no failure of a program.  A module of its own: few runs need its
import.
"""

from __future__ import annotations

import builtins
import concurrent.futures

from tfrt_runtime.diagnostics import Diagnostic, TfrtError


class CancelledError(TfrtError, concurrent.futures.CancelledError):
    """The run that would have made the value was cancelled, or the value was."""


class TimeoutError(TfrtError, builtins.TimeoutError):
    """The run was cancelled because its time was over."""


def awaited_cancellation(diagnostic: Diagnostic) -> BaseException:
    """The error of a cancelled value for the asyncio task that awaits it.

    It is an `asyncio.CancelledError`, too: the task is cancelled, as by a cancelled future.
    """
    import asyncio

    kind = type("CancelledError", (CancelledError, asyncio.CancelledError), {})
    made: BaseException = kind(diagnostic)
    return made
