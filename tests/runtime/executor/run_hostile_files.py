"""Load and run files of which one byte is wrong; `test_hostile_files` starts this in a process of its own.

The command line is a seed, how many changes to make to each file, and the files.  What still loads
is run.  Before each one it prints which, so that whoever sees the process die knows the culprit.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.driver import run_functions, runnable
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.standard import standard_kernels

SECONDS_PER_FUNCTION = 0.05
MOST_MEMORY = 6 << 30
"""Address space: a tensor of a wrong size must fail by itself, and not take the machine along."""


def mutations(data: bytes, count: int, chance: random.Random) -> Iterator[tuple[int, int, bytes]]:
    """`data` with another byte somewhere: offset, the byte, result.

    Every second one is a small number in the place of a small number: more of these files load.
    """
    small = [offset for offset, byte in enumerate(data) if byte < 16]
    for number in range(count):
        if number % 2:
            offset, byte = chance.choice(small), chance.randrange(16)
        else:
            offset = chance.randrange(len(data))
            byte = data[offset] ^ chance.choice([1, 2, 4, 8, 16, 32, 64, 128, 255])
        changed = bytearray(data)
        changed[offset] = byte
        yield offset, byte, bytes(changed)


def run(host: HostContext, data: bytes, registry: object) -> bool:
    """Run a file; False if it was refused when it was loaded."""
    try:
        program = Executable(BefFile.load(data, "hostile"), registry)  # type: ignore[arg-type]
    except TfrtError:
        return False
    functions = runnable(program)
    for _ in run_functions(host, program, functions, lambda _: None, SECONDS_PER_FUNCTION):
        pass
    return True


def main(seed: str, count: int, paths: list[str]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    nap = time.sleep
    time.sleep = lambda duration: nap(min(duration, 0.001))
    chance, registry = random.Random(seed), standard_kernels()
    ran = 0
    with HostContext("s", output=lambda _: None) as single, HostContext("mstd:2") as threaded:
        for path in paths:
            data = Path(path).read_bytes()
            for offset, byte, changed in mutations(data, count, chance):
                print(f"{Path(path).name}: byte {offset} is {byte}", flush=True)
                ran += run(threaded if chance.random() < 0.2 else single, changed, registry)
    print(f"done: {ran} of {count * len(paths)} ran", flush=True)
    os._exit(0)  # a kernel that still sleeps must not hold us up


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
