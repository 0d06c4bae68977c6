"""What is alive in this process, for tests that must leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tfrt_runtime.host.process import native_process

TIMEOUT_SECONDS = 10
"""How long threads may take to drop what they have worked on."""


@dataclass(frozen=True, slots=True)
class Census:
    """Counts of what must be released: native values, tensors, handles, runs, programs, threads."""

    values: int
    tensors: int
    objects: int
    requests: int
    programs: int
    threads: tuple[str, ...]


def census() -> Census:
    """What is alive now, garbage apart; exact while nothing runs."""
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
    """Within: whatever is made must be gone at the end.

    Raises:
        AssertionError: if it is not; says what was alive before and is alive now.
    """
    before = census()
    gc.freeze()  # the next census skips what is alive now, so it is quick
    yield
    after = census()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while after != before and time.monotonic() < deadline:
        time.sleep(0.01)  # a thread that has just finished a run may still drop its values
        after = census()
    assert after == before, f"something is left behind:\n  before {before}\n  after  {after}"
