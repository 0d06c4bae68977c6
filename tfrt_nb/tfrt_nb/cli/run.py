"""`tfrt-nb run`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from tfrt_nb.cli.expectations import Expectation, check, find_expectations
from tfrt_nb.cli.files import decode, display_name, is_bef, read_input, show
from tfrt_nb.cli.tracing import tracing_of
from tfrt_nb.program import Program
from tfrt_nb.report import render
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity, TfrtError, error
from tfrt_runtime.executor.driver import FunctionRun, run_functions, runnable
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.allocator import LeakCheckAllocator, ProfiledAllocator
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.trace import Level, Tracing


def execute(options: argparse.Namespace) -> int:
    """Run a program; 1 when something is wrong with it."""
    text: str | None = None
    name = display_name(options.program)
    try:
        data = read_input(options.program)
        if is_bef(options.program, data):
            program = Program.from_bef(data, name)
        else:
            text = decode(data, name)
            program = Program.from_source(text, name)
    except TfrtError as problem:
        show(problem, text)
        return 1
    try:
        with tracing_of(options) as tracing:
            return run_program(program, options, text, tracing)
    except TfrtError as problem:
        show(problem)
        return 1


def run_program(
    program: Program, options: argparse.Namespace, text: str | None, tracing: Tracing | None
) -> int:
    """Load and run a program, and report what it raised."""
    sources = {} if text is None else {program.name: text}
    with HostContext(options.work_queue, options.allocator, output=write, tracing=tracing) as host:
        try:
            executable = program.load(tracing=Level.NONE if tracing is None else tracing.level)
        except TfrtError as problem:
            show(at_load(problem), sources.get(program.name))
            return 1
        functions = choose(executable, options.function)
        status = report(*run_each(host, executable, functions, options.timeout), sources)
        del executable  # with its constants, before memory is counted
        return max(status, report_memory(host))


def run_each(
    host: HostContext, executable: Executable, functions: list[int], timeout: float | None
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Run functions one after the other: what they raised, and which of them did not finish."""
    raised: list[Diagnostic] = []
    late: list[Diagnostic] = []
    for run in run_functions(host, executable, functions, write, timeout):
        raised += run.execution.diagnostics
        if timeout is not None and not run.finished and not run.execution.is_stuck:
            late.append(unfinished(run, timeout))
        sys.stdout.flush()
    return raised, late


def write(text: str) -> None:
    """What programs print; flushed after each function, as one process may print millions of lines."""
    sys.stdout.write(text)


def choose(executable: Executable, function: str | None) -> list[int]:
    """Which functions to run.

    Raises:
        TfrtError: if the one that was asked for does not exist or takes arguments.
    """
    if function is None:
        return runnable(executable)
    index = executable.function_index(function)
    if executable.functions[index].argument_types:
        raise TfrtError(error(f"@{function} takes arguments, and can only be called"))
    return [index]


def at_load(problem: TfrtError) -> TfrtError:
    """Errors of loading a program in the words of TFRT's driver."""
    return TfrtError(
        *(
            error(f"unexpected error: runtime error: {d.message}", d.location, d.notes)
            if d.severity is Severity.ERROR
            else d
            for d in problem.diagnostics
        )
    )


def unfinished(run: FunctionRun, timeout: float) -> Diagnostic:
    """The function ran out of time."""
    text = f"@{run.name} did not finish within {timeout:g} s and was cancelled"
    return error(text, notes=run.waits)


def report(
    raised: Iterable[Diagnostic], late: Iterable[Diagnostic], sources: dict[str, str]
) -> int:
    """Print the errors that nobody expected; the exit status."""
    raised = list(raised)
    for diagnostic in raised:
        find_source(diagnostic, sources)
    expectations: dict[str, list[Expectation]] = {
        source: find_expectations(text, source) for source, text in sources.items()
    }
    problems = [*check(raised, expectations), *late]
    for problem in problems:
        place = problem.location
        text = sources.get(place.source) if isinstance(place, Location) else None
        print(render(problem, text), file=sys.stderr)
    return int(bool(problems))


def find_source(diagnostic: Diagnostic, sources: dict[str, str]) -> None:
    """Read the source that a diagnostic of a BEF file is about, where it can be found."""
    place = diagnostic.location
    if not isinstance(place, Location) or place.source in sources:
        return
    try:
        sources[place.source] = Path(place.source).read_text()
    except (OSError, UnicodeDecodeError):
        return


def report_memory(host: HostContext) -> int:
    """Print what the allocator has counted; 1 for a leak."""
    allocator = host.allocator
    if isinstance(allocator, ProfiledAllocator):
        sys.stdout.write(allocator.report())
    sys.stdout.flush()
    return int(isinstance(allocator, LeakCheckAllocator) and allocator.has_leak)
