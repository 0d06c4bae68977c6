"""A program as pages have it: its document, its layout, its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfrt_nb.documents.layout import layout
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.programs import Program
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.diagnostics import TfrtError

MAX_SOURCE = 4_000_000
"""Of a longer text pages have the beginning."""


class PageProgram:
    """The part of a run document that does not change (`run.ProgramOnPage`)."""

    def __init__(self, program: Program) -> None:
        self._program = program
        with collector_paused():
            self.document = ProgramDocument(program)
            data = self.document.data
            placed = layout(data)
        source = program.text[:MAX_SOURCE].encode("utf-8", "replace").decode()
        if (more := len(program.text) - MAX_SOURCE) > 0:
            source += f"\n… and {more} more characters"
        self.body: Mapping[str, Any] = {"program": data, "layout": placed, "source": source}
        self._starts = [0]
        for line in program.text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def stages(self) -> dict[str, Any]:
        """What becomes of the program on its way to the processor, or the `problem` with that."""
        # Here, because most programs are not looked at in this way.
        from tfrt_nb.documents.stages import stages

        try:
            return {"rows": stages(self._program, self.document), "problem": ""}
        except TfrtError as problem:
            return {"rows": [], "problem": problem.diagnostics[0].message}

    def bef(self) -> bytes:
        """The program's file."""
        return self._program.bef

    def value_of(self, register: tuple[int, int]) -> int | None:
        """The value that a register of the program's file is; None if the text does not have it."""
        function, number = register
        values = self.document.registers[function]
        found = values[number] if number < len(values) else -1
        return None if found < 0 else found

    def value_at(self, line: int, column: int, type_: str) -> int | None:
        """The result, of a type that has `type_` in it, of the operation whose name starts there."""
        start = self._starts[line - 1] + column - 1 if line < len(self._starts) else -1
        operation = self.document.operation_at.get(start)
        if operation is None:
            return None
        values = self.body["program"]["values"]
        results = self.body["program"]["operations"][operation]["results"]
        return next((number for number in results if type_ in values[number]["type"]), None)
