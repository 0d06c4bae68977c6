"""The parser of the command line, and the table of commands.

A command's modules are imported only when the command runs, so `--help` is quick.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import re
import sys
import textwrap
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from tfrt_nb.cli.files import (
    EXIT_INTERRUPTED,
    EXIT_PROBLEM,
    EXIT_USAGE,
    UsageError,
    leave_without_output,
    open_standard_streams,
    show,
)
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.queues.queue_names import parse_work_queue

DESCRIPTION = "Asynchronous dataflow: host programs in MLIR syntax on a native runtime."
STAGES = ("mlir", "bef", "dot", "async-runtime", "coroutine", "llvm", "llvm-split", "asm")


def seconds(text: str) -> float:
    """Parse a positive number of seconds, and limit it to the longest possible wait."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return min(value, threading.TIMEOUT_MAX)


def threshold(text: str) -> int:
    """Parse a cost, which must not be negative."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def schedules(text: str) -> int:
    """Parse the number of schedules to try."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number of schedules, found {text!r}")
    return int(text)


def choices(text: str) -> tuple[int, ...]:
    """Parse the choices of a schedule, as `--explore` prints them."""
    try:
        return tuple(map(int, text.split(",")))
    except ValueError:
        wanted = "expected the choices of a schedule, for instance 2,1,3"
        raise argparse.ArgumentTypeError(f"{wanted}; found {text!r}") from None


def work_queue(text: str) -> str:
    """Parse the description of a work queue."""
    try:
        parse_work_queue(text)
    except TfrtError as problem:
        raise argparse.ArgumentTypeError(problem.diagnostics[0].message) from None
    return text


class _PrintVersion(argparse.Action):
    """Prints the version.

    Finding the version takes longer than parsing a command line, so it happens only on request.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(nargs=0, **settings)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from tfrt_nb import __version__

        print(f"{parser.prog} {__version__}")
        parser.exit()


def memory(text: str) -> int:
    """Parse a memory budget in bytes."""
    from tfrt_runtime.host.budget import parse_budget

    try:
        return parse_budget(text)
    except TfrtError as problem:
        raise argparse.ArgumentTypeError(problem.diagnostics[0].message) from None


class _Help(argparse.HelpFormatter):
    """Formats help so that lines break only at spaces, not at hyphens in options."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="tfrt-nb", description=DESCRIPTION)
    parser.add_argument("--version", action=_PrintVersion, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_bench(commands)
    to_bef = commands.add_parser("mlir-to-bef", help="compile a program to a BEF file")
    to_bef.add_argument("input", metavar="IN", help="an .mlir file, or - for standard input")
    to_bef.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="default: standard output"
    )
    to_bef.add_argument(
        "--disable-optional-sections",
        action="store_true",
        help="leave out the sections that most programs can run without; bef-to-mlir then guesses "
        "types and attributes, and your own kernels cannot have attributes",
    )
    to_bef.add_argument(
        "--tfrt-cost-threshold",
        metavar="N",
        type=threshold,
        default=0,
        help="the minimum cost of a separate stream; default: 0, which means the cost of the "
        "longest path",
    )
    _add_verification(to_bef, ", report only differences, and write no file")
    opt = commands.add_parser(
        "opt",
        help="run passes on a program and print it",
        epilog="Exit status: 0 on success; 1 if the program is invalid or a pass fails.",
    )
    opt.add_argument("input", metavar="IN", help="an .mlir file, or - for standard input")
    opt.add_argument(
        "-p",
        "--passes",
        metavar="PIPELINE",
        help="passes in MLIR's notation, for instance 'builtin.module(canonicalize,cse)';"
        " an unknown name prints the list of passes; default: those listed in the "
        "file's first line, '// pipeline: PIPELINE'",
    )
    _add_verification(opt)
    opt.add_argument(
        "--mlir-print-op-generic",
        action="store_true",
        help="print every operation in its generic form",
    )
    grade = commands.add_parser(
        "grade",
        help="check the answers to exercises in notebooks",
        description="Each notebook is graded in its own process, in an empty folder, with "
        "limits on time and memory, and without network access if the system has namespaces. A "
        "notebook that cannot be graded gets a line with the reason.",
        epilog="Exit status: 0 if all answers are right; 1 if an answer is wrong or could not be "
        "graded, or a module could not be imported; 2 for a wrong command line; 130 after Ctrl-C.",
    )
    grade.add_argument("notebooks", nargs="+", metavar="NOTEBOOK", help=".ipynb files")
    grade.add_argument(
        "--exercises",
        metavar="MODULE",
        action="append",
        default=[],
        help="a Python module with your own exercises, in this folder or installed; may be "
        "repeated",
    )
    grade.add_argument(
        "--format",
        choices=["table", "csv", "json"],
        default="table",
        help="the output format: a table to look at, or rows (notebook, exercise, mark, text) for "
        "a spreadsheet or a program",
    )
    grade.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=60.0,
        help="time limit for each answer; default 60",
    )
    grade.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory,
        default=2 << 30,
        help="limit on the address space of each notebook's process, for instance 500M; default 2G",
    )
    tutorials = commands.add_parser(
        "tutorials",
        help="copy the tutorials and open them in JupyterLab",
        epilog="If the folder already has a tutorial's file with other content, the command "
        "copies nothing, and its exit status is 1.",
    )
    tutorials.add_argument(
        "folder",
        nargs="?",
        metavar="DIR",
        default="tfrt-tutorials",
        help="the folder for the copy; default: tfrt-tutorials",
    )
    tutorials.add_argument(
        "--no-open", dest="open", action="store_false", help="copy only; do not start JupyterLab"
    )
    share = commands.add_parser(
        "share", help="print a link that opens a program in a page, ready to run"
    )
    share.add_argument("input", metavar="FILE", help="an .mlir file, or - for standard input")
    share.add_argument(
        "--site",
        metavar="URL",
        default="http://127.0.0.1:8000/",
        help="a site that 'make lite' built; default: the one that 'make lite SERVE=1' serves",
    )
    commands.add_parser(
        "lsp",
        help="run a language server for editors: completion, diagnostics, definitions, rename",
        epilog="A language server: it reads requests from standard input and writes answers to "
        "standard output. It needs pygls: pip install 'tfrt-nb[lsp]'.",
    )
    to_mlir = commands.add_parser("bef-to-mlir", help="disassemble a BEF file")
    to_mlir.add_argument("input", metavar="IN", help="a .bef file, or - for standard input")
    for command, default in ((opt, "as in the program"), (to_mlir, "func")):
        command.add_argument(
            "--func-dialect",
            action=argparse.BooleanOptionalAction,
            help=f"print functions of host programs as func.func, or as func; default: {default}",
        )
    for command in commands.choices.values():
        command.formatter_class = _Help
    return parser


def _add_program(command: argparse.ArgumentParser) -> None:
    """Add the options that `run` and `bench` share."""
    command.add_argument(
        "program", metavar="PROGRAM", help=".mlir or .bef, or - for standard input"
    )
    command.add_argument(
        "-q",
        "--work-queue",
        metavar="QUEUE",
        type=work_queue,
        default="s",
        help="the work queue: s (one thread), mstd (a thread per core), mstd:N (N compute "
        "threads), or mstd:N,B (and B blocking threads); default: s",
    )
    command.add_argument(
        "arguments",
        nargs="*",
        default=[],  # otherwise, the message about a missing PROGRAM would also name ARGUMENT
        metavar="ARGUMENT",
        help="arguments of the function: 7, 2.5, true, '\"text\"', @FILE.npy for an array, "
        "or the word chain",
    )
    command.add_argument("--function", metavar="NAME", help="run this function only")
    command.add_argument(
        "--with",
        dest="others",
        metavar="FILE",
        action="append",
        default=[],
        help="a Python file whose kernels the program calls, or an .mlir file with functions that "
        "it calls; may be repeated, or name several files with commas",
    )
    command.add_argument(
        "--tier",
        choices=["auto", "interpreter", "compiled"],
        default="auto",
        help="how to run host functions that contain only scalars, calls, and control flow: "
        "auto (the default) compiles a function to machine code once it is hot; compiled compiles "
        "all of them before the run, and reports those that it cannot compile; interpreter "
        "compiles none. Runs that are traced, stepped, or explored are interpreted. Functions that "
        "are async.func, or func.func ending with 'return', are compiled unless the tier is "
        "interpreter or llvmlite is missing",
    )
    command.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory,
        help="memory budget for values, tasks, tensors, and buffers, for instance 500M or 2G; "
        "default: half of what the machine, its cgroups and the address space limit allow",
    )


def _add_compiled(command: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options for compiled functions, and return their group."""
    compiled = command.add_argument_group("compiled functions")
    compiled.add_argument(
        "--parallel-for",
        metavar="OPTIONS",
        help="split parallel loops into tasks with these options, for instance "
        "'num-workers=4 min-task-size=100', or '' for the default options; a first "
        "line '// parallel-for: OPTIONS' does the same; default: split "
        "async.parallel_for for the workers of the queue, and run scf.parallel sequentially",
    )
    compiled.add_argument(
        "-O",
        dest="level",
        type=int,
        choices=(0, 1),
        help="-O0 lowers every task and async function to a coroutine, -O1 takes shortcuts where "
        "no coroutine is needed; default: -O1 for a run, -O0 for --emit",
    )
    return compiled


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        help="run a program",
        description="In a host program, run every function that takes no arguments, in file order. "
        "In a module with compiled functions (async.func, or func.func that ends with 'return' "
        "instead of 'tfrt.return'), run @main.",
        epilog="Exit status: 0 on success; 1 if the program or its file is invalid, if an error "
        "was raised that no expected-error comment names, or if async objects are left over; 2 "
        "for a wrong command line; 130 after Ctrl-C.",
    )
    _add_program(run)
    run.add_argument(
        "--allocator",
        choices=["malloc", "profiled", "leak_check", "fixed_size"],
        default="malloc",
        help="where tensors get their memory; profiled and leak_check report at the end, fixed_size"
        " has 1024 bytes and reports each request",
    )
    run.add_argument(
        "--timeout", metavar="SECONDS", type=seconds, help="cancel a function after this time"
    )
    order = run.add_mutually_exclusive_group()
    order.add_argument(
        "--explore",
        metavar="N",
        nargs="?",
        type=schedules,
        const=0,
        help="try every order of the operations that could affect the outcome, up to N schedules "
        "(default: 5000), and show the outcomes; write this option after PROGRAM",
    )
    order.add_argument(
        "--replay",
        metavar="CHOICES",
        type=choices,
        help="run one schedule that --explore printed",
    )
    order.add_argument(
        "--step",
        action="store_true",
        help="choose which operation runs next; without a terminal, they run in program order",
    )
    compiled = _add_compiled(run)
    compiled.add_argument(
        "--emit",
        metavar="STAGE",
        choices=STAGES,
        help=f"print a stage instead of running: {', '.join(STAGES)}; dot is the graph in "
        "Graphviz's language; async-runtime and the stages listed after it apply only to compiled "
        "functions",
    )
    compiled.add_argument(
        "--check-references",
        action=argparse.BooleanOptionalAction,
        help="track every async object, and report objects that are left over or released too many "
        "times; by default, a run tracks objects only if the program itself counts references",
    )
    trace = run.add_mutually_exclusive_group()
    trace.add_argument(
        "--trace", metavar="FILE", help="write a trace of the run as JSON for Perfetto"
    )
    trace.add_argument(
        "--tracing-sink",
        choices=["debug", "simple"],
        help="print a trace: debug as it happens, simple at the end with times",
    )
    run.add_argument(
        "--trace-level",
        choices=["none", "default", "verbose", "debug"],
        help="how much to trace: default records runs and functions; verbose adds activities that "
        "your kernels record; debug adds every kernel, what it waited for, and what made it ready; "
        "if not given, debug for --trace and default for "
        "--tracing-sink",
    )


def _add_bench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bench = commands.add_parser(
        "bench",
        help="measure how long a program takes",
        description="Run each function that `run` would run, repeatedly, and print how long it "
        "takes. The program's output is not shown.",
        epilog="Exit status: 0 on success; 1 if the program is invalid, or a run fails; 2 for a "
        "wrong command line; 130 after Ctrl-C.",
    )
    _add_program(bench)
    bench.add_argument(
        "--seconds",
        metavar="SECONDS",
        type=seconds,
        default=1.0,
        help="measure each function for this long, at least one run; default 1",
    )
    _add_compiled(bench)


def _add_verification(
    command: argparse.ArgumentParser, result: str = ", and report only differences"
) -> None:
    command.add_argument(
        "--split-input-file",
        action="store_true",
        help="treat the parts between lines '// -----' as separate programs",
    )
    command.add_argument(
        "--verify-diagnostics",
        action="store_true",
        help="compare the program's diagnostics with its '// expected-error {{text}}' comments "
        f"(or expected-warning, -remark, -note){result}",
    )


COMMANDS = {
    "run": "tfrt_nb.cli.running.run.execute",
    "bench": "tfrt_nb.cli.running.bench.execute",
    "mlir-to-bef": "tfrt_nb.cli.translate.mlir_to_bef",
    "bef-to-mlir": "tfrt_nb.cli.translate.bef_to_mlir",
    "opt": "tfrt_nb.cli.opt.execute",
    "grade": "tfrt_nb.cli.grade.execute",
    "tutorials": "tfrt_nb.cli.tutorials.execute",
    "share": "tfrt_nb.cli.share.execute",
    "lsp": "tfrt_nb.cli.lsp.execute",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status. On a wrong command line, argparse exits with 2."""
    if arguments is None:
        open_standard_streams()
    parser = build_parser()
    # argparse ends the list of a program's arguments at the next option.
    options, more = parser.parse_known_args(arguments)
    takes_more = options.command in ("run", "bench")
    mark = more.index("--") if takes_more and "--" in more else len(more)
    # An argument may be a negative number.
    option = re.compile(r"-(?!\.?\d|inf|nan)")
    unknown = [one for one in more[:mark] if not takes_more or option.match(one)]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if more:
        options.arguments += more[:mark] + more[mark + 1 :]
    try:
        with collector_paused():
            module, _, function = COMMANDS[options.command].rpartition(".")
            execute = getattr(importlib.import_module(module), function)
            if arguments is None:
                # The process runs only this command, so the imported modules stay in memory.
                # Searching them for garbage would take milliseconds.
                gc.freeze()
        status = int(execute(options))
        sys.stdout.flush()
        return status
    except TfrtError as problem:
        show(problem)
        return EXIT_USAGE if isinstance(problem, UsageError) else EXIT_PROBLEM
    except OSError as problem:
        if problem.filename is not None:  # an error on standard output has no file name
            raise
        leave_without_output(problem)
    except KeyboardInterrupt:
        print("tfrt-nb: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    finally:
        if arguments is None:
            # The process exits. A final search for garbage would take longer than many programs
            # run.
            gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
