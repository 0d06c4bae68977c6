"""All patterns by the names of operations."""

from __future__ import annotations

from collections.abc import Sequence

from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.patterns import (
    branches,
    buffers,
    chains,
    conditionals,
    groups,
    integers,
    loops,
    selects,
    while_loops,
)

PATTERNS: dict[str, Sequence[Pattern]] = {
    **branches.PATTERNS,
    **buffers.PATTERNS,
    **chains.PATTERNS,
    **conditionals.PATTERNS,
    **groups.PATTERNS,
    **integers.PATTERNS,
    **loops.PATTERNS,
    **selects.PATTERNS,
    **while_loops.PATTERNS,
}
