"""Implement `tfrt-nb run --explore`, `--replay`, and `--step`, which choose the next operation."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from tfrt_nb.cli.files import show, write
from tfrt_nb.programs import FunctionSignature, Program
from tfrt_nb.schedules.explore import MAX_SCHEDULES, Explorer
from tfrt_nb.schedules.step import Stepper, outcome_of
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.machine import Tier


def run_schedules(
    program: Program,
    functions: Sequence[FunctionSignature],
    arguments: Sequence[object],
    options: argparse.Namespace,
) -> int:
    """Run functions with these options. Return 1 if a schedule that was run has errors.

    Raises:
        TfrtError: if the program cannot be loaded, or the arguments do not match a function's
            parameters.
    """
    status, tier = 0, Tier(options.tier)
    for function in functions:
        print(f"--- @{function.name}")
        if options.step:
            status |= _step(program, function.name, arguments, tier)
            continue
        with Explorer(program, function.name, arguments, tier=tier) as explorer:
            if options.explore is None:
                _, outcome = explorer.replay(options.replay, watch=False)
                sys.stdout.write(outcome.text)
                status |= bool(outcome.errors)
            else:
                found = explorer.explore(most=options.explore or MAX_SCHEDULES)
                # The start of the command that replays a schedule, without the choices.
                words = ("tfrt-nb", "run", options.program, *options.arguments, "--function")
                replay = f"{shlex.join([*words, function.name])} --replay"
                sys.stdout.write(found.text(explorer.document, replay))
    return int(status)


def _step(program: Program, function: str, arguments: Sequence[object], tier: Tier) -> int:
    """Run a function by hand, and read each choice from standard input.

    At the end of the input, the remaining operations run in program order.
    """
    with Stepper(program, function, arguments, output=_write, tier=tier) as stepper:
        rows = stepper.document.data["operations"]
        while ready := stepper.ready():
            arriving = stepper.arriving()
            for position, number in enumerate(ready, 1):
                row = (
                    f"line {rows[number]['line']}: {rows[number]['text']}"
                    if number >= 0
                    else "task"
                )
                print(f"  {position}  {row}{'   (result arrives)' if number in arriving else ''}")
            chosen = _ask(len(ready))
            if chosen is None:
                stepper.run_to_end()
            else:
                stepper.run(ready[chosen])
        outcome, problems = outcome_of(stepper.execution), stepper.execution.diagnostics
    sys.stdout.write(outcome.text)
    if problems:
        show(TfrtError(*problems), program.text)
    return int(bool(problems))


def _ask(count: int) -> int | None:
    """Ask for the position of the next operation. None means to run all remaining operations."""
    while True:
        print(f"next: 1 to {count}, Enter for 1, e to run to the end > ", end="", flush=True)
        line = sys.stdin.readline()
        word = line.strip()
        if not line or word == "e":
            print()
            return None
        if not word or (word.isdigit() and 1 <= int(word) <= count):
            return int(word or 1) - 1


def _write(text: str) -> None:
    write(text)
    sys.stdout.flush()
