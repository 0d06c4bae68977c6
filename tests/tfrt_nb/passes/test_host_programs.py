"""Passes on host programs: what they make of a program, to the letter."""

from __future__ import annotations

from textwrap import dedent

import pytest
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


def body(pipeline: str, text: str) -> list[str]:
    """What is in the braces of a program's one function after passes."""
    return [line.strip() for line in after(pipeline, text).splitlines()[1:-1]]


# --- canonicalize ---

CHAINS = """
func @main(%a: !tfrt.chain, %b: !tfrt.chain, %x: i32) -> !tfrt.chain {{
  %c = tfrt.new.chain
  {merge}
  tfrt.return %m : !tfrt.chain
}}
"""


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        ("%m = tfrt.merge.chains %a : !tfrt.chain", ["tfrt.return %arg0 : !tfrt.chain"]),
        (
            "%m = tfrt.merge.chains %x : i32",
            ["%0 = tfrt.merge.chains %arg2 : i32", "tfrt.return %0 : !tfrt.chain"],
        ),
        (
            "%m = tfrt.merge.chains %a, %b, %a : !tfrt.chain, !tfrt.chain, !tfrt.chain",
            [
                "%0 = tfrt.merge.chains %arg1, %arg0 : !tfrt.chain, !tfrt.chain",
                "tfrt.return %0 : !tfrt.chain",
            ],
        ),
        (
            "%m = tfrt.merge.chains %a, %c : !tfrt.chain, !tfrt.chain",
            ["tfrt.return %arg0 : !tfrt.chain"],
        ),
        (
            "%m = tfrt.merge.chains %c, %c : !tfrt.chain, !tfrt.chain",
            ["%0 = tfrt.new.chain", "tfrt.return %0 : !tfrt.chain"],
        ),
        (
            """%n = tfrt.merge.chains %a, %x : !tfrt.chain, i32
               %m = tfrt.merge.chains %n, %b : !tfrt.chain, !tfrt.chain""",
            [
                "%0 = tfrt.merge.chains %arg0, %arg2, %arg1 : !tfrt.chain, i32, !tfrt.chain",
                "tfrt.return %0 : !tfrt.chain",
            ],
        ),
    ],
    ids=["one chain", "one value", "twice the same", "a new one", "only new ones", "a merge"],
)
def test_merges_of_chains_become_simpler(merge: str, expected: list[str]) -> None:
    assert body("canonicalize", CHAINS.format(merge=merge)) == expected


def test_a_merge_that_others_need_stays() -> None:
    text = """
func @main(%a: !tfrt.chain, %b: i32) -> (!tfrt.chain, !tfrt.chain) {
  %m = tfrt.merge.chains %a, %b : !tfrt.chain, i32
  %n = tfrt.merge.chains %m, %b : !tfrt.chain, i32
  tfrt.return %m, %n : !tfrt.chain, !tfrt.chain
}
"""
    assert body("canonicalize", text) == [
        "%0 = tfrt.merge.chains %arg0, %arg1 : !tfrt.chain, i32",
        "%1 = tfrt.merge.chains %0, %arg1 : !tfrt.chain, i32",
        "tfrt.return %0, %1 : !tfrt.chain, !tfrt.chain",
    ]


def test_what_has_no_effect_and_no_user_goes_away_and_what_has_an_effect_stays() -> None:
    text = """
func @main() {
  %c = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %unused = tfrt.merge.chains %c, %one : !tfrt.chain, i32
  %two = tfrt.constant.i32 2
  %d = tfrt.new.chain
  %printed = tfrt.print.i32 %two, %d
  tfrt.return
}
"""
    assert body("canonicalize", text) == [
        "%0 = tfrt.constant.i32 2",
        "%1 = tfrt.new.chain",
        "%2 = tfrt.print.i32 %0, %1",
        "tfrt.return",
    ]


# --- inline ---

TWICE = """
func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
"""


def test_a_call_becomes_the_body() -> None:
    text = """
func @main(%a: i32) -> i32 {
  %b = tfrt.call @twice(%a) : (i32) -> i32
  %c = tfrt.add.i32 %b, %a
  tfrt.return %c : i32
}
"""
    assert after("inline", TWICE + text) == (
        """func @twice(%arg0: i32) -> i32 {
  %0 = tfrt.add.i32 %arg0, %arg0
  tfrt.return %0 : i32
}
func @main(%arg0: i32) -> i32 {
  %0 = tfrt.add.i32 %arg0, %arg0
  %1 = tfrt.add.i32 %0, %arg0
  tfrt.return %1 : i32
}
"""
    )


def test_calls_in_regions_and_in_callees_are_inlined_and_private_functions_go() -> None:
    text = """
func private @pair(%x: i32) -> (i32, i32) {
  %y = tfrt.call @twice(%x) : (i32) -> i32
  tfrt.return %x, %y : i32, i32
}
func @main(%c: i1, %x: i32) -> i32 {
  %r = tfrt.if %c, %x : (i32) -> i32 {
    %p:2 = tfrt.call @pair(%x) : (i32) -> (i32, i32)
    tfrt.return %p#1 : i32
  } else {
    %p:2 = tfrt.call @pair(%x) : (i32) -> (i32, i32)
    tfrt.return %p#0 : i32
  }
  tfrt.return %r : i32
}
"""
    assert after("inline", TWICE.replace("func @twice", "func private @twice") + text) == (
        """func @main(%arg0: i1, %arg1: i32) -> i32 {
  %0 = tfrt.if %arg0, %arg1 : (i32) -> (i32)  {
    %1 = tfrt.add.i32 %arg1, %arg1
    tfrt.return %1 : i32
  } else  {
    %1 = tfrt.add.i32 %arg1, %arg1
    tfrt.return %arg1 : i32
  }
  tfrt.return %0 : i32
}
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        """func @again(%x: i32) -> i32 {
  %y = tfrt.call @again(%x) : (i32) -> i32
  tfrt.return %y : i32
}
""",
        """func @ping(%x: i32) -> i32 {
  %y = tfrt.call @pong(%x) : (i32) -> i32
  tfrt.return %y : i32
}
func @pong(%x: i32) -> i32 {
  %y = tfrt.call @ping(%x) : (i32) -> i32
  tfrt.return %y : i32
}
""",
        """func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func @main(%x: i32) -> i32 {
  %y = tfrt.call @native_add(%x, %x) : (i32, i32) -> i32
  tfrt.return %y : i32
}
""",
        """func private @named(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @main(%c: i1, %x: i32) -> i32 {
  %y = tfrt.cond %c @named @named (%x) : (i32) -> (i32)
  tfrt.return %y : i32
}
""",
    ],
    ids=["calls itself", "call each other", "native", "named elsewhere"],
)
def test_what_cannot_be_inlined_stays(text: str) -> None:
    assert after("inline", text) == after("builtin.module()", text)


def test_an_inlined_operation_is_where_it_is_written() -> None:
    text = """func @main(%a: i32) -> i32 {
  %b = tfrt.call @twice(%a) : (i32) -> i32
  tfrt.return %b : i32
}"""
    module = parse_module(TWICE + text, "f.mlir")
    context = RemarkContext()
    parse_pipeline("inline,tfrt-print-stream").apply(context, module)

    places = [str(remark.location) for remark in context.remarks]
    assert places == [
        "f.mlir:2:1",
        "f.mlir:3:8",
        "f.mlir:4:3",
        "f.mlir:6:1",
        "f.mlir:3:8",
        "f.mlir:8:3",
    ]


# --- streams ---


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
    assert after("tfrt-print-stream", TWICE) == after("builtin.module()", TWICE)
