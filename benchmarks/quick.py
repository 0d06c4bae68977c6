"""Measure every case in this process, print ratios, and write results/quick.json: `make bench`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import board
from benchmarks.cases import ALL
from benchmarks.measure import Case, Result, measure
from benchmarks.on_queues import OURS

RESULTS = Path(__file__).parent / "results" / "quick.json"


def processor() -> str:
    """The processor's name, as the system has it."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    named = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()


def machine() -> str:
    """What a figure belongs to."""
    return (
        f"{processor()}, {os.cpu_count()} CPUs, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def table(case: Case, results: Sequence[Result]) -> str:
    """The results of a case, each beside our first."""
    ours = next(result for result in results if result.peer == OURS)
    lines = [f"{case.name}: {case.title} ({case.unit})"]
    width = max(len(f"{result.peer}: {result.variant}") for result in results)
    lines.append(f"  {'':{width}}  {'min':>9}  {'median':>9}  {'cpu':>9}  ratio of medians")
    lines += [
        f"  {f'{result.peer}: {result.variant}':{width}}  {result.min:9.4g}  {result.median:9.4g}"
        f"  {result.cpu:9.4g}  {result.median / ours.median:8.2f}"
        for result in results
    ]
    return "\n".join(lines)


def write_results(results: Sequence[Result], path: Path) -> None:
    """A JSON list with a record per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = ",\n".join(json.dumps(result.as_json()) for result in results)
    path.write_text(f"[\n{records}\n]\n")
    print(f"Written to {path}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cases that are named, or all of them; only all of them replace the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "cases", nargs="*", help=f"of {', '.join(make.__name__ for make in ALL)}, board"
    )
    parser.add_argument("--output", type=Path, help=f"default, for all cases: {RESULTS}")
    options = parser.parse_args(arguments)
    if "board" in options.cases:
        return board.main()
    print(f"On {machine()}.  A ratio above 1 is slower than our first line.\n", flush=True)
    results: list[Result] = []
    for make in ALL:
        if not options.cases or make.__name__ in options.cases:
            with make() as case:
                measured = measure(case)
            print(table(case, measured), end="\n\n", flush=True)
            results += measured
    output = options.output or (None if options.cases else RESULTS)
    if output is not None:
        write_results(results, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
