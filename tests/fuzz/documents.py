"""Check a run's own reports: its document is complete, its trace nests, and errors have places.

Errors must always be at the same places. Corpus programs and random programs run watched, at each
level, on each tier, and after passes.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.random_async_programs import random_program as random_async_program
from tests.fuzz.random_programs import random_program
from tests.fuzz.running import Runner, ends

from tfrt_nb.cli.opt import processed
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.documents.trace import write_trace
from tfrt_nb.passes.pipeline import parse_pipeline
from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.tracing.events import KINDS

NAME = "document.mlir"
QUEUES = ("s", "mstd:2")
SECONDS = 3.0
"""A run that takes longer is cancelled, and not compared."""
FUNCTIONS = 2
"""The number of functions of a program that are run."""
PASSES = ("canonicalize", "cse", "dce", "inline", "convert-scf-to-cf")
FOLDERS = ("golden", "programs/run", "programs/failing", "tfrt_nb", "runtime")
AS_PRINTED = argparse.Namespace(mlir_print_op_generic=False, func_dialect=None)
RACY = ("random", "clock", "time", "benchmark", "cancel", "explore", "RUN: any order")
"""Words in programs that do not fail in the same way each time."""


@functools.cache
def corpus() -> list[str]:
    """Return the tests' programs that are short and finish by themselves."""
    tests = Path(__file__).parents[1]
    paths = [path for folder in FOLDERS for path in sorted((tests / folder).rglob("*.mlir"))]
    texts = [path.read_text(errors="replace") for path in paths if "endless" not in path.name]
    return [text for text in texts if len(text) < 6000 and "endless" not in text]


def document_program(chance: random.Random) -> str:
    """Return a program of the corpus, or a random one of either kind."""
    kind = chance.random()
    if kind < 0.6:
        return chance.choice(corpus())
    make = random_program if kind < 0.8 else random_async_program
    return make(chance.getrandbits(40), most=int(2 ** chance.uniform(1.0, 4.0)))


def is_whole(runner: Runner, text: str, chance: random.Random) -> None:
    """Check that each run's document and trace are complete.

    Errors must be at the same places on all tiers and levels.
    """
    try:
        program = Program.from_source(text, NAME)
        functions = [one.name for one in program.functions if not one.argument_types]
    except TfrtError:
        return
    queue = chance.choice(QUEUES)
    for function in chance.sample(functions, min(FUNCTIONS, len(functions))):
        expected = _watched(runner, program, function, queue)
        if expected is None or queue != "s" or any(word in text for word in RACY):
            continue
        for way, source, found in _other_ways(runner, program, function, text, chance):
            if found is not None and found != _without_removed(expected, text, source):
                runner.problems.append(
                    f"errors of @{function} differ {way}\n{expected}\n{found}\n{text}"
                )


Errors = Counter[tuple[str, str]]
"""How often each error was raised, by its message and its operation."""


def _watched(runner: Runner, program: Program, function: str, queue: str) -> Errors | None:
    """Run a function watched, check its document and its trace, and return its errors.

    Return None if the run was cancelled.
    """
    try:
        run = program.run(runner.host(queue), function, output=lambda _: None, watch=True)
    except TfrtError:
        return None
    document = RunDocument(program, run)
    is_complete = _complete(runner, run)
    for problem in (*open_operations(document), *unresolved_values(document)):
        runner.problems.append(f"{problem}\n@{function} on {queue}\n{program.text}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(str(path), [document])
        events = json.loads(path.read_text())["traceEvents"]
    for problem in [*partly_overlapping(events), *broken_pairs(events)]:
        runner.problems.append(f"{problem}\n@{function} on {queue}\n{program.text}")
    return errors_of(run, program.text) if is_complete else None


def _complete(runner: Runner, run: Execution) -> bool:
    """Wait for a run; return False if it had to be cancelled."""
    runner.ran += 1
    if run.wait(SECONDS):
        return True
    run.cancel("its time is over")
    ends(run)
    return False


def _other_ways(
    runner: Runner, program: Program, function: str, text: str, chance: random.Random
) -> Iterator[tuple[str, str, Errors | None]]:
    """Yield the program and the errors of a function for other ways of running it."""
    is_host = program._compiled is None
    ways = (
        [("in machine code", text, Tier.COMPILED, 1)]
        if is_host
        else [("at -O0", text, Tier.AUTO, 0)]
    )
    if not is_host:
        passes = chance.choice(PASSES)
        _, printed = processed(text, NAME, parse_pipeline(passes), AS_PRINTED)
        if printed is not None:
            ways.append((f"after {passes}", printed, Tier.AUTO, 1))
    for way, source, tier, level in ways:
        try:
            other = Program.from_source(source, NAME, level=level)
            run = other.run(
                runner.host("s"), function, output=lambda _: None, tier=tier, watch=False
            )
        except TfrtError:
            continue
        yield way, source, errors_of(run, source) if _complete(runner, run) else None


def _without_removed(expected: Errors, before: str, after: str) -> Errors:
    """Return the errors except those of operations that a pass removed.

    As in MLIR, passes may remove operations whose results are unused.
    """

    def is_kept(name: str) -> bool:
        is_pure = name.startswith(("arith.", "math.", "memref."))
        return not is_pure or after.count(name) >= before.count(name)

    return Counter({one: count for one, count in expected.items() if is_kept(one[1])})


def errors_of(run: Execution, text: str) -> Errors:
    """Return the errors of a run by their operations, because passes move lines."""
    return Counter((one.message, _operation(one, text)) for one in run.diagnostics)


def _operation(diagnostic: Diagnostic, text: str) -> str:
    """Return the name of the operation that a diagnostic is at; "" for none."""
    place = diagnostic.location
    lines = text.splitlines()
    if not isinstance(place, Location) or not 0 < place.line <= len(lines):
        return ""
    words = lines[place.line - 1][place.column - 1 :].split("=", 1)[-1].split("(")[0].split()
    return words[0].strip('"').removeprefix("func.") if words else ""


def open_operations(document: RunDocument) -> Iterator[str]:
    """Yield the operations that have started but not finished in the events of a finished run."""
    document.update()
    if document.running:
        yield f"{len(document.running)} operations are running though the run is over"
    if document.dropped:
        return
    columns, operations = document.columns, document.program.data["operations"]
    is_begun: dict[tuple[int, int], bool] = {}
    names = ("kind", "op", "value", "instance")
    for number, op, value, instance in zip(*(columns[name] for name in names), strict=True):
        kind, key = KINDS[number], (op, instance)
        if op < 0:
            continue  # in a native function, which the source does not contain
        if kind in ("begin", "resume"):
            is_begun[key] = True
        elif (
            kind == "end" and value < 0 and operations[op]["results"] and not is_code(document, op)
        ):
            pass  # its results come later
        elif kind in ("end", "suspend", "available", "error", "skipped", "cancelled"):
            is_begun[key] = False
    for (op, _), is_open in is_begun.items():
        if is_open:
            yield f"an operation began and has no end: {operations[op]['kernel']}"


def unresolved_values(document: RunDocument) -> Iterator[str]:
    """Yield the values without a state in the document of a run that finished without errors."""
    states = document.states()
    if any(state == "running" for state, _ in states.values()):
        yield "a value is running though the run is over"
    operations, begun = document.program.data["operations"], set(document.columns["op"])
    if document.status != "done" or document.dropped:
        return
    for op in sorted(begun - {-1}):
        if not is_code(document, op) and not all(n in states for n in operations[op]["results"]):
            yield (
                f"the results of an operation that began are unresolved: {operations[op]['kernel']}"
            )


def is_code(document: RunDocument, op: int) -> bool:
    """Return whether an operation is one of compiled code."""
    data = document.program.data
    return data["functions"][data["operations"][op]["function"]]["kind"] in ("func", "async")


def partly_overlapping(events: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the slices of a trace that partly overlap others of their thread.

    A slice must either nest in another one or be disjoint from it.
    """
    rows: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for one in events:
        if one["ph"] == "X":
            begin, end = round(1000 * one["ts"]), round(1000 * (one["ts"] + one["dur"]))
            rows[one["tid"]].append((begin, -end, one["name"]))
    for row in rows.values():
        around: list[tuple[int, str]] = []
        for begin, minus_end, name in sorted(row):
            while around and around[-1][0] <= begin:
                around.pop()
            if around and -minus_end > around[-1][0]:
                yield f"slices overlap: {around[-1][1]} and {name}"
            around.append((-minus_end, name))


def broken_pairs(events: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the asynchronous slices and arrows of a trace that have no start or no end."""
    for first, last in ("be", "sf"):
        times: dict[str, dict[tuple[str, int], float]] = {first: {}, last: {}}
        for one in events:
            if one["ph"] in times:
                key = one["cat"], one["id"]
                if key in times[one["ph"]]:
                    yield f"two events '{one['ph']}' have the same id: {one['name']}"
                times[one["ph"]][key] = one["ts"]
        if times[first].keys() != times[last].keys():
            yield f"events '{first}' and '{last}' are not the same number"
        elif any(times[first][key] > times[last][key] for key in times[first]):
            yield f"an event '{last}' is before its '{first}'"
