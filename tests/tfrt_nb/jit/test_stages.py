"""Test that LLVM's time is spent only on code that runs repeatedly."""

from __future__ import annotations

from tfrt_nb.jit.compiler import FULL, QUICK
from tfrt_nb.jit.stages import Effort, Stage, emit, worthwhile_effort
from tfrt_nb.source import parse_module

LOOP = """
func.func private @in_the_loop(%x: i64) -> i64 {
  %y = func.call @below(%x) : (i64) -> i64
  return %y : i64
}
func.func private @below(%x: i64) -> i64 {
  return %x : i64
}
func.func private @before(%x: i64) -> i64 {
  return %x : i64
}
func.func @main(%x: i64, %again: i1) -> i64 {
  %a = func.call @before(%x) : (i64) -> i64
  cf.br ^loop
^loop:
  %b = func.call @in_the_loop(%a) : (i64) -> i64
  cf.cond_br %again, ^loop, ^end
^end:
  %c = func.call @before(%b) : (i64) -> i64
  return %c : i64
}
func.func @straight(%x: i64) -> i64 {
  return %x : i64
}"""
RECURSION = """
func.func @down(%x: i64) -> i64 {
  %y = func.call @down(%x) : (i64) -> i64
  return %y : i64
}
func.func @start(%x: i64) -> i64 {
  %y = func.call @down(%x) : (i64) -> i64
  return %y : i64
}"""


def effort(text: str) -> Effort:
    return worthwhile_effort(parse_module(text, "program"))


def test_a_loop_is_worth_it_and_what_is_called_in_it() -> None:
    assert effort(LOOP) == Effort(FULL, frozenset({"before", "straight"}))


def test_a_recursion_is_worth_it_and_who_starts_it_is_not() -> None:
    assert effort(RECURSION) == Effort(FULL, frozenset({"start"}))


def test_a_program_without_either_is_not() -> None:
    text = "func.func @f() {\n  return\n}"

    assert effort(text) == Effort(QUICK, frozenset({"f"}))


def test_loops_that_nest_hundreds_deep_are_lowered() -> None:
    depth = 300
    heads = "".join(f"scf.for %i{n} = %n to %n step %n {{\n" for n in range(depth))
    ends = "}\n" * depth
    text = f"func.func @f(%n: index) {{\n{heads}{ends}return\n}}"

    assert emit(parse_module(text, "program"), Stage.COROUTINE).count(" phi i64 ") >= depth


def test_llvm_leaves_the_rest_as_it_is() -> None:
    lines = emit(parse_module(LOOP, "program"), Stage.COROUTINE).splitlines()
    left_alone = [line for line in lines if line.startswith("define") and "optnone" in line]

    assert [line.partition("(")[0].split()[-1] for line in left_alone] == [
        "@before",
        "@straight",
    ]
