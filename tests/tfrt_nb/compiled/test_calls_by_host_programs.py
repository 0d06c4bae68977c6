"""Test programs of both kinds: those in the folder `both`, whose comments say what they do.

    // call: FUNCTION ARGUMENT...      then for this call:
    // result: TYPE STATE VALUE        one line per result
    // error: MESSAGE, at LINE         one line per diagnostic, with the line that it points at
    // output: TEXT                    one line per line of output

Each runs on both queues, from its text and from its BEF file, and leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tfrt_nb import Program
from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
from tfrt_nb.dialects.printer import print_module
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import Diagnostic, Location
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process

PROGRAMS = sorted((Path(__file__).parent / "both").glob("*.mlir"))
SECONDS = 120


@dataclass
class Call:
    """A call, and its outcome."""

    function: str
    arguments: list[object]
    results: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)


def calls_in(text: str) -> list[Call]:
    """Return the calls that a program's comments state."""
    calls: list[Call] = []
    for line in text.splitlines():
        key, _, rest = line.removeprefix("// ").partition(": ")
        if key == "call":
            function, *words = rest.split()
            calls.append(Call(function, [argument(word) for word in words]))
        elif key in ("result", "error", "output"):
            getattr(calls[-1], key if key == "output" else f"{key}s").append(rest)
    return calls


def argument(word: str) -> object:
    if word in ("true", "false"):
        return word == "true"
    return float(word) if "." in word else int(word)


def made(program: Program, host: HostContext, call: Call, text: str) -> Call:
    """Make a call, and return it with its actual outcome."""
    execution = program.run(host, call.function, call.arguments, output=lambda _: None)
    assert isinstance(execution, Execution)
    assert execution.wait(SECONDS), execution.diagnostics
    results = [repr(value)[len("<AsyncValue ") : -1] for value in execution.results]
    errors = [
        f"{problem.message}, at {pointed(problem, text)}" for problem in execution.diagnostics
    ]
    return Call(call.function, call.arguments, results, errors, execution.output.splitlines())


def pointed(problem: Diagnostic, text: str) -> str:
    """Return the line that a diagnostic points at."""
    assert isinstance(problem.location, Location)
    return text.splitlines()[problem.location.line - 1].strip()


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("form", ["text", "file"])
@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_both_kinds_does_what_it_says(path: Path, queue: str, form: str) -> None:
    text = path.read_text()
    program = Program.from_source(text, path.name)
    if form == "file":
        program = Program.from_bef(program.bef, f"{path.stem}.bef")
    expected = calls_in(text)
    assert expected, "a program has to call something"
    with HostContext(queue) as host:
        assert [made(program, host, call, text) for call in expected] == expected


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_file_turns_back_into_a_text_that_becomes_the_same_file(path: Path) -> None:
    first = Program.from_source(path.read_text(), path.name)
    text = print_module(bef_to_mlir(BefFile.load(first.bef)))
    second = Program.from_source(text, path.name)

    assert print_module(bef_to_mlir(BefFile.load(second.bef))) == text


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_host_at_rest_has_released_what_a_task_used_after_its_run(queue: str) -> None:
    path = Path(__file__).parent / "both" / "task_uses_tensor.mlir"
    process = native_process()
    with HostContext(queue) as host:
        before = process.live_values(), process.live_tensors
        execution = Program.from_source(path.read_text(), path.name).run(host, "main", [])
        execution.wait(SECONDS)
        del execution

        assert host.quiesce(SECONDS)
        assert (process.live_values(), process.live_tensors) == before
