"""Test where code checks that buffers are live: once on a path, and in front of loops."""

from __future__ import annotations

import pytest
from xdsl.context import Context

from tfrt_nb.passes.control_flow import operations_in
from tfrt_nb.passes.pipeline import parse_pipeline
from tfrt_nb.source import parse_module

SHOWN = {
    "async.runtime.is_live": "live",
    "async.runtime.is_writable": "writable",
    "cf.assert": "assert",
    "scf.for": "for",
    "scf.parallel": "parallel",
    "scf.while": "while",
    "memref.load": "load",
    "memref.store": "store",
    "memref.alloc": "alloc",
    "func.call": "call",
    "async.execute": "task",
}
HEAD = """func.func @f(%m: memref<?xi64>, %c: memref<8xi64>, %lo: index, %hi: index, %v: i64) {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %eight = arith.constant 8 : index
"""
REST = """  return
}
func.func private @printI64(i64)
func.func private @quiet(%x: i64) {
  return
}
func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
"""


def guarded(body: str) -> list[str]:
    """Return the operations of a function, in the order of its text."""
    module = parse_module(HEAD + body + REST, "program")
    parse_pipeline("async-guard-buffers").apply(Context(), module)
    first = module.body.block.first_op
    assert first is not None
    return [SHOWN[op.name] for op in operations_in(first) if op.name in SHOWN]


def loop(body: str, bounds: str = "%lo to %hi step %one") -> str:
    return f"scf.for %i = {bounds} {{\n{body}\n}}\n"


LOAD = "%x = memref.load %m[%i] : memref<?xi64>"
LOAD_CONSTANT = "%x = memref.load %c[%i] : memref<8xi64>"


def test_a_buffer_is_asked_once_on_a_way() -> None:
    body = """%x = memref.load %m[%z] : memref<?xi64>
  memref.store %x, %m[%one] : memref<?xi64>
  memref.store %x, %m[%two] : memref<?xi64>
"""

    assert guarded(body) == ["live", "assert", "load", "writable", "assert", "store", "store"]


def test_it_is_asked_again_behind_what_may_give_it_back() -> None:
    body = """%x = memref.load %m[%z] : memref<?xi64>
  func.call @quiet(%x) : (i64) -> ()
  %y = memref.load %m[%z] : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %w = memref.load %m[%z] : memref<?xi64>
"""

    assert guarded(body) == [
        "live",
        "assert",
        "load",
        "call",
        "load",
        "call",
        "live",
        "assert",
        "load",
    ]


def test_a_new_buffer_is_asked_whether_there_was_memory() -> None:
    body = """%n = memref.alloc() : memref<8xi64>
  %x = memref.load %n[%z] : memref<8xi64>
"""

    assert guarded(body) == ["alloc", "live", "assert", "load"]


def test_a_buffer_of_the_frame_is_not_asked() -> None:
    body = """%n = memref.alloca() : memref<8xi64>
  memref.store %v, %n[%z] : memref<8xi64>
"""

    assert guarded(body) == ["store"]


@pytest.mark.parametrize(
    ("bounds", "indices"),
    [
        ("%lo to %hi step %one", 2),  # below and above
        ("%z to %hi step %one", 1),
        ("%z to %eight step %one", 0),
    ],
)
def test_indices_that_a_loop_counts_are_checked_in_front_of_it(bounds: str, indices: int) -> None:
    assert guarded(loop(LOAD_CONSTANT, bounds)) == [
        *("live", "assert"),
        *["assert"] * indices,
        *("for", "load"),
    ]


def test_what_a_loop_uses_is_asked_again_behind_it_as_it_may_have_no_rounds() -> None:
    inner = "scf.for %j = %lo to %hi step %one {\n%y = memref.load %m[%z] : memref<?xi64>\n}"
    last = "%w = memref.load %m[%z] : memref<?xi64>\n"

    assert guarded(loop(inner) + last)[-3:] == ["live", "assert", "load"]
    assert guarded(loop(f"{inner}\n{last}", "%z to %eight step %one")) == [
        *("live", "assert", "assert"),  # for the inner loop, which may have no iterations
        *("live", "assert", "assert"),
        *("for", "for", "load", "load"),
    ]


def test_an_index_of_larger_steps_is_checked_inside() -> None:
    assert guarded(loop(LOAD, "%lo to %hi step %two")) == ["live", "assert", "for", "load"]


def test_a_nest_of_loops_is_checked_in_front_of_the_outermost() -> None:
    inner = "scf.for %j = %lo to %hi step %one {\n%y = memref.load %m[%j] : memref<?xi64>\n}"

    assert guarded(loop(f"{LOAD}\n{inner}")) == [
        *("live", "assert", "assert", "assert"),  # %i
        *("assert", "assert"),  # %j
        *("for", "load", "for", "load"),
    ]


def test_bounds_that_change_are_known_in_front_of_the_inner_loop_only() -> None:
    inner = "scf.for %j = %lo to %i step %one {\n%y = memref.load %m[%j] : memref<?xi64>\n}"

    assert guarded(loop(inner)) == [
        *("for", "live", "assert", "assert", "assert"),
        *("for", "load"),
    ]


@pytest.mark.parametrize(
    "call",
    ["func.call @printI64(%v) : (i64) -> ()", "func.call @free(%m) : (memref<?xi64>) -> ()"],
)
def test_nothing_leaves_a_loop_that_prints_or_frees(call: str) -> None:
    assert guarded(loop(f"{LOAD}\n{call}")) == ["for", "live", "assert", "load", "call"]


def test_what_only_some_rounds_use_is_asked_there() -> None:
    some = f"%b = arith.cmpi eq, %i, %two : index\nscf.if %b {{\n{LOAD}\n}}"

    assert guarded(loop(some)) == ["for", "live", "assert", "load"]


def test_the_condition_of_a_while_is_computed_at_least_once() -> None:
    body = """%r = scf.while (%i = %lo) : (index) -> index {
    %x = memref.load %m[%i] : memref<?xi64>
    %b = arith.cmpi eq, %x, %v : i64
    scf.condition(%b) %i : index
  } do {
  ^bb0(%i: index):
    %y = memref.load %m[%i] : memref<?xi64>
    scf.yield %i : index
  }
"""

    assert guarded(body) == ["live", "assert", "while", "load", "load"]


def test_a_task_asks_for_itself() -> None:
    body = f"""%i = arith.constant 0 : index
  {LOAD}
  %t = async.execute {{
    %y = memref.load %m[%z] : memref<?xi64>
    async.yield
  }}
"""

    assert guarded(body) == ["live", "assert", "load", "task", "live", "assert", "load"]
