"""Test uses of values across blocks: unusual but valid ones, and invalid ones."""

from __future__ import annotations

import pytest

from tfrt_nb.source import SourceError, parse_module


def test_a_value_may_be_used_above_its_definition_if_its_block_runs_first() -> None:
    text = """\
func.func @f() -> i32 {
  cf.br ^second
^first:
  return %a : i32
^second:
  %a = arith.constant 1 : i32
  cf.br ^first
}
"""
    parse_module(text, "text")


def test_unknown_operations_and_types_are_nobodys_business() -> None:
    text = """\
func @f(%x: !their.thing) -> !tfrt.anything {
  %y = "their.op"(%x) {a, b = #their.attribute<1>} : (!their.thing) -> !tfrt.anything
  %z = "tfrt.something.new"(%y) : (!tfrt.anything) -> !tfrt.anything
  tfrt.return %z : !tfrt.anything
}
"""
    parse_module(text, "text")


def test_kernels_that_the_reference_does_not_register_take_a_further_chain() -> None:
    text = """\
func @f(%x: i32, %c: !tfrt.chain) -> i1 {
  %y = "tfrt.lessequal.i32"(%x, %x, %c) : (i32, i32, !tfrt.chain) -> i1
  tfrt.return %y : i1
}
"""
    parse_module(text, "text")


def test_values_of_a_function_of_ten_thousand_blocks_are_looked_for_once() -> None:
    count = 10_000
    chain = "".join(f"^b{i}:\n  cf.br ^b{i + 1}\n" for i in range(count))
    text = (
        "func.func @f(%c: i1) -> i64 {\n  %x = arith.constant 1 : i64\n  cf.cond_br %c, ^b0, "
        "^other\n"
        f"^other:\n  %y = arith.constant 2 : i64\n  cf.br ^b{count}\n{chain}"
        f"^b{count}:\n  %z = arith.addi %x, %y : i64\n  return %z : i64\n}}\n"
    )
    with pytest.raises(SourceError) as caught:
        parse_module(text, "f.mlir")

    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "'%y' is not defined on every path to this line"
    assert diagnostic.notes[0].message == "operand #1 does not dominate this use"
    assert str(diagnostic.location) == f"f.mlir:{2 * count + 8}:23"
