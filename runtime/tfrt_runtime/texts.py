"""Convert numbers and users' objects to text.

The `repr` of a user's object may raise an exception, take a long time, or never return.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context

from tfrt_runtime.native.machine import HAS_THREADS

MAX_SECONDS = 0.25


def float_text(number: float) -> str:
    """Format a float as LLVM's streams do."""
    return f"{number:e}".replace("inf", "INF")


class SlowTextError(Exception):
    """Making a string took longer than `MAX_SECONDS`."""


def bounded(make: Callable[[], str]) -> str:
    """Return the text that `make` returns.

    If a thread can be started, `make` runs on a separate thread, which is abandoned if `make` takes
    too long.

    Raises:
        SlowTextError: if the call takes longer than `MAX_SECONDS`.
        BaseException: any exception that `make` raises.
    """
    made: list[str] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            made.append(make())
        except BaseException as problem:  # noqa: BLE001 - a user's object may raise anything
            raised.append(problem)

    context = copy_context()
    if HAS_THREADS:
        # A daemon thread, because an abandoned thread must not keep the process alive.
        thread = threading.Thread(
            target=context.run, args=(run,), name="text of an object", daemon=True
        )
        thread.start()
        thread.join(MAX_SECONDS)
    else:
        context.run(run)
    if raised:
        raise raised[0]
    if not made:
        raise SlowTextError
    return made[0]
