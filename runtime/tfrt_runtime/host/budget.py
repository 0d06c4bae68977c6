"""The memory budget of programs.

The budget depends on the machine's memory, the process's limits, and the user.
"""

from __future__ import annotations

import functools
import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from tfrt_runtime.diagnostics import refuse
from tfrt_runtime.native import machine

_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
MIN_BUDGET: Final = 1 << 20
_CGROUPS = Path("/sys/fs/cgroup")


def machine_memory() -> int:
    """Return how many bytes the machine and the process's cgroups allow this process."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    own = ""
    with suppress(OSError):
        own = Path("/proc/self/cgroup").read_text()
    return min([physical, *_cgroup_limits(own, _CGROUPS)])


def _cgroup_limits(own: str, root: Path) -> list[int]:
    """Return the memory limits of the process's cgroups and of their parents.

    Args:
        own: the text of /proc/self/cgroup, with lines `number:controllers:path`.  The line of a
            version 2 cgroup has the number 0 and no controllers.
        root: where the cgroups are mounted.  A container may see its own cgroup there, even though
            the lines name another path.
    """
    paths = {("memory.max", root, "/"), ("memory.limit_in_bytes", root / "memory", "/")}
    for line in own.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            paths.add(("memory.max", root, path))
        elif "memory" in controllers.split(","):
            paths.add(("memory.limit_in_bytes", root / "memory", path))
    found: dict[Path, int] = {}
    for name, top, path in paths:
        inner = PurePosixPath(path.lstrip("/"))
        for folder in (inner, *inner.parents):
            file = top / folder / name
            # The file is missing if the cgroup does not exist. It contains "max" if there is no
            # limit.
            with suppress(OSError, ValueError):
                found[file] = int(file.read_text())
    return list(found.values())


@functools.cache
def _address_space_left() -> int | None:
    """Return how many bytes RLIMIT_AS leaves to this process, or None if it sets no limit.

    On a web page, the result is how many bytes values may use.  The limit is read only once.
    """
    if machine.IS_PAGE:
        return machine.PAGE_MEMORY
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))
    return limit


@functools.cache
def default_budget() -> int:
    """Return how many bytes programs may use if the user sets no budget.

    The result is half of the memory that the machine, its cgroups, and RLIMIT_AS leave.  Python,
    the compiler, and the threads' stacks need the other half.  The limits are read only once.
    """
    left = _address_space_left()
    available = machine_memory() if left is None else min(machine_memory(), left)
    return max(available // 2, MIN_BUDGET)


def parse_budget(memory: int | str | None) -> int:
    """Convert a byte count, or a string such as "2G", to a budget in bytes; None means the default.

    The result is at most half of the memory that RLIMIT_AS leaves, because a run needs some memory
    beyond its budget in order to finish.

    Raises:
        TfrtError: if `memory` is not a byte count or a string of this form, or is below 1 MiB.
    """
    if memory is None:
        return default_budget()
    if isinstance(memory, str):
        match = re.fullmatch(
            r"(\d{1,18}(?:\.\d{1,9})?)([KMGT]?)(?:i?B)?", memory.strip(), re.IGNORECASE
        )
        size = None if match is None else int(float(match[1]) * _UNITS[match[2].upper()])
    else:
        size = memory if isinstance(memory, int) and not isinstance(memory, bool) else None
    if size is None:
        refuse(f"memory {memory!r}: expected a number of bytes, or a string such as '500M' or '2G'")
    if not MIN_BUDGET <= size < 1 << 60:
        refuse(f"memory {memory!r}: expected at least 1M, and less than 2^60 bytes")
    left = _address_space_left()
    return size if left is None else min(size, max(left // 2, MIN_BUDGET))


def show_bytes(size: int) -> str:
    """Format a byte count for people: 1.5 GiB, 300 MiB, 100 bytes."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} bytes"
