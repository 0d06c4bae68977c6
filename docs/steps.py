"""What the passes of a run make of the examples of the async dialect: each step with the lines that it changes.

The steps are those of a run, and each program is run at `-O0` and at `-O1`: another result is an error of the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from tfrt_nb.cli.examples import run_example
from tfrt_nb.language.examples import example
from tfrt_nb.language.operations import names
from tfrt_nb.passes.pipeline import executable_pipeline
from tfrt_nb.programs import Program

MORE = Path(__file__).with_name("steps.mlir")
"""Programs for passes that the examples do not need."""
AROUND = 1
"""Lines shown on each side of a changed one."""


@dataclass(frozen=True)
class Step:
    """What a pass made of a program, as hunks of lines marked `-` for gone, `+` for new and a space."""

    name: str
    hunks: tuple[str, ...]

    def showing(self, operation: str, *, gone: bool) -> str:
        """The shortest hunk in which the operation is new, or gone; "" if there is none."""
        marks = "-+" if gone else "+-"
        more, fewer = (
            re.compile(rf"^\{mark}.*(?<![.\w]){re.escape(operation)}(?![.\w])", re.MULTILINE)
            for mark in marks
        )
        found = (one for one in self.hunks if len(more.findall(one)) > len(fewer.findall(one)))
        return min(found, key=len, default="")


@cache
def steps() -> tuple[Step, ...]:
    """The steps of all programs that change something.

    Raises:
        AssertionError: if a program does not do the same with and without the shortcuts.
    """
    programs = dict.fromkeys(filter(None, map(example, names("async."))))
    programs |= dict.fromkeys(MORE.read_text("utf-8").split("// -----\n"))
    return tuple(step for program in programs for level in (0, 1) for step in _of(program, level))


def _of(program: str, level: int) -> Iterator[Step]:
    plain, fast = (run_example(program, f"-O{one}") for one in (0, 1))
    assert plain == fast, f"{program}\n{plain}\n{fast}"
    half = Program.from_source(program, "example.mlir", level=level).compiled
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
    """What replaces an operation of users, or makes another one, as Markdown; "" if no program has that step."""
    is_of_users = bool(example(operation))
    found = [(one.showing(operation, gone=is_of_users), one.name) for one in steps()]
    hunk, name = min(
        (one for one in found if one[0]), key=lambda one: len(one[0]), default=("", "")
    )
    word = "Replaced" if is_of_users else "Made"
    return f"{word} by `{name}`:\n\n```diff\n{hunk}\n```" if hunk else ""


def changed(pass_name: str) -> str:
    """The shortest change that a pass makes in one of the programs, as Markdown."""
    found = ["\n  ...\n".join(one.hunks) for one in steps() if one.name == pass_name]
    return f"```diff\n{min(found, key=len)}\n```" if found else ""
