"""Groups that nobody joins."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter


def _only_awaited(op: Operation, rewriter: Rewriter) -> bool:
    """Nothing is added to the group, so there is nothing to wait for."""
    users = [use.operation for use in op.results[0].uses]
    if any(user.name != "async.await_all" for user in users):
        return False
    for user in users:
        rewriter.erase(user)
    rewriter.erase(op)
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {"async.create_group": (_only_awaited,)}
