"""The core as linked shared objects: `python -m tfrt_runtime.native.building.prebuilding FOLDER [MACHINE ...]`.

Numba writes the IR once, it is the same for all machines.  What the build hook of the project calls.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfrt_runtime.native.building import build
from tfrt_runtime.native.building.machines import MACHINES


def show(line: str) -> None:
    """A line of progress: of the entries every hundredth."""
    number, slash, _ = line.partition("/")
    if not slash or int(number) % 100 == 1:
        print(f"native core: {line}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> None:
    """Write `core-MACHINE.elf` into a folder for each machine."""
    folder, machines = Path(arguments[0]), arguments[1:] or list(MACHINES)
    wrappers = build.collect(show)
    for name in machines:
        show(f"optimising for {name}")
        Path(folder, f"core-{name}.elf").write_bytes(build.shared_object(MACHINES[name], wrappers))


if __name__ == "__main__":
    main(sys.argv[1:])
