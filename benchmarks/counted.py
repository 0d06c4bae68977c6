"""The process that `counts` runs under valgrind.

    python -m benchmarks.counted FEW MANY PROGRAM:TIER[:ARGUMENT]...

Each PROGRAM is a BEF file, so that no source is parsed under valgrind. For each program, two forks
of this process run it FEW and MANY times on `s`, and exit without cleaning up. So they have the
start in common, and differ only in the runs. A line identifies the two: the name of the program and
two process ids, separated by tabs. `peers/native.cpp` does the same with its works.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tfrt_nb import HostContext, Program


def run(program: Program, tier: str, arguments: tuple[int, ...], times: int) -> None:
    """Run a program on a new host, because a fork cannot use its parent's host.

    A failed run raises its error, because it takes fewer instructions than a successful run.
    """
    with HostContext("s", output=lambda _: None) as host:
        for _ in range(times):
            program.run(host, arguments=arguments, tier=tier).results[0].result()


def forked(program: Program, tier: str, arguments: tuple[int, ...], times: int) -> int:
    """Run the program in a fork, and return the id of that process."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            run(program, tier, arguments, times)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(process, 0)[1] != 0:
        raise ChildProcessError(f"a run of {program.name} failed")
    return process


def main(few: str, many: str, *files: str) -> None:
    """Run each program in two forks."""
    for file in files:
        path, tier, *arguments = file.split(":")
        program = Program.from_bef(Path(path).read_bytes(), Path(path).stem)
        words = tuple(map(int, arguments))
        # Run it here first, so that everything is imported and compiled before the forks.
        run(program, tier, words, 1)
        processes = [forked(program, tier, words, int(times)) for times in (few, many)]
        print(program.name, *processes, sep="\t", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
