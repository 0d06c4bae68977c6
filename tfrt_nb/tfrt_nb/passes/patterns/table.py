"""All patterns by the names of operations."""

from __future__ import annotations

from collections.abc import Sequence

from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.patterns import branches, chains, groups, integers, selects

PATTERNS: dict[str, Sequence[Pattern]] = {
    **branches.PATTERNS,
    **chains.PATTERNS,
    **groups.PATTERNS,
    **integers.PATTERNS,
    **selects.PATTERNS,
}
