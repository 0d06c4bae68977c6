"""Kernels that take their time, for the tutorials: `slow.copy` and `slow.fail`.

They sleep on the blocking pool, so that they delay their own results and no other work.
"""

from __future__ import annotations

import time

from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.users.user import kernel


@kernel("slow.copy", blocking=True)
def copy(value: object, *, ms: int = 300) -> object:
    """Give the argument back after `ms` milliseconds."""
    time.sleep(ms / 1000)
    return value


@kernel("slow.fail", blocking=True)
def fail(value: object, *, ms: int = 300) -> object:
    """Fail after `ms` milliseconds."""
    time.sleep(ms / 1000)
    raise KernelError("the slow kernel failed")
