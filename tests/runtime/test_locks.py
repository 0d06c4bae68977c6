"""Test the runtime's locks: garbage collection may start while one is held."""

from __future__ import annotations

from pathlib import Path

import tfrt_runtime

PACKAGE = Path(tfrt_runtime.__file__).parent
OTHERS = {"host/allocator.py", "kernels/basic/test_kernels.py", "native/library.py"}
"""Modules whose locks are not held while Python allocates, or that finalizers cannot reach."""


def test_a_thread_may_take_a_lock_twice() -> None:
    """While a lock is held, an allocation may finalize a promise, whose waiters take it again."""
    found = {
        str(module.relative_to(PACKAGE))
        for module in PACKAGE.rglob("*.py")
        if "Lock()" in module.read_text().replace("RLock()", "")
    }

    assert found == OTHERS
