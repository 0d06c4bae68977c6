"""Locks of the runtime: the collector may come while one is held."""

from __future__ import annotations

from pathlib import Path

import tfrt_runtime

PACKAGE = Path(tfrt_runtime.__file__).parent
OTHERS = {"host/allocator.py", "kernels/basic/test_kernels.py", "native/library.py"}
"""Modules whose locks are never waited for while Python allocates, or guard what finalizers do not reach."""


def test_a_thread_may_take_a_lock_twice() -> None:
    """Allocating may finalize a promise, whose waiters run on the same thread, inside what holds the lock."""
    found = {
        str(module.relative_to(PACKAGE))
        for module in PACKAGE.rglob("*.py")
        if "Lock()" in module.read_text().replace("RLock()", "")
    }

    assert found == OTHERS
