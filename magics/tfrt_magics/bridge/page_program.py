"""A program as pages have it: its document, its layout, its text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
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
        self.document = ProgramDocument(program)

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """`program`, `layout` and `source` of a run document; made for the first page."""
        data = self.document.data
        with collector_paused():
            placed = layout(data)
        text = self._program.text
        source = text[:MAX_SOURCE].encode("utf-8", "replace").decode()
        if (more := len(text) - MAX_SOURCE) > 0:
            source += f"\n… and {more} more characters"
        return {"program": data, "layout": placed, "source": source}

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
