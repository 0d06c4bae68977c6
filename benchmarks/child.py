"""The process of a peer, `python -m benchmarks.child MODULE`, which the driver starts.

It answers each line on its standard input with lines on its standard output, whose fields are
separated by tabs. So does the program in `peers/native.cpp`.

    works             a line for each work: its case, name, operations, and cores, and 1 if its
                      semantics are equal, otherwise 0; then "."
    start CASE NAME   "ready" and how many calls make a sample, or "failed" and why
    sample CASE NAME  seconds by the clock and by the processors, for all calls of a sample
    stop              "stopped": no work is open anymore
    blas              the BLAS kernels of the process; the program in `peers/native.cpp`, which
                      has none, does not get this request
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack

from benchmarks.work import Run, Work, calls_per_sample, sample


class Child:
    """The works of a module, some of which may be open."""

    def __init__(self, works: tuple[Work, ...], answer: Callable[[str], None]) -> None:
        self._works = {(work.case, work.name): work for work in works}
        self._answer = answer
        self._open = ExitStack()
        self._running: dict[tuple[str, str], tuple[Run, int]] = {}
        """The open works, and how many calls make a sample of each."""

    def works(self) -> None:
        """List the works."""
        for work in self._works.values():
            equal = str(int(work.is_equal))
            fields = (work.case, work.name, str(work.operations), str(work.cores), equal)
            self._answer("\t".join(fields))
        self._answer(".")

    def start(self, case: str, name: str) -> None:
        """Open a work, warm it, and size its samples."""
        try:
            run = self._open.enter_context(self._works[case, name].make())
            calls = calls_per_sample(run)
        except Exception as problem:  # noqa: BLE001 - the driver names what failed, and measures the others
            self._answer(f"failed\t{type(problem).__name__}: {problem}".replace("\n", " "))
        else:
            self._running[case, name] = run, calls
            self._answer(f"ready\t{calls}")

    def sample(self, case: str, name: str) -> None:
        """Take a sample of an open work."""
        elapsed, used = sample(*self._running[case, name])
        self._answer(f"{elapsed}\t{used}")

    def blas(self) -> None:
        """Report the BLAS kernels of the process."""
        self._answer(blas_kernels())

    def stop(self) -> None:
        """Close the open works."""
        self._running.clear()
        self._open.close()
        self._answer("stopped")


def blas_kernels() -> str:
    """Return the loaded BLAS libraries, each with the kernel that it chose for this processor."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown: threadpoolctl is not installed"
    found = [
        f"{one['internal_api']} {one['version']} {one.get('architecture', '')}".strip()
        for one in threadpool_info()
        if one["user_api"] == "blas"
    ]
    return ", ".join(found) or "none"


def main(module: str) -> None:
    """Answer requests until the input ends."""
    # The output of programs must not be mixed with the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    works = importlib.import_module(module).WORKS
    child = Child(works, lambda line: print(line, file=answers, flush=True))
    for line in sys.stdin:
        command, *fields = line.rstrip("\n").split("\t")
        getattr(child, command)(*fields)


if __name__ == "__main__":
    main(sys.argv[1])
