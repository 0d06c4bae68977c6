"""Explore a program given as a string."""

from __future__ import annotations

from tfrt_nb import Program
from tfrt_nb.schedules.explore import Explorer

PRINTS = """\
func.func @main() -> i32 {{
  %c = tfrt.new.chain
  %a = tfrt.constant.i32 11
  %b = tfrt.constant.i32 22
  %p = tfrt.print.i32 %a, %c
  %q = tfrt.print.i32 %b, {chain}
  %s = tfrt.add.i32 %a, %b
  tfrt.return %s : i32
}}
"""


def explored(text, **limits):
    return looked_at(text, **limits)[0]


def looked_at(text, **limits):
    """Explore the program; return the exploration and the program's document."""
    with Explorer(Program.from_source(text, "p"), "main") as explorer:
        return explorer.explore(**limits), explorer.document


def raced(found, document):
    """Return the lines of the racing operations."""
    lines = [row["line"] for row in document.data["operations"]]
    return [(lines[race.first], lines[race.second]) for race in found.races]
