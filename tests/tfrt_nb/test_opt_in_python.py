"""Test `tfrt.opt`: passes on a program's text, run from Python, with the source's names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

import tfrt_nb as tfrt
from tfrt_nb.passes.pipeline import PASSES

PROGRAMS = sorted((Path(__file__).parent / "passes" / "programs").glob("*.mlir"))

NESTED = """\
module {
  func.func @main(%ready: !async.token, %x: i64) -> !async.value<i64> {
    %a = async.execute [%ready] {
      async.yield
    }
    %token, %value = async.execute [%a] -> !async.value<i64> {
      %sum = arith.addi %x, %x : i64
      async.yield %sum : i64
    }
    return %value : !async.value<i64>
  }
}
"""


@dataclass(frozen=True)
class MarkCalls(ModulePass):
    """Marks each call as non-strict."""

    name: ClassVar[str] = "mark-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in op.walk():
            if call.name == "tfrt.call":
                call.attributes["bef.nonstrict"] = UnitAttr()


def test_values_keep_the_names_of_the_source() -> None:
    assert tfrt.opt(NESTED, "builtin.module()").strip() == NESTED.strip()


def test_names_that_a_function_gives_twice_are_made_anew() -> None:
    twice = NESTED.replace("%token, %value", "%token, %sum").replace("return %value", "return %sum")
    printed = tfrt.opt(twice, "builtin.module()")

    assert "%token, %bodyResults = async.execute [%a]" in printed
    assert "%0 = arith.addi %x, %x" in printed


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_it_prints_is_the_same_program(path: Path) -> None:
    source = path.read_text()
    if "// -----" in source or "expected-error" in source:
        pytest.skip("the command splits it, or it is refused")
    once = tfrt.opt(source, "builtin.module()")

    assert tfrt.opt(once, "builtin.module()") == once


def test_a_pass_of_a_notebook_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PASSES, MarkCalls.name, MarkCalls)
    source = """\
func.func @one(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @main(%x: i32) -> i32 {
  %y = tfrt.call @one(%x) : (i32) -> i32
  tfrt.return %y : i32
}"""

    assert "tfrt.call @one(%x) {bef.nonstrict} : (i32) -> i32" in tfrt.opt(source, "mark-calls,cse")


@pytest.mark.parametrize(
    ("source", "passes", "message"),
    [
        ("func.func @main(", "cse", "<program>:1:17: error: expected argument or type"),
        (NESTED, "csee", "no pass is named 'csee'"),
    ],
)
def test_a_wrong_program_or_pass_is_refused(source: str, passes: str, message: str) -> None:
    with pytest.raises(tfrt.TfrtError, match=message):
        tfrt.opt(source, passes)
