"""Programs after passes: after they are printed and parsed again, they do the same as before.

There is a net for the counting passes, one for each pass and pairs of passes on async programs, and
one for the same on host programs. A share of the cases (`golden`) comes from the corpus.
"""

from __future__ import annotations

import argparse
import functools
import random
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.async_interpreter import interpret
from tests.fuzz.random_async_programs import HEADS
from tests.fuzz.random_async_programs import random_program as random_async_program
from tests.fuzz.random_runs import ALL_QUEUES, ENOUGH_SECONDS, host_program
from tests.fuzz.running import LEAKS_ON_PURPOSE, Runner, ends
from tests.fuzz.watched_memory import WatchedMemory

from tfrt_nb.cli.opt import processed
from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.passes.pipeline import PASSES, parse_pipeline
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime.objects import UNKNOWN
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution

GOLDEN = Path(__file__).parents[1] / "golden"
GOLDEN_SHARE = 0.25

LOWERED = "async-func-to-async-runtime,async-to-async-runtime"
ERROR_PATHS = "async-drop-on-error-paths{explicit-only=true}"
"""The pass needed by a program that counts by hand around operations that may fail.

Lowering creates paths that skip its drops.
"""
OF_LOWERED = "async-runtime-ref-counting"
COUNTING = (
    "async-ref-counting",
    "async-ref-counting,async-ref-counting-optimization",
    f"{LOWERED},{OF_LOWERED}",
    f"{LOWERED},{OF_LOWERED},async-runtime-ref-counting-opt",
    f"{LOWERED},convert-scf-to-cf,{OF_LOWERED}",
)
OF_LOWERING = {"Awaited async operand is in error state", f"error: {UNKNOWN}"}
"""The errors of a lowered program, as the async dialect describes them.

The first occurs at an await of a failed object; the second in an async function whose assertion has
become a branch, which has no message.
"""
LAST_LINE = "// passes: "
AFTERWARDS = ("", ",canonicalize", ",cse", ",dce", ",canonicalize,cse", ",inline")
"""The passes that may follow the counting passes."""
REMOVING = ("canonicalize", "cse", "dce", "async-parallel-for")
PRIVATE = re.compile(r'\bprivate\s*@"?([^"(]+)"?\s*\(')
"""The name of a private function in a program's text."""
BY_RULE = "async-runtime-policy-based-ref-counting"
"""A pass that is correct only for programs that follow its rules."""
ASYNC_PASSES = (*COUNTING, LOWERED, *(name for name in PASSES if name != BY_RULE))
HOST_PASSES = ("canonicalize", "cse", "dce", "inline", "tfrt-print-stream")
AS_PRINTED = argparse.Namespace(mlir_print_op_generic=False, func_dialect=None)


@dataclass(frozen=True)
class Seen:
    """The observed behavior of a program: its functions' results, its output, and its errors."""

    results: tuple[object, ...]
    output: str
    errors: frozenset[str]


Write = Callable[[random.Random], str]


def golden_or(write: Write, *folders: str) -> Write:
    """Return a writer that mixes programs of the corpus with random ones."""

    @functools.cache
    def corpus() -> list[str]:
        paths = [path for one in folders for path in sorted((GOLDEN / one).rglob("*.mlir"))]
        return [text for text in (path.read_text() for path in paths) if _runs(text)]

    def make(chance: random.Random) -> str:
        return chance.choice(corpus()) if chance.random() < GOLDEN_SHARE else write(chance)

    return make


def _with_passes(write: Write, choose: Write) -> Write:
    """Return a writer of programs whose last line lists the passes.

    That way, a case can be reproduced, and keeps its passes when it is reduced.
    """

    def make(chance: random.Random) -> str:
        text = write(chance)
        passes = _completed(text, choose(chance))
        return f"{text}\n{LAST_LINE}{passes}\n"

    return make


def _completed(text: str, passes: str) -> str:
    """Return `passes`, with those that a lowered program with counts by hand needs.

    A lowered program that has only counts by hand is taken as counted, so its pipeline must finish
    the counting.
    """
    chosen = passes.split(",")
    lowering = [index for index, one in enumerate(chosen) if one.endswith("to-async-runtime")]
    if "async.runtime.drop_ref" not in text or not lowering:
        return passes
    is_counted = any("ref-counting" in one for one in chosen)
    chosen[lowering[-1] + 1 : lowering[-1] + 1] = [
        ERROR_PATHS,
        *([] if is_counted else [OF_LOWERED]),
    ]
    return ",".join(chosen)


def _passes_of(text: str) -> str:
    return text.rpartition(LAST_LINE)[2].strip() if LAST_LINE in text else ""


def _runs(text: str) -> bool:
    """Return whether a program of the corpus is meant to run, and is not a special case.

    Special cases are those about passes, messages, and leaks.
    """
    if text.startswith("// pipeline:") or LEAKS_ON_PURPOSE in text or " loc(" in text:
        return False  # its messages have places, which are not printed
    try:
        functions = Program.from_source(text, "golden.mlir").functions
    except TfrtError:
        return False
    return any(
        not one.argument_types and ("tfrt." in text or one.name == "main") for one in functions
    )


def small_async_program(chance: random.Random) -> str:
    """Return an async program that compiles quickly."""
    return random_async_program(chance.getrandbits(40), int(2 ** chance.uniform(1.0, 4.3)))


def _counting(chance: random.Random) -> str:
    return chance.choice(COUNTING) + chance.choice(AFTERWARDS)


def _of_async(chance: random.Random) -> str:
    """Draw one or two passes, at most one of which counts references.

    No pass adds tasks after counting.
    """
    chosen = chance.sample(ASYNC_PASSES, chance.randrange(1, 3))
    if "counting" in chosen[0] and ("counting" in chosen[-1] or "parallel-for" in chosen[-1]):
        chosen = chosen[:1]
    return ",".join(chosen)


def _of_host(chance: random.Random) -> str:
    return ",".join(chance.sample(HOST_PASSES, chance.randrange(1, 3)))


_async_program = golden_or(small_async_program, "async")
counted_program = _with_passes(_async_program, _counting)
passed_program = _with_passes(_async_program, _of_async)
passed_host_program = _with_passes(golden_or(host_program, "tfrt"), _of_host)


@functools.cache
def watched_memory() -> WatchedMemory:
    """Return the instance of this child."""
    return WatchedMemory()


def counted(runner: Runner, text: str, chance: random.Random) -> None:
    """Run a counting pass's output with checks, and without them under watch, at both levels."""
    _run_printed(runner, text, [(0, True), (0, False), (1, True), (1, False)], chance)


def after_passes(runner: Runner, text: str, chance: random.Random) -> None:
    """Check that the output of passes can be parsed, and does what the program did.

    Reference counts must be balanced.
    """
    _run_printed(runner, text, [(0, chance.random() < 0.5), (1, chance.random() < 0.5)], chance)


def _run_printed(
    runner: Runner, text: str, modes: Sequence[tuple[int, bool]], chance: random.Random
) -> None:
    """Run the printed program in `modes`.

    A mode is a level, and whether references are checked or freed memory is watched.
    """
    allowed = _allowed(runner, text)
    printed = _printed(runner, text)
    if printed is None:
        return
    for level, checked in modes:
        found, wrong = _run(runner, printed, level, checked, chance.choice(ALL_QUEUES))
        if not any(
            found.output == one.output and _may_fail(found.errors, one.errors) for one in allowed
        ):
            wrong.append("it does something else")
        if wrong:
            how = "checked" if checked else "watched"
            runner.problems.append(
                f"after {_passes_of(text)} at -O{level}, {how}: "
                f"{wrong[0]}\n{printed}\n{wrong}\n{allowed}\n{found}"
            )


def host_after_passes(runner: Runner, text: str, _: random.Random) -> None:
    """Check the same for host programs: each function without arguments, on one thread.

    Private functions, which `inline` removes if nothing calls them, are checked through their
    callers.
    """
    printed = _printed(runner, text)
    if printed is None:
        return
    private = set(PRIVATE.findall(text))
    before, again, after = (
        _of_functions(runner, Program.from_source(one, "random.mlir"), private)
        for one in (text, text, printed)
    )
    # The comparison is by text, because NaN is not equal to itself. Some programs of the corpus
    # print times and addresses, so a second run tells whether a program is deterministic.
    if repr(before) == repr(again) != repr(after):
        runner.problems.append(
            f"after {_passes_of(text)}: it does something else\n{printed}\n{before}\n{after}"
        )


def _of_functions(
    runner: Runner, program: Program, private: Collection[str]
) -> dict[str, tuple[object, ...]]:
    """Return the results, the output, and the errors of each function that can be run.

    Lines and errors are sorted.
    """
    runs = {}
    for function in program.functions:
        if not function.argument_types and function.name not in private:
            execution = program.run(runner.host("s"), function.name, output=lambda _: None)
            found = _seen(runner, execution)
            # Prints that no chain orders may change their order if an operation is removed.
            lines = "\n".join(sorted(found.output.splitlines()))
            runs[function.name] = found.results, lines, sorted(found.errors)
    return runs


def _allowed(runner: Runner, text: str) -> list[Seen]:
    """Return what a program may do after its passes.

    As in MLIR, some passes remove unused operations even if they would fail.
    """
    expected = _expected(runner, text)
    removing = [name for name in _passes_of(text).split(",") if name in REMOVING]
    if not expected.errors or not removing:
        return [expected]
    _, without = processed(text, "random.mlir", parse_pipeline(",".join(removing)), AS_PRINTED)
    return [expected, *([] if without is None else [_expected(runner, without)])]


def _expected(runner: Runner, text: str) -> Seen:
    """Return what a program does, with all its possible errors.

    The interpreter knows the operations of random programs.
    """
    if not text.startswith(HEADS):
        program = Program.from_source(text, "random.mlir", level=0)
        return _seen(runner, program.run(runner.host("s"), output=lambda _: None))
    found = interpret(parse_module(text, "random.mlir"))
    return Seen((), found.output, frozenset(message for message, _ in found.errors))


def _printed(runner: Runner, text: str) -> str | None:
    """Return the program after its passes, or None.

    The result is None if a pass rejects the program, or leaves something that a later one rejects
    with a message.
    """
    pipeline = parse_pipeline(_passes_of(text))
    refusals, printed = processed(text, "random.mlir", pipeline, AS_PRINTED)
    if printed is None and any(
        refusal.location is None or "internal" in refusal.message for refusal in refusals
    ):
        problem = f"after {_passes_of(text)}: refused without a reason\n{refusals}"
        runner.problems.append(problem)
    # A program whose failures are already propagated is not valid source, and is rejected.
    return None if printed is None or "attributes {fallible" in printed else printed


def _run(
    runner: Runner, printed: str, level: int, checked: bool, queue: str
) -> tuple[Seen, list[str]]:
    """Return what an async program does, and the problems with its references."""
    host, memory = runner.host(queue), watched_memory()
    runtime = host.shared_context(HostCode)
    with nullcontext() if checked else memory.compiling():
        program = Program.from_source(printed, "random.mlir", level=level)
        program.compile()
        assert program._compiled is not None
        runtime.check(program._compiled)
        runtime.runtime.checked = checked
        found = _seen(runner, program.run(host, output=lambda _: None))
    host.quiesce(ENOUGH_SECONDS)
    if not checked:
        return found, memory.look()
    left = runtime.runtime.live_objects()
    return found, ["objects are left over", str(left)] if left else []


def _may_fail(found: frozenset[str], possible: frozenset[str]) -> bool:
    """Return whether the found errors are some of the possible ones, or both are empty."""
    return bool(found) == bool(possible) and found - OF_LOWERING <= possible


def _seen(runner: Runner, execution: Execution) -> Seen:
    runner.ran += 1
    if not execution.wait(ENOUGH_SECONDS):
        runner.problems.append("a program does not end\n")
        execution.cancel()
        ends(execution)
    results = [v.result(0) if v.exception(0) is None else None for v in execution.results]
    return Seen(tuple(results), execution.output, frozenset(_messages(execution.diagnostics)))


def _messages(diagnostics: Iterable[object]) -> Iterable[str]:
    """Yield the messages without their places, which passes change."""
    return (re.sub(r"^\S+:\d+:\d+: error: ", "", str(one)) for one in diagnostics)
