"""The line after `%%tfrt`, as a value.

`ARGUMENTS` lists the options once. The parser below reads the list, and the magic's help shows it.
This module does not import IPython.
"""

from __future__ import annotations

import argparse
import keyword
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

from tfrt_runtime.diagnostics import TfrtError, meant
from tfrt_runtime.host.budget import parse_budget
from tfrt_runtime.host.queues.queue_names import parse_work_queue

EXAMPLES = """\
examples:
  %%tfrt                            run every function that takes no arguments
  %%tfrt --function main -o total   run @main and keep its result as `total`
  %%tfrt -o low,high                keep two results as `low` and `high`
  %%tfrt -q s                       run on one thread, so that the order is always the same
  %%tfrt --host cluster             run on your HostContext `cluster`
  %%tfrt --timeout 2                stop after two seconds and say what was missing
  %%tfrt --no-wait -o page          return at once; `await page` gives the value later
  %%tfrt --in n=len(names)          give the parameter %n a value from Python
  %%tfrt --as shop                  keep the program; `shop.price(2)` runs its @price
  %%tfrt --with shop                call the functions of the program `shop`
  %%tfrt --parallel-for num-workers=4   run the rounds of scf.parallel as tasks
  %%tfrt --explore                  show the outcomes of the program in every order of its steps
  %%tfrt --expect-error             show an error that you expect
  %%tfrt --emit bef                 show what the program becomes, and run nothing
  %tfrt sum.mlir --in x=20          run an .mlir or .bef file; takes the options of a cell

Functions that contain kernels (tfrt.*) and end with tfrt.return form a host program.
Functions that are async.func, or func.func ending with return, are compiled, and @main
is run.  %tfrt_leaks lists the async objects that are left over.

If the program is wrong, or the run fails, is stopped, or is cancelled, the cell shows its
board and errors, assigns -o, and then raises TfrtError.  Run All, nbconvert, and papermill
then stop.  Where an error is part of the lesson, let the notebook continue: --expect-error,
the cell tag raises-exception, or %tfrt_config errors=show.
The run of a --no-wait cell and the outcomes of --explore do not fail the cell.
"""

MAX_LINE = 10_000
"""The maximum length of a line in characters.

The time to split a line grows quadratically with its length.
"""
ENGINES = ("own", "dot")
"""The engines that lay out the operations of a graph."""
STAGES = ("mlir", "bef", "dot", "async-runtime", "coroutine", "llvm", "llvm-split", "asm")


class OptionError(ValueError):
    """The line cannot be parsed. The message is one line and says what to write instead."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that the user gave.

    `output` contains the Python names for the results. If `work_queue`, `timeout` (in seconds), or
    `memory` is None, the configured default applies. `host` is the Python name of the user's
    HostContext. If `function` is None, all functions whose arguments have values run, in the order
    of the file. `inputs` contains those values, as the user wrote them. `name` is the Python name
    for the program, and `libraries` are the names of programs whose functions the program may call.
    `file` is the file that `%tfrt` runs.
    """

    output: tuple[str, ...] | None = None
    work_queue: str | None = None
    function: str | None = None
    timeout: float | None = None
    memory: str | None = None
    wait: bool = True
    expect_error: bool = False
    parallel_for: str | None = None
    level: int | None = None
    emit: str | None = None
    explore: bool = False
    slow: float = 1.0
    step: bool = False
    inputs: tuple[str, ...] = ()
    name: str | None = None
    libraries: tuple[str, ...] = ()
    host: str | None = None
    file: str | None = None
    help: bool = False


def parse_options(line: str, *, of_file: bool = False) -> RunOptions:
    """Parse the options in `line`. `of_file` means that the line also names a file.

    Raises:
        OptionError: if the line is invalid. The message is one line and contains the most similar
            known spelling, if any.
    """
    magic = "%tfrt" if of_file else "%%tfrt"
    if len(line) > MAX_LINE:
        raise OptionError(
            f"{magic}: the line has {len(line)} characters; the maximum is {MAX_LINE}"
        )
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise OptionError(f"{magic}: {problem}") from None
    # Not `parse_args`, because the messages below say more about an unknown word.
    parsed, unknown = _parser(magic).parse_known_args(words)
    # `ARGUMENTS` does not contain the file, because `%%tfrt` has the same options but no file.
    if unknown and of_file and not unknown[0].startswith("-"):
        parsed.file = unknown.pop(0)
    if of_file and _BEGINS_PROGRAM.fullmatch(parsed.file or ""):
        raise OptionError(
            f"{magic} runs a file; to run a program from a cell, start the cell with %%tfrt"
        )
    if unknown:
        raise OptionError(_unquoted(magic, line) or _unknown(magic, unknown[0]))
    if of_file and not parsed.file and not parsed.help:
        raise OptionError("%tfrt: expected a file, .mlir or .bef; %%tfrt runs the lines below it")
    ways = [each for each in ("emit", "explore", "step") if getattr(parsed, each)]
    if len(ways) > 1:
        raise OptionError(f"{magic}: --{ways[0]} and --{ways[1]} exclude each other")
    if ways and not parsed.wait:
        raise OptionError(f"{magic}: --{ways[0]} and --no-wait exclude each other")
    for other in ("work_queue", "memory", "explore", "step") if parsed.host else ():
        if getattr(parsed, other):
            option = "--" + other.replace("_", "-")
            own = "own budget" if parsed.memory else "own work queue"
            why = f"{option} does not run on a host" if other in ways else f"the host has its {own}"
            raise OptionError(f"{magic}: --host and {option} exclude each other: {why}")
    if parsed.expect_error and (parsed.explore or not parsed.wait):
        other = "explore" if parsed.explore else "no-wait"
        raise OptionError(f"{magic}: --expect-error and --{other} exclude each other")
    if parsed.explore and parsed.output:
        raise OptionError(f"{magic}: --explore shows outcomes and returns no results for --output")
    settings = vars(parsed)
    for several in ("inputs", "libraries"):
        settings[several] = tuple(settings[several] or ())
    settings["libraries"] = tuple(name for part in settings["libraries"] for name in part)
    return RunOptions(**settings)


def help_text() -> str:
    """Return the options and examples that `%%tfrt --help` shows."""
    return _parser("%%tfrt").format_help() + "\n" + EXAMPLES


_BEGINS_PROGRAM = re.compile(r"((async|func)\.)?func|module")
_INPUT = re.compile(r"--in[ =]\s*((?:(?!\s--?[A-Za-z]).)+)")


def _unquoted(magic: str, line: str) -> str | None:
    """Return the correction of an `--in` value that contains spaces without quotes, if any."""
    for value in _INPUT.findall(line):
        quote = "'" if '"' in value else '"'
        if " " in value and value[0] not in "\"'":
            name, equals, expression = value.partition("=")
            whole = f"{name.strip()}{equals}{expression.strip()}"
            return f"{magic}: the spaces need quotes: write --in {quote}{whole}{quote}"
    return None


def _unknown(magic: str, word: str) -> str:
    if not word.startswith("-"):
        where = "one file at a time" if magic == "%tfrt" else "the program starts on the line below"
        return f"{magic}: unexpected {word!r}; {where}"
    spellings = [flag for flags in ARGUMENTS for flag in flags]
    hint = meant(word.partition("=")[0], spellings, f"the options are {', '.join(spellings)}")
    return f"{magic}: unknown option {word}; {hint}"


class _Parser(argparse.ArgumentParser):
    # Argparse's own method would print the message and end the kernel.
    def error(self, message: str) -> NoReturn:
        message = message.replace("ignored explicit argument", "takes no value, found")
        if choice := re.search(r"invalid choice: '?(.*?)'? \(choose from (.*)\)", message):
            known = [each.strip("'") for each in choice[2].split(", ")]
            message = f"{message}; {meant(choice[1], known)}".removesuffix("; ")
        raise OptionError(f"{self.prog}: {message}")


class _Once(argparse.Action):
    """Stores a value, and rejects a second value for the same option."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        value: object,
        option: str | None = None,
    ) -> None:
        if (earlier := getattr(namespace, self.dest)) is not None:
            first, second = (
                ",".join(one) if isinstance(one, tuple) else one for one in (earlier, value)
            )
            parser.error(f"{option} can be given only once, found {first} and {second}")
        setattr(namespace, self.dest, value)


@cache
def _parser(magic: str) -> _Parser:
    parser = _Parser(prog=magic, add_help=False, allow_abbrev=False)
    parser.set_defaults(file=None)
    for flags, settings in ARGUMENTS.items():
        parser.add_argument(*flags, **settings)  # type: ignore[arg-type]
    return parser


def _python_name(word: str) -> str:
    if not word.isidentifier() or keyword.iskeyword(word):
        raise argparse.ArgumentTypeError(f"{word!r} is not a Python name")
    return word


def _python_names(word: str) -> tuple[str, ...]:
    return tuple(_python_name(one.strip()) for one in word.split(","))


def _above_zero(what: str) -> Callable[[str], float]:
    def read(word: str) -> float:
        try:
            number = float(word)
        except ValueError:
            number = -1.0
        # Written so that NaN fails, too.
        if not 0 < number < float("inf"):
            raise argparse.ArgumentTypeError(f"{word!r} is not a {what} above 0")
        return number

    return read


def _read_by(parse: Callable[[str], object]) -> Callable[[str], str]:
    """Return a function that checks a word with `parse`, and returns the word unchanged."""

    def read(word: str) -> str:
        try:
            parse(word)
        except TfrtError as problem:
            raise argparse.ArgumentTypeError(problem.diagnostics[0].message) from None
        return word

    return read


ARGUMENTS: dict[tuple[str, ...], Mapping[str, object]] = {
    ("--in",): {
        "metavar": "NAME=EXPRESSION",
        "dest": "inputs",
        "action": "append",
        "help": "set the parameter %%NAME to the value of a Python expression; --in NAME alone "
        "uses the Python variable NAME;"
        ' quote a value that has spaces or quotes: --in "x=n + 1"; a BEF file has no parameter '
        "names, so its values are taken in order",
    },
    ("--as",): {
        "metavar": "NAME",
        "dest": "name",
        "action": _Once,
        "type": _python_name,
        "help": "keep the program under this Python name; the functions of the program become "
        "its methods",
    },
    ("--with",): {
        "metavar": "NAME[,NAME]",
        "dest": "libraries",
        "action": "append",
        "type": _python_names,
        "help": "programs that an earlier cell kept with --as; this program may call their "
        "functions",
    },
    ("-o", "--output"): {
        "metavar": "NAME[,NAME]",
        "action": _Once,
        "type": _python_names,
        "help": "Python names for the results; several names receive one result each; a single "
        "name receives the only result as an AsyncValue, "
        "several results as a tuple, and the results of several functions as a dictionary by "
        "function name",
    },
    ("-q", "--work-queue"): {
        "metavar": "QUEUE",
        "type": _read_by(parse_work_queue),
        "help": "s (one thread), mstd (a thread per core), mstd:N (N compute threads) or "
        "mstd:N,B (and B blocking threads); default: the host of tfrt.set_default_host, or else "
        "%%config TFRT.work_queue",
    },
    ("--host",): {
        "metavar": "NAME",
        "action": _Once,
        "type": _python_name,
        "help": "run on the HostContext with this Python name; its settings and threads stay "
        "unchanged; "
        "remote kernels need a HostContext with a DaskWorkQueue",
    },
    ("-f", "--function"): {
        "metavar": "FUNCTION",
        "type": lambda word: word.removeprefix("@"),
        "help": "run only this function; default: every function whose arguments have values",
    },
    ("-t", "--timeout"): {
        "metavar": "SECONDS",
        "type": _above_zero("number of seconds"),
        "help": "cancel the run if it takes longer than this",
    },
    ("--memory",): {
        "metavar": "SIZE",
        "type": _read_by(parse_budget),
        "help": "memory budget for values, tasks, tensors, and buffers, "
        "for instance 500M or 2G; default: half of what the process may use; "
        "a host of your own has its own budget, so this option is rejected for it",
    },
    ("--no-wait",): {
        "dest": "wait",
        "action": "store_false",
        "help": "return immediately; the board updates until the run finishes",
    },
    ("--expect-error",): {
        "action": "store_true",
        "help": "let the cell succeed only if its program is invalid or its run fails",
    },
    ("--parallel-for",): {
        "metavar": "OPTIONS",
        "help": "split scf.parallel of compiled functions into tasks; quote several options: "
        "'num-workers=4 min-task-size=100', or '' for the default options; a first line "
        "`// parallel-for: OPTIONS` does the same",
    },
    ("-O",): {
        "dest": "level",
        "metavar": "LEVEL",
        "type": int,
        "choices": (0, 1),
        "help": "-O0 lowers every task and async function to a coroutine, -O1 takes shortcuts "
        "where no coroutine is needed; "
        "default: -O1 for a run, -O0 for --emit",
    },
    ("--emit",): {
        "metavar": "STAGE",
        "choices": STAGES,
        "help": f"instead of running the program, show a stage: {', '.join(STAGES)};"
        " dot is the graph in Graphviz's language; async-runtime and the stages listed after it "
        "apply only to compiled functions",
    },
    ("--explore",): {
        "action": "store_true",
        "help": "run every order of the program's steps that can make a difference, and show the"
        " outcomes and races; for small programs",
    },
    ("--slow",): {
        "metavar": "FACTOR",
        "type": _above_zero("factor"),
        "default": 1.0,
        "help": "make each operation of a host program take this many times as long; results "
        "stay the same",
    },
    ("--step",): {
        "action": "store_true",
        "help": "run one operation at a time: the board lists the ready operations, and a click "
        "runs "
        "one; without a page, they run in program order; remote kernels run locally",
    },
    ("--help",): {"action": "store_true", "help": "show this"},
}
"""The options: each key lists the spellings of an option, and each value holds the arguments for
`ArgumentParser.add_argument`.
"""
