"""Count instructions and cache misses, ours and oneTBB's, on simulated caches: `make counts`.

Times depend on the processor; these counts do not. Cachegrind simulates the caches of a Zen 3 (32
kB, 512 kB). Each program runs a few times and many times (`counted`). The difference, divided by
the additional kernels, calls, or tasks, does not include the start. Both programs use only plain
x86-64 instructions, which valgrind can run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import sizes
from benchmarks.driver import BUILD, ROOT, Missing, native_program
from benchmarks.report import OURS

CACHEGRIND = [
    "valgrind",
    "-q",
    "--tool=cachegrind",
    "--cache-sim=yes",
    "--branch-sim=yes",
    "--D1=32768,8,64",
    "--LL=524288,8,64",
]
FEW, MANY = 2, 12
COLUMNS = {
    "instructions": ("Ir",),
    "reads": ("Dr",),
    "writes": ("Dw",),
    "L1 misses": ("D1mr", "D1mw"),
    "of writes": ("D1mw",),
    "L2 misses": ("DLmr", "DLmw"),
    "of writes ": ("DLmw",),
    "indirect calls": ("Bi",),
}
"""Columns of the table: sums of cachegrind's events.

The last simulated level is an L2 here; each miss is one cache line.
"""
PEAK = """\
import os, resource, sys
failed = os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(failed != 0)
"""
"""Runs a command in a small process, because a process inherits the peak of the one that starts it.
"""
INSTALL = {"valgrind": "apt install valgrind", "g++": "apt install g++ libtbb-dev"}


@dataclass(frozen=True, slots=True)
class Row:
    """A program: the key of its case, its argument if it takes one, and the operations per run."""

    case: str
    unit: str
    operations: int
    argument: int | None = None
    tier: str = "interpreter"
    """The tier of host functions.

    On another tier, scalar functions would be machine code; on this one, async functions would run
    in Python.
    """


ROWS = (
    Row("chain_1000", "kernel", 1_000),
    Row("fib", "call", sizes.FIB_CALLS, sizes.FIB),
    Row("fib_tasks", "call and task", sizes.FIB_CALLS, sizes.FIB, "compiled"),
    Row("tasks_1000", "task", 1_000),
    Row("tasks_10000", "task", 10_000),
    Row("tasks_100000", "task", 100_000),
    Row("group", "task", sizes.GROUP, sizes.GROUP, "compiled"),
)


def events(text: str) -> dict[str, int]:
    """Return the totals in cachegrind's file, by event name."""
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    counts = map(int, lines["summary"].split())
    return dict(zip(lines["events"].split(), counts, strict=True))


def per_unit(few: Mapping[str, int], many: Mapping[str, int], units: int) -> dict[str, float]:
    """Return the counts per unit if `many` covers that many more units than `few`."""
    return {event: (count - few[event]) / units for event, count in many.items()}


def environment() -> dict[str, str]:
    """Return the environment of each counted process."""
    # Bytecode must be compiled once, not in each process, but the environment may forbid writing
    # it.
    found = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**found, "PYTHONPYCACHEPREFIX": str(BUILD / "bytecode")}


def peak(command: Sequence[str]) -> int:
    """Return the larger peak memory, in bytes, of a process and of those it waited for.

    Raises:
        Missing: if the process fails.
    """
    done = subprocess.run(
        [sys.executable, "-IS", "-c", PEAK, *command[:-1], "1", "1", command[-1]],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Missing("it failed")
    return 1024 * int(done.stdout.split()[-1])


def memory(command: Sequence[str], programs: Mapping[str, str]) -> str:
    """Return the peak memory of the programs with many tasks and with few, if both are counted."""
    few, many = 1_000, 100_000
    if not {f"tasks_{few}", f"tasks_{many}"} <= programs.keys():
        return "not measured, as this takes tasks_1000 and tasks_100000"
    less, more = (peak([*command, programs[f"tasks_{tasks}"]]) for tasks in (few, many))
    each = (more - less) / (many - few)
    return f"{more / 2**20:.0f} MB with {many} tasks, {each:.0f} bytes for each more than {few}"


def count(
    command: Sequence[str], rows: Mapping[str, Row], folder: Path
) -> dict[str, dict[str, float]]:
    """Count the events of a program that takes FEW and MANY; return them per unit, by case.

    `counted` is such a program.

    Raises:
        Missing: if the program fails.
    """
    first, last = command[: -len(rows)], command[-len(rows) :]

    def processes(prefix: Sequence[str], few: int, many: int) -> list[list[str]]:
        done = subprocess.run(
            [*prefix, *first, str(few), str(many), *last],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Missing((done.stderr.strip().splitlines() or ["it failed"])[-1])
        return [line.split("\t") for line in done.stdout.splitlines()]

    processes((), 1, 1)  # fills the caches of bytecode and compiled code
    found = {}
    file = str(folder / "counts.{}")
    for case, few, many in processes(
        [*CACHEGRIND, f"--cachegrind-out-file={file.format('%p')}"], FEW, MANY
    ):
        less, more = (events(Path(file.format(process)).read_text()) for process in (few, many))
        found[case] = per_unit(less, more, (MANY - FEW) * rows[case].operations)
    return found


def files(rows: Mapping[str, Row], folder: Path) -> dict[str, str]:
    """Return our programs by case, as BEF files with the arguments that `counted` takes."""
    from benchmarks.ours import (
        programs,
    )  # imported here, because readers of tables do not need it
    from tfrt_nb import Program

    texts = {
        "chain_1000": lambda: programs.chain(1_000),
        "fib": lambda: programs.FIB,
        "fib_tasks": lambda: programs.FIB_TASKS,
        "group": lambda: programs.GROUPED,
    }
    named = {}
    for case, row in rows.items():
        text = texts[case]() if case in texts else programs.independent_tasks(row.operations)
        path = folder / f"{case}.bef"
        path.write_bytes(Program.from_source(text, case).bef)
        argument = "" if row.argument is None else f":{row.argument}"
        named[case] = f"{path}:{row.tier}{argument}"
    return named


def table(counted: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Return the counts as Markdown, by program and case."""
    lines = [
        f"| case | per | who | {' | '.join(COLUMNS)} |",
        f"|---|---|---|{'---:|' * len(COLUMNS)}",
    ]
    for row in ROWS:
        for who, cases in counted.items():
            if row.case in cases:
                found = cases[row.case]
                sums = [sum(found[event] for event in names) for names in COLUMNS.values()]
                cells = " | ".join(
                    f"{value:.0f}" if value >= 100 else f"{value:.1f}" for value in sums
                )
                lines.append(f"| {row.case} | {row.unit} | {who} | {cells} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Count the named cases, or all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help=f"of {', '.join(r.case for r in ROWS)}"
    )
    chosen = parser.parse_args(arguments).cases
    rows = {row.case: row for row in ROWS if row.case in chosen or not chosen}
    if unknown := set(chosen) - set(rows):
        parser.error(f"there is no case {', '.join(sorted(unknown))}; see --help")
    if shutil.which("valgrind") is None:
        print(f"make counts needs valgrind: {INSTALL['valgrind']}", file=sys.stderr)
        return 1
    counted: dict[str, dict[str, dict[str, float]]] = {}
    memories: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours, programs = [sys.executable, "-m", "benchmarks.counted"], files(rows, folder)
        counted[OURS] = count([*ours, *programs.values()], rows, folder)
        memories[OURS] = memory(ours, programs)
        try:
            theirs, programs = [str(native_program("x86-64"))], {case: case for case in rows}
            counted["oneTBB"] = count([*theirs, *programs], rows, folder)
            memories["oneTBB"] = memory(theirs, programs)
        except Missing as problem:
            print(f"missing: oneTBB ({problem}; {INSTALL['g++']})", file=sys.stderr)
    if not counted.get("oneTBB", True):
        print(f"missing: oneTBB ({INSTALL['g++']})", file=sys.stderr)
    print(table(counted))
    for who, sentence in memories.items():
        print(f"Peak memory of {who}: {sentence}")
    print(
        "Not counted: bytes allocated, as both keep free memory in lists of their own, which "
        "valgrind"
    )
    print("does not see; atomic operations, as cachegrind does not tell instructions apart.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
