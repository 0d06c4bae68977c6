"""Test the output of passes on host programs, character by character."""

from __future__ import annotations

from textwrap import dedent

from xdsl.context import Context

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.passes.control_flow import RemarkContext
from tfrt_nb.passes.pipeline import parse_pipeline
from tfrt_nb.source import parse_module


def after(pipeline: str, text: str) -> str:
    """Return the functions of a program after passes, as text."""
    module = parse_module(text, "f.mlir")
    parse_pipeline(pipeline).apply(Context(), module)
    module.verify()
    lines = print_module(module).splitlines()
    assert (lines[0], lines[-1]) == ("module {", "}")
    return dedent("\n".join(lines[1:-1])) + "\n"


def streams(text: str, options: str = "") -> list[str]:
    """Return the remarks on a program's streams."""
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


def test_an_upper_threshold_ends_a_stream_and_chains_do_not_link_streams() -> None:
    text = """module attributes {tfrt.upper_cost_threshold = 9 : i64, tfrt.merge_inter_dependent_streams = true} {
func @main(%c: !tfrt.chain) -> !tfrt.chain {
  %a = tfrt_test.test_cost %c {id = 1 : i64, _tfrt_cost = 8 : i64}
  %b = tfrt_test.test_cost %a {id = 2 : i64, _tfrt_cost = 8 : i64}
  tfrt.return %b : !tfrt.chain
}
}"""  # noqa: E501
    assert [line.split("remark: ")[1] for line in streams(text, "{cost-threshold=4}")] == [
        "stream id: 1, stream cost: 9, parent stream: -1",
        "stream id: 1, stream cost: 9, parent stream: -1, child streams: [0]",
        "stream id: 0, stream cost: 9, parent stream: 1",
        "stream id: 0, stream cost: 9, parent stream: 1",
    ]


def test_chains_do_not_link_streams_and_data_does() -> None:
    text = """func @main(%x: i32, %c: !tfrt.chain) attributes {tfrt.merge_inter_dependent_streams = true} {
  %a = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 3 : i64} : i32
  %b = tfrt_test.test_cost %x {id = 2 : i64, _tfrt_cost = 3 : i64} : i32
  %d = tfrt_test.test_cost %x {id = 3 : i64, _tfrt_cost = 3 : i64} : i32
  %e = tfrt_test.test_cost %d, %a {id = 4 : i64, _tfrt_cost = 1 : i64} : i32, i32
  tfrt.return
}"""  # noqa: E501
    chains = text.replace("%d, %a {", "%d, %c {").replace("i32, i32", "i32, !tfrt.chain")

    def streams_of_lanes(text: str) -> list[str]:
        return [line.split("stream id: ")[1][0] for line in streams(text, "{cost-threshold=5}")][
            1:4
        ]

    linked, unlinked = streams_of_lanes(text), streams_of_lanes(chains)
    assert linked[0] == linked[2]
    assert unlinked[0] == unlinked[1] != unlinked[2]


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


def test_a_merge_of_one_chain_that_others_use_is_that_chain_and_takes_each_value_once() -> None:
    text = """
func @one(%c: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %m = tfrt.merge.chains %c : !tfrt.chain
  tfrt.return %m, %c : !tfrt.chain, !tfrt.chain
}
func @only_use(%c: !tfrt.chain) -> !tfrt.chain {
  %m = tfrt.merge.chains %c : !tfrt.chain
  tfrt.return %m : !tfrt.chain
}
func @twice(%c: !tfrt.chain, %x: i32) -> !tfrt.chain {
  %m = tfrt.merge.chains %c, %x, %c : !tfrt.chain, i32, !tfrt.chain
  tfrt.return %m : !tfrt.chain
}
func @number(%x: i32) -> (!tfrt.chain, i32) {
  %m = tfrt.merge.chains %x : i32
  tfrt.return %m, %x : !tfrt.chain, i32
}
"""
    simple = text.replace(
        "  %m = tfrt.merge.chains %c : !tfrt.chain\n  tfrt.return %m, %c", "  tfrt.return %c, %c"
    )
    simple = simple.replace(
        "%c, %x, %c : !tfrt.chain, i32, !tfrt.chain", "%c, %x : !tfrt.chain, i32"
    )
    assert after("canonicalize", text) == after("builtin.module()", simple)


def test_calls_are_inlined_and_private_functions_that_are_not_called_any_more_are_gone() -> None:
    text = """
func private @twice(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %c, %y : !tfrt.chain, i32
}
func @main(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %d, %y = tfrt.call @twice(%c, %x) : (!tfrt.chain, i32) -> (!tfrt.chain, i32)
  tfrt.return %d, %y : !tfrt.chain, i32
}
"""
    inlined = """
func @main(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %c, %y : !tfrt.chain, i32
}
"""
    assert after("inline", text) == after("builtin.module()", inlined)


def test_calls_in_a_circle_and_of_other_kinds_of_functions_stay() -> None:
    text = """
func private @circle(%x: i32) -> i32 {
  %y = tfrt.call @circle(%x) : (i32) -> i32
  tfrt.return %y : i32
}
func private @native(i32) -> i32 attributes {tfrt.native}
func @main(%x: i32) -> (i32, i32) {
  %y = tfrt.call @circle(%x) : (i32) -> i32
  %z = tfrt.call @native(%x) : (i32) -> i32
  tfrt.return %y, %z : i32, i32
}
"""
    assert after("inline", text).count("tfrt.call") == 3


def test_a_strict_call_stays_where_its_body_would_run_without_an_argument() -> None:
    text = """
func private @say(%a: i32) -> i32 {
  %c = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %p = tfrt.print.i32 %one, %c
  tfrt.return %a : i32
}
func private @first(%a: i32, %b: i32) -> i32 {
  tfrt.return %a : i32
}
func private @sum(%a: i32, %b: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %c = tfrt.add.i32 %a, %b
  %d = tfrt.add.i32 %c, %one
  tfrt.return %d : i32
}
func @main(%x: i32) -> (i32, i32, i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %x, %zero
  %a = tfrt.call @say(%q) : (i32) -> i32
  %b = tfrt.call @first(%x, %q) : (i32, i32) -> i32
  %c = tfrt.call @say(%x) : (i32) -> i32
  %d = tfrt.call @sum(%x, %q) : (i32, i32) -> i32
  %e = tfrt.call @first(%x, %q) {bef.nonstrict} : (i32, i32) -> i32
  tfrt.return %a, %b, %c, %d, %e : i32, i32, i32, i32, i32
}
"""
    inlined = after("inline", text)
    assert [
        line.split("@")[1].split("(")[0] for line in inlined.splitlines() if "call" in line
    ] == [
        "say",
        "first",
    ]


def test_what_only_computes_is_computed_once_and_only_if_it_is_used() -> None:
    text = """
func @main(%x: i32, %yes: i1) -> (i32, i32, i32) {
  %one = tfrt.constant.i32 1
  %uno = tfrt.constant.i32 1
  %a = tfrt.add.i32 %x, %one
  %b = tfrt.add.i32 %x, %uno
  %unused = tfrt.mul.i32 %x, %x
  %q, %r = tfrt.div.i32 %x, %one
  %s, %t = tfrt.div.i32 %x, %one
  %c = tfrt.if %yes, %x : (i32) -> (i32) {
    %in = tfrt.constant.i32 1
    %d = tfrt.add.i32 %x, %in
    tfrt.return %d : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %a, %b, %c : i32, i32, i32
}
"""
    simple = """
func @main(%x: i32, %yes: i1) -> (i32, i32, i32) {
  %one = tfrt.constant.i32 1
  %a = tfrt.add.i32 %x, %one
  %q, %r = tfrt.div.i32 %x, %one
  %s, %t = tfrt.div.i32 %x, %one
  %c = tfrt.if %yes, %x : (i32) -> (i32) {
    %in = tfrt.constant.i32 1
    %d = tfrt.add.i32 %x, %in
    tfrt.return %d : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %a, %a, %c : i32, i32, i32
}
"""
    assert after("cse,dce", text) == after("builtin.module()", simple)


def test_nobody_needs_to_listen() -> None:
    text = """
func @twice(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
"""
    assert after("tfrt-print-stream", text) == after("builtin.module()", text)
