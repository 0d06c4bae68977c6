"""Run mixed work in one process for an hour: memory, threads, and open files must not grow.

    make soak MINUTES=60

Every round runs programs of the corpora on permanent hosts, cancels some of them at a random
moment, calls Python kernels of all kinds (some of which raise), compiles async programs, and
creates a host that is closed in a random state. Forty lines, one after another, report what the
process holds. The process warms up until its memory is stable, for at most half of the time: the
longer the places of the core's free blocks are mixed, the more slabs they keep, up to one slab per
block. The exit status is 1 if, afterwards, memory grew by more than 1 % between the first and the
last third, or there are more threads, open files, or live values.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tfrt_nb import HostContext, Program, kernel
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.process import native_process
from tfrt_runtime.native.layouts import PROCESS_HELD

GOLDEN = Path(__file__).parent / "golden"
QUEUES = ("s", "mstd:1", "mstd:2", "mstd:4")
LINES = 40
STEADY = 10
"""The number of similar samples in a row, a quarter of all, that ends the warm-up.

Samples are similar if they differ by less than half of `GROWTH`.
"""
GROWTH = 0.01
LONGEST_RUN_SECONDS = 5.0
OWN = """
func.func @main() -> (i32, i32, i32, i32) {
  %two = tfrt.constant.i32 2
  %plain = "soak.plain"(%two) {times = 3 : i32} : (i32) -> i32
  %later = "soak.later"(%plain) : (i32) -> i32
  %blocked = "soak.blocked"(%plain) : (i32) -> i32
  %failed = "soak.failed"(%two) : (i32) -> i32
  %sum = tfrt.add.i32 %later, %blocked
  tfrt.return %sum, %later, %blocked, %failed : i32, i32, i32, i32
}
"""


@kernel("soak.plain")
def plain(x: int, *, times: int) -> int:
    return x * times


@kernel("soak.later")
async def later(x: int) -> int:
    await asyncio.sleep(0.0005)
    return x + 1


@kernel("soak.blocked", blocking=True)
def blocked(x: int) -> int:
    time.sleep(0.0005)
    return x + 1


@kernel("soak.failed")
def failed(x: int) -> int:
    raise ValueError(f"{x} is refused")


@dataclass(frozen=True, slots=True)
class Held:
    """The resources that the process holds while nothing runs."""

    memory: int
    """Bytes of resident memory."""
    core: int
    """Bytes of the core's slabs and large blocks, including free ones."""
    threads: int
    files: int
    values: int
    objects: int

    def __str__(self) -> str:
        return (
            f"{self.memory / 1e6:8.1f} MB, {self.core / 1e6:5.1f} MB of the core  "
            f"{self.threads:3} threads  {self.files:3} files  "
            f"{self.values:4} values  {self.objects:4} objects"
        )


def held() -> Held:
    """Return what the process holds now, after releasing what it does not need.

    This releases garbage, the core's free slabs, and unused heap.
    """
    process = native_process()
    gc.collect()
    process.quick.trim(process.address, 0)
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Held(
        pages * os.sysconf("SC_PAGE_SIZE"),
        ctypes.c_int64.from_address(process.address + PROCESS_HELD).value,
        threading.active_count(),
        len(os.listdir("/proc/self/fd")),
        process.live_values(),
        len(process.objects),
    )


def programs() -> Iterator[tuple[str, str]]:
    """Yield the name and the source of all programs of the corpora that are meant to run."""
    for folder in ("tfrt", "async/programs", "async/correct", "async/rfc"):
        for file in sorted((GOLDEN / folder).glob("*.mlir")):
            # Programs that log would write to standard error all the time.
            if not any(word in file.name for word in ("reject", "err_", "logging")):
                yield file.name, file.read_text()
    yield "own", OWN


def run_one(program: Program, host: HostContext, chance: random.Random) -> None:
    """Run a function of a program; sometimes cancel it, or drop it."""
    names = [f.name for f in program.file.functions] if program.file else ["main"]
    with suppress(TfrtError, ValueError, TypeError, LookupError):
        run = program.run(host, chance.choice(names) if "main" not in names else "main")
        kind = chance.random()
        if kind < 0.2:
            time.sleep(chance.random() * 0.002)
            run.cancel("the soak cancels")
        elif kind < 0.25:
            return
        if not run.wait(LONGEST_RUN_SECONDS):
            run.cancel("the soak waited long enough")
            run.wait(LONGEST_RUN_SECONDS)


def rounds(seed: int) -> Iterator[Callable[[], None]]:
    """Yield pieces of work forever."""
    chance = random.Random(seed)
    loaded = {}
    for name, text in programs():
        with suppress(TfrtError):
            loaded[name] = Program.from_source(text, name)
    texts = dict(programs())
    hosts = [HostContext(queue, output=lambda _: None) for queue in QUEUES]

    def again() -> None:
        run_one(chance.choice(list(loaded.values())), chance.choice(hosts), chance)

    def compiled_again() -> None:
        name = chance.choice(list(loaded))
        loaded[name] = Program.from_source(texts[name], name)

    def short_lived_host() -> None:
        host = HostContext(chance.choice(QUEUES), output=lambda _: None)
        for _ in range(chance.randrange(3)):
            run_one(chance.choice(list(loaded.values())), host, chance)
        if chance.random() < 0.8:
            host.close()
        elif host.work_queue.threads == 0:
            # Without this, no thread would finish what the host has started, so it would never be
            # collected.
            host.quiesce(LONGEST_RUN_SECONDS)

    kinds = [again] * 20 + [compiled_again, short_lived_host]
    while True:
        yield chance.choice(kinds)


def is_steady(samples: Sequence[Held]) -> bool:
    """Return whether memory stayed the same for some samples."""
    memory = [sample.memory for sample in samples[-STEADY:]]
    return len(memory) == STEADY and max(memory) < (1 + GROWTH / 2) * min(memory)


def main() -> int:
    """Soak for as long as the command line says, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.soak")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start, seconds = time.monotonic(), options.minutes * 60
    warming: list[Held] = []
    samples: list[Held] = []
    done, next_line = 0, seconds / LINES
    for piece in rounds(options.seed):
        piece()
        done += 1
        passed = time.monotonic() - start
        if passed >= next_line:
            next_line += seconds / LINES
            time.sleep(1)
            is_warm = is_steady(warming) or passed > seconds / 2
            (samples if is_warm else warming).append(held())
            last_one, word = (samples or warming)[-1], "" if is_warm else "warms up"
            print(f"{passed / 60:6.1f} min  {done:8} rounds  {last_one}  {word}", flush=True)
        if passed >= seconds:
            break
    third = len(samples) // 3
    first, last = samples[:third], samples[-third:]
    growth = statistics.median(s.memory for s in last) / statistics.median(s.memory for s in first)
    more_threads = max(s.threads for s in last) - max(s.threads for s in first)
    more_files = max(s.files for s in last) - max(s.files for s in first)
    more_values = max(s.values for s in last) - max(s.values for s in first)
    print(
        f"{done} rounds; memory x {growth:.4f}, threads {more_threads:+}, files {more_files:+}, "
        f"values {more_values:+}"
    )
    return growth > 1 + GROWTH or max(more_threads, more_files, more_values) > 0


if __name__ == "__main__":
    sys.exit(main())
