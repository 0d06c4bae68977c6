"""Implement `tfrt-nb run`."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrt_nb.cli.expectations import Expectation, check, find_expectations
from tfrt_nb.cli.files import (
    PROGRAM,
    UsageError,
    decode,
    display_name,
    is_bef,
    read_input,
    show,
    write,
)
from tfrt_nb.cli.running.known_programs import program_of, program_of_file
from tfrt_nb.nesting import MAX_FILE
from tfrt_nb.programs import FunctionSignature, Program
from tfrt_nb.report import NOWHERE, render
from tfrt_runtime.bef.reader import mapped
from tfrt_runtime.bef.records import MAGIC
from tfrt_runtime.diagnostics import (
    AnyLocation,
    Diagnostic,
    Location,
    Severity,
    TfrtError,
    counted,
    error,
    known_names,
    note,
    place_of_caller,
)
from tfrt_runtime.executor.driver import run_functions
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.allocator import LeakCheckAllocator, ProfiledAllocator
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.tracing.trace import SINKS, Level, Tracing

if TYPE_CHECKING:
    from tfrt_nb.cli.running.following import Follower

MAX_ALIKE = 10
"""How many errors with the same message and location are printed.

Further errors are only counted.
"""


def execute(options: argparse.Namespace) -> int:
    """Run a program, or print it at a stage of its compilation. Return 1 on errors."""
    text: str | None = None
    name = display_name(options.program)
    arguments = [read_argument(one) for one in options.arguments]
    try:
        source = read_source(options.program)
        text = source if isinstance(source, str) else None
        program = make_program(source, name, options)
        if options.emit is not None:
            sys.stdout.write(program.emit(options.emit))
            return 0
        chosen = choose(program, options.function, len(arguments))
        if not program.functions:
            shown = "func.func @main() {\n  tfrt.return\n}"
            print(
                f"{name}: note: there is no function to run; write one:\n{shown}", file=sys.stderr
            )
    except TfrtError as problem:
        sys.stdout.flush()
        sources = {} if text is None else {name: text}
        for diagnostic in problem.diagnostics:  # the error may be in a file of --with
            find_source(diagnostic, sources)
            print_problem(diagnostic, sources)
        return 1
    try:
        if options.explore is not None or options.replay is not None or options.step:
            from tfrt_nb.cli.running.schedules import run_schedules

            return run_schedules(program, chosen, arguments, options)
        with tracing_of(options) as tracing, follower_of(options, program) as follower:
            return run_program(program, chosen, arguments, options, tracing, follower)
    except TfrtError as problem:
        show(of_command_line(problem), text)
        return 1


def read_source(path: str) -> str | bytes | memoryview:
    """Return a program's source, or the bytes of a BEF file, which is mapped into memory.

    Raises:
        TfrtError: if the file cannot be read, or is neither a source nor a BEF file.
    """
    with contextlib.suppress(OSError, ValueError):  # `read_input` reports the error
        if Path(path).is_file() and (found := mapped(path))[: len(MAGIC)].tobytes() == MAGIC:
            return found
    data = read_input(path)
    return data if is_bef(path, data) else decode(data, display_name(path))


def make_program(
    source: str | bytes | memoryview, name: str, options: argparse.Namespace
) -> Program:
    """Return the program of a source, linked with the files of `--with`.

    Raises:
        TfrtError: if the program or a file of `--with` is invalid.
    """
    libraries = read_others(options.others)
    if not isinstance(source, str):
        return program_of_file(source, name)
    if not libraries and (options.parallel_for, options.level) == (None, None):
        return program_of(source, name)
    return Program.from_source(
        source, name, parallel_for=options.parallel_for, libraries=libraries, level=options.level
    )


def read_others(paths: Sequence[str]) -> dict[str, Program]:
    """Run the Python files that `--with` names, and return the other files as programs.

    The Python files register kernels. The programs are returned by file name without extension. An
    option may name several files, separated by commas, as in a cell.

    Raises:
        TfrtError: if a file cannot be read, or is invalid.
    """
    libraries: dict[str, Program] = {}
    for path in itertools.chain.from_iterable(
        [one] if Path(one).exists() else one.split(",") for one in paths
    ):
        data = read_input(path)
        if path.endswith(".py"):
            run_python(path)
        elif is_bef(path, data):
            raise TfrtError(error(f"--with {path}: expected a .py or .mlir file, found a BEF file"))
        else:
            libraries[Path(path).stem] = Program.from_source(decode(data, path), path)
    return libraries


def run_python(path: str) -> None:
    """Run a Python file as a module, not as a script.

    Raises:
        TfrtError: if the file raises an exception. The error is at the line that raised it.
    """
    import runpy  # few runs have Python kernels
    import traceback

    try:
        # Use the module name that `multiprocessing` gives to a main module, so that kernels are
        # called `py.NAME`.
        runpy.run_path(path, run_name="__mp_main__")
    except TfrtError:
        raise
    except Exception as problem:
        frames = [
            one for one in traceback.extract_tb(problem.__traceback__) if one.filename == path
        ]
        line = getattr(problem, "lineno", None) or (frames[-1].lineno if frames else None) or 1
        text = f"{type(problem).__name__}: {problem}"
        raise TfrtError(error(text, Location(path, line, 1, 2))) from problem


@contextlib.contextmanager
def tracing_of(options: argparse.Namespace) -> Iterator[Tracing | None]:
    """Turn on the requested tracing in the block, and close its sink at the end."""
    if options.tracing_sink is None:
        yield None
        return
    # The sink `debug` writes between the lines that the program prints, to show their order.
    stream = sys.stdout if options.tracing_sink == "debug" else sys.stderr
    sink = SINKS[options.tracing_sink](stream.write)
    tracing = Tracing(sink, Level.of(options.trace_level or "default"))
    try:
        with tracing.requested():
            yield tracing
    finally:
        sink.close()


def follower_of(
    options: argparse.Namespace, program: Program
) -> AbstractContextManager[Follower | None]:
    """Return the observer of the runs: the requested trace or, in a terminal, a progress line.

    Raises:
        TfrtError: if the trace file cannot be written.
    """
    if options.trace is None and not sys.stderr.isatty():
        return contextlib.nullcontext()
    # Imported here because these modules load NumPy, which other runs do not need.
    from tfrt_nb.cli.running.following import ProgressLine, Trace

    if options.trace is not None:
        return Trace(options.trace, Level.of(options.trace_level or "debug"), program)
    return ProgressLine(program, sys.stderr, tier=Tier(options.tier))


def of_command_line(problem: TfrtError) -> TfrtError:
    """Return an error without any locations in the Python file that called this command.

    Users have not written that file.
    """
    here = place_of_caller()
    return TfrtError(
        *(
            replace(one, location=None)
            if isinstance(one.location, Location)
            and here is not None
            and one.location.source == here.source
            else one
            for one in problem.diagnostics
        )
    )


def read_argument(text: str) -> object:
    """Return an argument of the command line as a Python value.

    Raises:
        UsageError: if the argument is not a valid value.
    """
    if text.startswith("@"):
        import numpy as np

        try:
            # Do not use `np.load`. It mistakes a file without an array for a pickle, and its error
            # message suggests unpickling the file.
            with open(text[1:], "rb") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        except OSError as wrong:
            raise UsageError(error(f"cannot read '{text[1:]}': {wrong.strerror}")) from None
        except (ValueError, EOFError) as wrong:
            raise UsageError(error(f"'{text[1:]}' is not a numpy array: {wrong}")) from None
    if text == "chain":
        return CHAIN
    for read in (int, float):
        with contextlib.suppress(ValueError):
            return read(text)
    import json  # imported here, because string arguments are rare

    try:
        value: object = json.loads(text)
    except ValueError:
        known = """a number, true, false, '"text"', @FILE.npy or chain"""
        raise UsageError(error(f"argument {text!r}: expected {known}")) from None
    return value


def choose(program: Program, function: str | None, given: int) -> list[FunctionSignature]:
    """Return the functions to run.

    These are the requested function or, by default, a compiled @main and every host function
    without parameters, in the order of the file. If arguments are given, the default is @main or
    the only function. Functions of `--with` run only if they are called or requested.

    Raises:
        TfrtError: if the function does not exist, or does not take `given` arguments.
    """
    functions = program.functions
    if function is not None:
        return [_callable(functions, function.removeprefix("@"), given)]
    functions = program._own_functions
    if given:
        return [_callable(functions, program._default_function or "main", given)]
    runnable = [one for one in functions if not one.is_compiled and not one.argument_types]
    has_main = any(one.is_compiled and one.name == "main" for one in functions)
    if has_main or (program._compiled is not None and not runnable):
        runnable.append(_callable(functions, "main", given))
    return runnable


def _callable(functions: Sequence[FunctionSignature], name: str, given: int) -> FunctionSignature:
    for function in functions:
        if function.name == name:
            types = function.argument_types
            if len(types) != given:
                listed = f" ({', '.join(types)})" if types else ""
                text = f"@{name} takes {counted(len(types), 'argument')}{listed}, found {given}"
                raise TfrtError(error(text))
            return function
    known = known_names([f"@{one.name}" for one in functions])
    raise TfrtError(error(f"there is no function @{name}; {known}"))


def run_program(
    program: Program,
    functions: Sequence[FunctionSignature],
    arguments: Sequence[object],
    options: argparse.Namespace,
    tracing: Tracing | None,
    follower: Follower | None,
) -> int:
    """Load and run functions of a program, report their errors, and return the exit status."""
    of_host = [one.name for one in functions if not one.is_compiled]
    compiled = [one.name for one in functions if one.is_compiled]
    status = 0
    # Output mixes with the progress line only if both go to the terminal.
    output = follower.around(write) if follower is not None and sys.stdout.isatty() else write
    with HostContext(
        options.work_queue,
        options.allocator,
        output=output,
        tracing=tracing,
        memory=options.memory,
    ) as host:
        if of_host or not compiled:
            status = run_host_functions(host, program, of_host, arguments, options, follower)
        for name in compiled:
            from tfrt_nb.cli.running.run_compiled import run_compiled

            status = max(status, run_compiled(host, program, name, arguments, options, follower))
        allocator = host.allocator
        if isinstance(allocator, ProfiledAllocator):
            sys.stdout.write(allocator.report())
        sys.stdout.flush()
        has_leak = isinstance(allocator, LeakCheckAllocator) and allocator.has_leak
        return max(status, int(has_leak))


def run_host_functions(
    host: HostContext,
    program: Program,
    names: Sequence[str],
    arguments: Sequence[object],
    options: argparse.Namespace,
    follower: Follower | None,
) -> int:
    """Run host functions one after another, and return the exit status."""
    sources = {program.name: program.text} if program.text else {}
    try:
        executable = program.load(
            watched=host.is_traced or (follower is not None and follower.logs_all),
            interpreted=Tier(options.tier) is Tier.INTERPRETER,
        )
    except TfrtError as problem:
        from tfrt_nb.passes.control_flow import PassError

        # TFRT's driver uses this format, except for errors of the compiler.
        head = "" if isinstance(problem, PassError) else "unexpected error: runtime error: "
        said = [
            replace(one, message=head + one.message) if one.severity is Severity.ERROR else one
            for one in problem.diagnostics
        ]
        show(TfrtError(*said), sources.get(program.name), NOWHERE)
        return 1
    if not names and (functions := program.functions):
        listed = ", ".join(f"@{one.name}({', '.join(one.argument_types)})" for one in functions)
        text = (
            f"nothing ran, because every function takes arguments: {listed}. To run one:"
            f" --function {functions[0].name} ARGUMENT ..., where an argument is, for example,"
            """ 7, 2.5, true, '"text"', @FILE.npy, or chain"""
        )
        print_problem(note(text), sources)
    raised: list[Diagnostic] = []
    late: list[Diagnostic] = []
    indexes = [executable.function_index(name) for name in names]
    timeout, tier = options.timeout, Tier(options.tier)
    for run in run_functions(
        host, executable, indexes, host.output, timeout, arguments, follower, tier
    ):
        raised += run.execution.diagnostics
        if run.execution.tier_note is not None:
            sys.stdout.flush()
            print_problem(run.execution.tier_note, sources)
        if timeout is not None and not run.finished and not run.execution.is_stuck:
            text = f"@{run.name} did not finish within {timeout:g} s and was cancelled"
            place = executable.file.location(run.execution.function.location)
            late.append(error(text, place, run.waits))
        sys.stdout.flush()
    return report(raised, late, sources)


def report(
    raised: Sequence[Diagnostic], late: Sequence[Diagnostic], sources: dict[str, str]
) -> int:
    """Print the unexpected errors, but only the first few equal ones; return the exit status."""
    for diagnostic in (*raised, *late):
        find_source(diagnostic, sources)
    expectations: dict[str, list[Expectation]] = {
        source: find_expectations(text, source) for source, text in sources.items()
    }
    problems = [*check(raised, expectations), *late]
    alike = Counter[tuple[str, AnyLocation | None]]()
    for problem in problems:
        kind = problem.message, problem.location
        alike[kind] += 1
        if alike[kind] <= MAX_ALIKE:
            print_problem(problem, sources)
    for (message, place), count in alike.items():
        if count > MAX_ALIKE:
            print_problem(note(f"{count - MAX_ALIKE} more times: {message}", place), sources)
    return int(bool(problems))


def print_problem(problem: Diagnostic, sources: dict[str, str]) -> None:
    """Print a diagnostic with its source line.

    If there is no source, omit the notes that point to lines, because the reference has no such
    notes.
    """
    place = problem.location
    text = sources.get(place.source) if isinstance(place, Location) else None
    if text is None:
        problem = replace(problem, notes=tuple(one for one in problem.notes if not one.location))
    print(render(problem, text, PROGRAM), file=sys.stderr)


def find_source(diagnostic: Diagnostic, sources: dict[str, str]) -> None:
    """Read the source of a diagnostic if it can be found and has not been read yet.

    A program may state any location. Therefore, a path is ignored if it is not a regular file, or
    if the file is too large for a source.
    """
    place = diagnostic.location
    if not isinstance(place, Location) or place.source in sources:
        return
    path = Path(place.source)
    with contextlib.suppress(OSError, ValueError, TfrtError):
        if path.is_file() and path.stat().st_size <= MAX_FILE:
            sources[place.source] = decode(path.read_bytes(), place.source)
