"""Passes on host programs: what they make of a program, to the letter."""

from __future__ import annotations

from textwrap import dedent

from xdsl.context import Context

from tfrt_nb.dialects import print_module
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.passes.remarks import RemarkContext
from tfrt_nb.source import parse_module


def after(pipeline: str, text: str) -> str:
    """The functions of a program after passes, as text."""
    module = parse_module(text, "f.mlir")
    parse_pipeline(pipeline).apply(Context(), module)
    module.verify()
    lines = print_module(module).splitlines()
    assert (lines[0], lines[-1]) == ("module {", "}")
    return dedent("\n".join(lines[1:-1])) + "\n"


def streams(text: str, options: str = "") -> list[str]:
    """The remarks on a program."""
    context = RemarkContext()
    module = parse_module(text, "f.mlir")
    parse_pipeline(f"tfrt-print-stream{options}").apply(context, module)
    return [str(remark) for remark in context.remarks]


LANES = """func @main(%v: i32) -> !tfrt.chain {
  %a = tfrt_test.test_cost %v {id = 1 : i64, _tfrt_cost = 9 : i64} : i32
  %b = tfrt_test.test_cost %v {id = 2 : i64, _tfrt_cost = 5 : i64} : i32
  %m = tfrt.merge.chains %a, %b : i32, i32
  tfrt.return %m : !tfrt.chain
}"""


def test_streams_are_remarks_on_the_operations() -> None:
    own = "stream id: 0, stream cost: 12, parent stream: -1"
    assert streams(LANES, "{cost-threshold=4}") == [
        f"f.mlir:1:1: remark: {own}, child streams: [1]",
        f"f.mlir:2:8: remark: {own}",
        "f.mlir:3:8: remark: stream id: 1, stream cost: 5, parent stream: 0",
        f"f.mlir:4:8: remark: {own}",
        f"f.mlir:5:3: remark: {own}",
    ]


def test_without_a_threshold_the_longest_path_decides() -> None:
    assert {line.split("remark: ")[1] for line in streams(LANES)} == {
        "stream id: 0, stream cost: 17, parent stream: -1"
    }


def test_an_attribute_of_the_function_decides_first() -> None:
    text = LANES.replace("chain {", "chain attributes {tfrt.cost_threshold = 100 : i64} {", 1)

    assert len({line.split("remark: ")[1] for line in streams(text, "{cost-threshold=4}")}) == 1


def test_a_region_has_streams_of_its_own() -> None:
    text = """func @main(%n: i32) -> i32 {
  %r = tfrt.repeat.i32 %n, %n : i32 {
    tfrt.return %n : i32
  }
  tfrt.return %r : i32
}"""
    assert streams(text) == [
        "f.mlir:1:1: remark: stream id: 0, stream cost: 3, parent stream: -1",
        "f.mlir:2:8: remark: stream id: 0, stream cost: 3, parent stream: -1",
        "f.mlir:5:3: remark: stream id: 0, stream cost: 3, parent stream: -1",
        "f.mlir:2:8: remark: stream id: 0, stream cost: 2, parent stream: -1",
        "f.mlir:3:5: remark: stream id: 0, stream cost: 2, parent stream: -1",
    ]


def test_nobody_needs_to_listen() -> None:
    text = """
func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
"""
    assert after("tfrt-print-stream", text) == after("builtin.module()", text)
