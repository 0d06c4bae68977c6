"""Record the source places of operations as debug information, which LLVM keeps in all its passes.

`Places` collects the debug information while a module is written. `read_places` and `read_assembly`
find the source place of each line in LLVM's output, and remove the debug information.
"""

from __future__ import annotations

import re

from xdsl.ir import Operation

from tfrt_nb.internal_errors import location_of
from tfrt_runtime.diagnostics import Location

FIRST_NUMBER = 7
"""The first number for metadata. `descriptors.METADATA` uses the lower numbers."""
_HEAD = """\
!llvm.module.flags = !{{!{0}}}
!llvm.dbg.cu = !{{!{1}}}
!{0} = !{{i32 2, !"Debug Info Version", i32 3}}
!{1} = distinct !DICompileUnit(language: DW_LANG_C, file: !{2}, emissionKind: DebugDirectivesOnly)
!{2} = !DIFile(filename: "program", directory: "")
!{3} = !DISubroutineType(types: !{{}})"""
_USE = re.compile(r",? !dbg !(\d+)")
_PLACE = re.compile(
    r"^!(\d+) = (?:distinct )?!DI(?:Location|Subprogram)\(.*?\bline: (\d+)(?:, column: (\d+))?",
    re.MULTILINE,
)
_METADATA = re.compile(
    r"^(?:!\d+ = (?:distinct )?!DI|!llvm\.(?:module\.flags|dbg)|!\d+ = !\{i32 2, !\"Debug)"
)
_DIRECTIVE = re.compile(r"\s*\.loc\s+\d+ (\d+) (\d+)")
_HIDDEN = re.compile(r"\s*\.file\s|\.L(?:tmp|func_begin)\d+:|\s*\.section\s+\"?\.debug|\s*\.loc\s")

Placed = list[tuple[str, tuple[int, int] | None]]
"""Lines of LLVM's output, each with the line and column of the program from which it comes."""


class Places:
    """Builds a module's debug information, which maps LLVM instructions to places in the source."""

    def __init__(self) -> None:
        # These keys equal no row, and reserve the numbers of the entries in `_HEAD`.
        self._numbers = {str(row): FIRST_NUMBER + row for row in range(4)}
        self._scope = 0

    def function(self, symbol: str, op: Operation) -> str:
        """Start a function, and return the suffix for its definition.

        The places requested from now on belong to this function.
        """
        place = location_of(op)
        line = 0 if place is None else place.line
        _, unit, file, type_ = (FIRST_NUMBER + row for row in range(4))
        self._scope = self._number(
            f"distinct !DISubprogram(name: {_quoted(symbol)}, scope: !{file}, file: !{file}, line: {line}, "  # noqa: E501
            f"type: !{type_}, spFlags: DISPFlagDefinition, unit: !{unit})"
        )
        return f" !dbg !{self._scope}"

    def of(self, op: Operation) -> str:
        """Return the suffix for an operation's instructions."""
        place = location_of(op) or Location("", 0, 0)
        # LLVM stores columns in 16 bits.
        column = min(place.column, 0xFFFF)
        row = f"!DILocation(line: {place.line}, column: {column}, scope: !{self._scope})"
        return f", !dbg !{self._number(row)}"

    def text(self) -> str:
        """Return the metadata, which must be at the end of the module."""
        head = _HEAD.format(*(FIRST_NUMBER + row for row in range(4)))
        rows = [f"!{number} = {row}" for row, number in list(self._numbers.items())[4:]]
        return "\n".join([head, *rows])

    def _number(self, row: str) -> int:
        return self._numbers.setdefault(row, FIRST_NUMBER + len(self._numbers))


def _quoted(symbol: str) -> str:
    escaped = "".join(
        character if character.isalnum() and character.isascii() or character in "_.$-" else "_"
        for character in symbol
    )
    return f'"{escaped}"'


def read_places(text: str) -> Placed:
    """Return the lines of LLVM IR, without debug information, each with its source location."""
    known = {number: (int(line), int(column or 0)) for number, line, column in _PLACE.findall(text)}
    found: Placed = []
    for line in text.split("\n"):
        if _METADATA.match(line):
            continue
        use = _USE.search(line)
        place = known.get(use[1]) if use else None
        found.append((_USE.sub("", line), place if place and place[0] else None))
    return found


def read_assembly(text: str) -> Placed:
    """Return the lines of assembly, without debug directives, each with its source place."""
    found: Placed = []
    place: tuple[int, int] | None = None
    for line in text.split("\n"):
        if directive := _DIRECTIVE.match(line):
            row, column = int(directive[1]), int(directive[2])
            # Line 0 marks an instruction without a line, to which the previous line still applies.
            place = (row, column) if row else place
        elif not _HIDDEN.match(line):
            if line.startswith(".Lfunc_end"):
                place = None
            is_code = line.startswith("\t") and not line.startswith("\t.")
            found.append((line, place if is_code else None))
    return found
