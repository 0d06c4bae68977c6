"""Implement `tfrt-nb bench`, which measures functions in repeated runs on one host."""

from __future__ import annotations

import argparse
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from tfrt_nb.cli.files import EXIT_OK, EXIT_PROBLEM, display_name, show
from tfrt_nb.cli.running.run import (
    choose,
    make_program,
    of_command_line,
    read_argument,
    read_source,
)
from tfrt_nb.documents.escapes import duration
from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext

WARM_UP = 0.1
"""The fraction of the time for warm-up runs, which are not measured.

Functions become hot in these runs.
"""
HEADINGS = ("function", "runs", "first", "least", "median", "99 %", "processor", "tier")


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured runs of one function. All times are in nanoseconds."""

    first: int
    times: Sequence[int]
    """The durations of the runs after the warm-up, in ascending order.

    A duration lasts from the start to the last result.
    """
    processor: int
    """The mean processor time of one run, on all threads of the process."""
    tier: Tier

    def share(self, part: float) -> int:
        """Return a quantile: the time that this fraction of the runs does not exceed."""
        return self.times[min(int(part * len(self.times)), len(self.times) - 1)]


def execute(options: argparse.Namespace) -> int:
    """Measure the functions of a program, and print a table. Return 1 if the program is invalid."""
    text: str | None = None
    name = display_name(options.program)
    arguments = [read_argument(one) for one in options.arguments]
    try:
        source = read_source(options.program)
        text = source if isinstance(source, str) else None
        started = time.perf_counter_ns()
        program = make_program(source, name, options)
        functions = choose(program, options.function, len(arguments))
        if not functions:
            has_any = bool(program.functions)
            text = (
                "there is no function to measure: every function takes arguments"
                if has_any
                else "there is no function"
            )
            raise TfrtError(error(text))
        interpreted = Tier(options.tier) is Tier.INTERPRETER
        if any(one.is_compiled for one in functions):
            program.compile(interpreted=interpreted)
        program.load(interpreted=interpreted)
        loaded = duration(time.perf_counter_ns() - started)
        print(f"{name}: loaded in {loaded}; on {options.work_queue}", flush=True)
        rows: list[tuple[str, ...]] = [HEADINGS]
        with HostContext(options.work_queue, output=_drop, memory=options.memory) as host:
            rows += [
                _row(one.name, measure(host, program, one.name, arguments, options))
                for one in functions
            ]
    except TfrtError as problem:
        show(of_command_line(problem), text)
        return EXIT_PROBLEM
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return EXIT_OK


def measure(
    host: HostContext,
    program: Program,
    function: str,
    arguments: Sequence[object],
    options: argparse.Namespace,
) -> Measured:
    """Run a function at least twice, for a total of `options.seconds`.

    Raises:
        TfrtError: if a run fails, or if the function cannot be called with the arguments.
    """
    tier = Tier(options.tier)

    def run() -> tuple[int, Execution]:
        before = time.perf_counter_ns()
        execution = program.run(host, function, arguments, tier=tier)
        execution.wait()
        taken = time.perf_counter_ns() - before
        if execution.diagnostics:
            raise TfrtError(*execution.diagnostics)
        return taken, execution

    started = time.monotonic()
    first, execution = run()
    if execution.tier_note is not None:
        show(TfrtError(execution.tier_note), program.text)
    while time.monotonic() - started < WARM_UP * options.seconds:
        run()
    times = array("q")
    processor = time.process_time_ns()
    while not times or time.monotonic() - started < options.seconds:
        taken, execution = run()
        times.append(taken)
    processor = (time.process_time_ns() - processor) // len(times)
    return Measured(first, sorted(times), processor, execution.tier)


def _row(name: str, measured: Measured) -> tuple[str, ...]:
    times = (
        measured.first,
        measured.times[0],
        measured.share(0.5),
        measured.share(0.99),
        measured.processor,
    )
    return f"@{name}", str(len(measured.times)), *map(duration, times), measured.tier.value


def _drop(_: str) -> None:
    """Discard a program's output, which would hide the measurements."""
