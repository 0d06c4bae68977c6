"""Test that a program is copied for lowering, without anything that only passes may write."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import UnitAttr

from tfrt_nb.passes.copying import MARKS, copy_program
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module
from tfrt_runtime.diagnostics import TfrtError

BACKWARD = """
func.func @main() -> i64 {
  cf.br ^makes
^uses:
  %t, %w = async.execute -> !async.value<i64> {
    async.yield %made : i64
  }
  return %made : i64
^makes:
  %made = arith.constant 1 : i64
  cf.br ^uses
}
"""


def test_a_copy_has_places_but_no_names_and_leaves_the_program_alone() -> None:
    program = parse_module(BACKWARD, "program")
    before = print_ir(program)
    copy = copy_program(program)
    copy.verify()

    assert print_ir(copy) == before
    assert [str(op.location) for op in copy.walk()] == [str(op.location) for op in program.walk()]
    assert {result.name_hint for op in copy.walk() for result in op.results} == {None}
    assert {op for op in copy.walk()} & {op for op in program.walk()} == set()


@pytest.mark.parametrize("mark", sorted(MARKS - {FALLIBLE}))
def test_a_program_cannot_forge_what_passes_know(mark: str) -> None:
    program = parse_module(BACKWARD, "program")
    [*_, last] = program.walk()
    last.attributes[mark] = UnitAttr()
    copy = copy_program(program)

    assert not any(mark in op.attributes for op in copy.walk())
    assert mark in last.attributes


def test_an_operation_of_passes_is_refused_at_its_place() -> None:
    text = """
func.func @main(%v: !async.value<i64>) -> i64 {
  %h = async.runtime.handle_of %v : !async.value<i64>
  return %h : i64
}"""
    with pytest.raises(TfrtError, match=r"3:8: error: .*is reserved for passes"):
        copy_program(parse_module(text, "program"))
