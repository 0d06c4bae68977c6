"""What looks strange and is right."""

from __future__ import annotations

from tfrt_nb.source import parse_module


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
