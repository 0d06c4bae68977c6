"""Delta debugging: make a list of pieces smaller while what is wrong with it stays.

After Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (2002).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

Piece = TypeVar("Piece")


def minimise(
    pieces: Sequence[Piece], fails: Callable[[list[Piece]], bool], *, seconds: float = 60.0
) -> list[Piece]:
    """A part of `pieces` for which `fails` still holds, in their order; none can be left out, unless
    the seconds were over.
    """
    until = time.monotonic() + seconds
    kept, chunk = list(pieces), max(1, len(pieces) // 2)
    while time.monotonic() < until:
        start, has_changed = 0, False
        while start < len(kept) and time.monotonic() < until:
            attempt = kept[:start] + kept[start + chunk :]
            if fails(attempt):
                kept, has_changed = attempt, True
            else:
                start += chunk
        if chunk > 1:
            chunk = max(1, chunk // 2)
        elif not has_changed:
            break
    return kept
