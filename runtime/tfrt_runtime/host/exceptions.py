"""Exceptions for what is no failure of a program.  A module of its own: few runs need its import."""

from __future__ import annotations

import builtins
import concurrent.futures

from tfrt_runtime.diagnostics import TfrtError


class CancelledError(TfrtError, concurrent.futures.CancelledError):
    """The run that would have made the value was cancelled, or the value was."""


class TimeoutError(TfrtError, builtins.TimeoutError):
    """The run was cancelled because its time was over."""
