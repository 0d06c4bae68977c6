"""Count the live objects of this process, for tests that must leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tfrt_runtime.host.process import native_process

TIMEOUT_SECONDS = 10
"""The seconds in which threads must drop the objects they have used."""


@dataclass(frozen=True, slots=True)
class Census:
    """Counts of the objects that must be released.

    These are native values, tensors, handles, runs, programs, and threads.
    """

    values: int
    tensors: int
    objects: int
    requests: int
    programs: int
    threads: tuple[str, ...]


def census() -> Census:
    """Count the objects alive now, without garbage; exact while nothing runs."""
    gc.collect()
    process = native_process()
    threads = sorted(thread.name for thread in threading.enumerate())
    return Census(
        process.live_values(),
        process.live_tensors,
        len(process.objects),
        process.runs,
        process.programs,
        tuple(threads),
    )


@contextlib.contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Check that every object created in the block is gone at its end.

    Raises:
        AssertionError: if any is left, with the counts before and after.
    """
    before = census()
    gc.freeze()  # the next census skips the objects alive now, so it is quick
    yield
    after = census()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while after != before and time.monotonic() < deadline:
        time.sleep(0.01)  # a thread that has just finished a run may still drop its values
        after = census()
    assert after == before, f"something is left behind:\n  before {before}\n  after  {after}"
