"""The names of work queues: `s`, `mstd`, `mstd:N`, `mstd:N,B`.

The command line, cells, and hosts parse names with this module.
"""

from __future__ import annotations

import os
import re

from tfrt_runtime.diagnostics import TfrtError, error

DEFAULT_BLOCKING_THREADS = 256
MAX_THREADS = 1024


class WorkQueueError(TfrtError):
    """The description of a work queue is invalid, or a thread must not wait for the queue."""


def parse_work_queue(text: str) -> tuple[int, int]:
    """Return how many compute threads and how many blocking threads a name specifies.

    `s` has 0 compute threads.  Numbers are decimal, without a sign or leading zeros, so that each
    queue has exactly one name.

    Raises:
        WorkQueueError: if the name is not `s`, `mstd`, `mstd:N`, or `mstd:N,B`.
    """
    if text == "s":
        return 0, DEFAULT_BLOCKING_THREADS
    match = re.fullmatch(r"mstd(?::(0|[1-9][0-9]*)(?:,(0|[1-9][0-9]*))?)?", text)
    if match is None:
        raise WorkQueueError(
            error(f"unknown work queue '{text}': expected s, mstd, mstd:N or mstd:N,B")
        )
    threads = _number(text, match[1], "threads", os.cpu_count() or 1)
    return threads, _number(text, match[2], "blocking threads", DEFAULT_BLOCKING_THREADS)


def _number(text: str, digits: str | None, what: str, default: int) -> int:
    if digits is None:
        return default
    # Python refuses to parse numbers with thousands of digits.
    if len(digits) > len(str(MAX_THREADS)) or not 1 <= int(digits) <= MAX_THREADS:
        raise WorkQueueError(
            error(f"work queue '{text}': {what} must be 1 to {MAX_THREADS}, not {digits}")
        )
    return int(digits)
