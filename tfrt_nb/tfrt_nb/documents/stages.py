"""Show a program at each stage of its compilation, with the operation for each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tfrt_nb.compiled.module import CompiledModule
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.internal_errors import internal_errors_caught, location_of
from tfrt_nb.jit.stages import Stage
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.printing import MlirPrinter
from tfrt_nb.programs import Program
from tfrt_runtime.bef.listing import listed_kernels
from tfrt_runtime.diagnostics import TfrtError, error

MAX_OPERATIONS = 2_000
"""The maximum number of operations in a program whose stages are shown.

A larger program cannot be read line by line, but `--emit` writes its text.
"""
MAX_COMPARED = 4_000
"""The maximum total number of lines in two stages that are compared."""
_CODE = {
    Stage.COROUTINE: ("LLVM IR", "coroutines as LLVM IR: suspension points are intrinsics"),
    Stage.LLVM_SPLIT: (
        "LLVM IR, split",
        "each coroutine is a ramp function plus functions that resume it",
    ),
    Stage.ASM: ("assembly", "for this processor"),
}
_BYTES = 8
"""The number of bytes of a file in one line, which leaves room for their meaning."""
_LOCATION = re.compile(r'loc\("(?:[^"\\]|\\.)*":(\d+):(\d+)\)$')

Line = tuple[str, int | None]
"""A line, and the operation of the program that it represents, or None."""


@internal_errors_caught()
def stages(program: Program, document: ProgramDocument) -> list[dict[str, Any]]:
    """Return the stages of a program after its source, in order.

    `document` is the program's document. Each stage has `name`, `about`, and `text`. For each line,
    `ops` contains the operation, or -1. `marks` contains a character for each line: `+` for a new
    line, `-` for a removed one, or a space for a line of the previous stage. Passes that changed
    nothing are named in the next stage's `about`.

    Raises:
        TfrtError: if the program is too large, or cannot be compiled.
    """
    count = len(document.data["operations"])
    if count > MAX_OPERATIONS:
        limit = f"stages are shown for at most {MAX_OPERATIONS} operations, and this program has"
        raise TfrtError(error(f"{limit} {count}; to see a stage as text, use %%tfrt --emit STAGE"))
    operations = _Operations(program, document)
    rows: list[dict[str, Any]] = []
    if program._compiled is not None:
        rows += _compiled(program._compiled, operations)
    lines = list(_listed(program, document, operations))
    rows.append(_stage("BEF", "the bytes that the runtime reads, and their meaning", lines))
    return rows


def _listed(program: Program, document: ProgramDocument, operations: _Operations) -> Iterator[Line]:
    """Yield the lines of the program's file. Lines of compiled functions state their locations."""
    operation: int | None = None
    for line, number in listed_kernels(program.bef, _BYTES):
        place = _LOCATION.search(line)
        if number is not None:
            operation = document.operation_of(number)
        elif place is not None:
            operation = operations.at((int(place[1]), int(place[2])))
        # Another item of the file starts on this line; a shorter line would continue the previous
        # item.
        elif len(line) > 8 + 3 * _BYTES:
            operation = None
        yield line, operation


class _Operations:
    """Finds operations by source locations."""

    def __init__(self, program: Program, document: ProgramDocument) -> None:
        self._name, self._document = program.name, document
        self._first: dict[int, int] = {}
        for row in document.data["operations"]:
            self._first.setdefault(row["line"], row["id"])

    def at(self, place: tuple[int, int] | None) -> int | None:
        """Return the operation at a line and column.

        If no operation starts there, return the first operation of the line.
        """
        if place is None:
            return None
        return self._document.places.get((self._name, *place), self._first.get(place[0]))


def _stage(
    name: str, about: str, lines: Sequence[Line], marks: str | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "about": about,
        "text": "\n".join(line for line, _ in lines).encode("utf-8", "replace").decode(),
        "ops": [-1 if operation is None else operation for _, operation in lines],
        "marks": " " * len(lines) if marks is None else marks,
    }


def _compiled(compiled: CompiledModule, operations: _Operations) -> Iterator[dict[str, Any]]:
    """Yield the compiled functions after each pass that changes them, and then LLVM's stages."""
    with deep_stack():
        before = _printed(compiled.module, operations)
        idle: list[str] = []
        for name, module in compiled.lowering_steps():
            after = _printed(module, operations)
            if [text for text, _ in after] == [text for text, _ in before]:
                idle.append(name)
                continue
            about = f"these passes before it changed nothing: {', '.join(idle)}" if idle else ""
            yield _stage(name, about, *_compared(before, after))
            before, idle = after, []
        yield from (
            _stage(*_CODE[stage], [(line, operations.at(place)) for line, place in placed])
            for stage, placed in compiled.placed_code()
        )


def _compared(before: Sequence[Line], after: Sequence[Line]) -> tuple[Sequence[Line], str | None]:
    """Return the merged lines of two stages, and which lines are new or removed."""
    if len(before) + len(after) > MAX_COMPARED:
        return after, None
    lines: list[Line] = []
    marks = ""
    # By default, difflib ignores frequent lines of a long text, such as closing braces.
    matcher = SequenceMatcher(
        None, [text for text, _ in before], [text for text, _ in after], autojunk=False
    )
    for kind, old, old_end, new, new_end in matcher.get_opcodes():
        if kind == "equal":
            lines += after[new:new_end]
            marks += " " * (new_end - new)
        else:
            lines += [*before[old:old_end], *after[new:new_end]]
            marks += "-" * (old_end - old) + "+" * (new_end - new)
    return lines, marks


class _CountedLines(StringIO):
    """A text stream that counts its lines."""

    line = 0

    def write(self, text: str) -> int:
        self.line += text.count("\n")
        return super().write(text)


class _PlacedPrinter(MlirPrinter):
    """A printer that records the first operation that starts on each line."""

    def __init__(self, stream: _CountedLines) -> None:
        super().__init__(stream)
        self._counted = stream
        self.begun: dict[int, Operation] = {}

    def print_op(self, op: Operation) -> None:
        self.begun.setdefault(self._counted.line, op)
        super().print_op(op)


def _printed(module: ModuleOp, operations: _Operations) -> list[Line]:
    stream = _CountedLines()
    printer = _PlacedPrinter(stream)
    printer.name_values(module)
    printer.print_op(module)
    return [
        (text, _of(printer.begun.get(n), operations))
        for n, text in enumerate(stream.getvalue().split("\n"))
    ]


def _of(op: Operation | None, operations: _Operations) -> int | None:
    place = None if op is None or isinstance(op, ModuleOp) else location_of(op)
    return None if place is None else operations.at((place.line, place.column))
