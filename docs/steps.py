"""Show what each pass of a run changes in the examples of the async dialect, line by line.

Each program is run at `-O0` and at `-O1`; if the results differ, the site cannot be built.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from inspect import cleandoc, getdoc
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.context import Context

from tfrt_nb.cli.examples import run_example
from tfrt_nb.cli.main import main
from tfrt_nb.language.examples import example
from tfrt_nb.language.operations import names
from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_nb.passes.pipeline import executable_pipeline, pass_named
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module

BY_NAME = Path(__file__).with_name("passes.mlir")
"""Programs for passes that only `tfrt-nb opt` runs; the first line of each names the pass."""
MORE = Path(__file__).with_name("steps.mlir")
"""Programs for passes that the examples do not need."""
_CALLS = {
    "async.add_to_group": "call .*AddToGroup",
    "async.runtime.add_to_group": "call .*AddToGroup",
    "async.runtime.await": "call .*tfrtAsyncAwait[(]",
    "async.runtime.create": "call .*Create(Token|Value)",
    "async.runtime.is_error": "load atomic i64",
    "async.runtime.load": "= load i64, ptr",
    "async.runtime.num_worker_threads": "call .*GetNumWorkerThreads",
    "async.runtime.set_available": "call .*Emplace(Token|Value)",
    "async.runtime.set_error": "call .*SetTokenError",
    "async.runtime.store": "store i64",
}
"""For each operation that no pass replaces: the line of LLVM IR that it becomes."""
_READ_AS = {
    "async.run": "Read as an `async.region` with the runtime as its first operand.",
    "async.parallel_for": "Read as an `async.execute` around an `scf.parallel`.",
}
AROUND = 1
"""The number of lines shown on each side of a changed one."""


@dataclass(frozen=True)
class Step:
    """The changes that a pass made to a program.

    A line of a hunk starts with `-` if it was removed, with `+` if it was added, and otherwise with
    a space.
    """

    name: str
    hunks: tuple[str, ...]

    def showing(self, operation: str, *, gone: bool) -> str:
        """Return the shortest hunk that adds or removes the operation; "" if there is none."""
        marks = "-+" if gone else "+-"
        more, fewer = (
            re.compile(rf"^\{mark}.*(?<![.\w]){re.escape(operation)}(?![.\w])", re.MULTILINE)
            for mark in marks
        )
        found = (one for one in self.hunks if len(more.findall(one)) > len(fewer.findall(one)))
        return min(found, key=len, default="")


@cache
def steps() -> tuple[Step, ...]:
    """Return the steps of all programs that change anything.

    Raises:
        AssertionError: if a program does not do the same with and without the shortcuts.
    """
    programs = dict.fromkeys(filter(None, map(example, names("async."))))
    programs |= dict.fromkeys(MORE.read_text("utf-8").split("// -----\n"))
    return tuple(step for program in programs for level in (0, 1) for step in _of(program, level))


def _of(program: str, level: int) -> Iterator[Step]:
    plain, fast = (run_example(program, f"-O{one}") for one in (0, 1))
    assert plain == fast, f"{program}\n{plain}\n{fast}"
    read = parse_module(program, "example.mlir")
    before = str(read).splitlines()
    DesugarProposal().apply(Context(), read)
    if hunks := tuple(_hunks(before, str(read).splitlines())):
        yield Step(DesugarProposal.name, hunks)
    half = Program.from_source(program, "example.mlir", level=level)._compiled
    assert half is not None, program
    known = {one.name for one in executable_pipeline(level=level).passes}
    before = str(half.module).splitlines()
    for name, module in half.lowering_steps():
        after = str(module).splitlines()
        if name in known and (hunks := tuple(_hunks(before, after))):
            yield Step(name, hunks)
        before = after


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(AROUND):
        lines: list[str] = []
        for kind, old, old_end, new, new_end in group:
            if kind == "equal":
                lines += [f"  {one}" for one in before[old:old_end]]
            else:
                lines += [f"- {one}" for one in before[old:old_end]]
                lines += [f"+ {one}" for one in after[new:new_end]]
        yield "\n".join(lines)


def step_of(operation: str) -> str:
    """Return the pass that replaces or creates an operation, with its change, as Markdown.

    Operations that users write are replaced, and others are created. If no program has such a
    change, return what the operation becomes in machine code.
    """
    is_of_users = bool(example(operation))
    found = [(one.showing(operation, gone=is_of_users), one.name) for one in steps()]
    hunk, name = min(
        (one for one in found if one[0]), key=lambda one: len(one[0]), default=("", "")
    )
    word = "Replaced" if is_of_users else "Made"
    return f"{word} by `{name}`:\n\n```diff\n{hunk}\n```" if hunk else _call_of(operation)


def _call_of(operation: str) -> str:
    """Return the line of LLVM IR that an operation becomes if no pass replaces it, as Markdown."""
    if operation not in _CALLS:
        return _READ_AS.get(operation, "")
    code = Program.from_source(example(operation), "example.mlir", level=0)._compiled
    assert code is not None
    lines = code.emit("llvm").splitlines()
    line = next(line.strip() for line in lines if re.search(_CALLS[operation], line))
    return (
        f"No pass replaces it. In LLVM IR, which may call the [runtime](runtime_abi.md), it "
        f"is:\n\n```text\n{line}\n```"
    )


def changed(pass_name: str) -> str:
    """Return the shortest change that a pass makes to one of the programs, as Markdown."""
    found = ["\n  ...\n".join(one.hunks) for one in steps() if one.name == pass_name]
    return f"```diff\n{min(found, key=len)}\n```" if found else ""


def by_name() -> Iterator[tuple[str, str, str]]:
    """Yield each pass that no run uses: its name, its description, and an example before and after.

    The example is Markdown.
    """
    for program in BY_NAME.read_text("utf-8").split("// -----\n"):
        head, _, text = program.partition("\n")
        written = head.removeprefix("// ")
        name = written.partition("{")[0]
        printed, said = io.StringIO(), io.StringIO()
        with redirect_stdout(printed), redirect_stderr(said), TemporaryDirectory() as folder:
            path = Path(folder, "example.mlir")
            path.write_text(text, "utf-8")
            assert main(["opt", str(path), "-p", written]) == 0, program
        remarks = said.getvalue().replace(f"{path}:", "example.mlir:")
        made = pass_named(name)
        about = getdoc(sys.modules[made.__module__] if made.__module__.startswith("tfrt") else made)
        shown = "\n".join(filter(None, [printed.getvalue().rstrip(), remarks.rstrip()]))
        example = (
            f"`tfrt-nb opt example.mlir -p "
            f"'{written}'`:\n\n```mlir\n{text.rstrip()}\n```\n\n```mlir\n{shown}\n```"
        )
        yield name, cleandoc(about or ""), example
