"""A program is copied with its short tasks as functions."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.tasks import ExecuteOp
from tfrt_nb.passes.lowering.outline import MAX_SPECIALISED
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.passes.speed.copying import copy_program
from tfrt_nb.source import parse_module


def copied(text: str) -> ModuleOp:
    copy = copy_program(parse_module(text, "program")).complete()
    copy.verify()
    return copy


def functions(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]


def count(module: ModuleOp, kind: type) -> int:
    return sum(isinstance(op, kind) for op in module.walk())


def in_main(body: str, others: str = "") -> str:
    return f"""
func.func @main(%x: i64, %v: !async.value<i64>, %t: !async.token) {{
{body}
  return
}}
{others}"""


def test_what_a_body_awaits_first_the_task_awaits() -> None:
    copy = copied(
        in_main("""
  %outside = arith.constant 7 : i64
  %u, %w = async.execute [%t] (%v as %y: !async.value<i64>) -> !async.value<i64> {
    %sum = arith.addi %y, %outside : i64
    %z = async.await %v : !async.value<i64>
    async.await %t : !async.token
    %again = async.await %v : !async.value<i64>
    %more = arith.addi %z, %again : i64
    %all = arith.addi %sum, %more : i64
    %last = arith.addi %all, %x : i64
    async.yield %last : i64
  }""")
    )

    assert (
        print_ir(copy).strip()
        == """
module {
  func.func @main(%arg0: i64, %arg1: !async.value<i64>, %arg2: !async.token) {
    %c7_i64 = arith.constant 7 : i64
    %0:2 = async.runtime.spawn @async_execute_body(%arg2, %arg1, %arg1, %arg2, %arg0) {awaited_at = [loc("program":7:10), loc("program":8:5)], awaited = 4 : i64} : (!async.token, !async.value<i64>, !async.value<i64>, !async.token, i64) -> (!async.token, !async.value<i64>)
    return
  }
  func.func private @async_execute_body(%arg0: i64, %arg1: i64, %arg2: i64) -> i64 {
    %c7_i64 = arith.constant 7 : i64
    %0 = arith.addi %arg0, %c7_i64 : i64
    %1 = arith.addi %arg1, %arg1 : i64
    %2 = arith.addi %0, %1 : i64
    %3 = arith.addi %2, %arg2 : i64
    return %3 : i64
  }
}""".strip()
    )


def task(name: str, lines: str, result: str) -> str:
    return (
        f"  %{name}, %{name}_value = async.execute -> !async.value<i64> {{\n"
        f"{lines}\n    async.yield {result} : i64\n  }}"
    )


def test_equal_bodies_share_a_function() -> None:
    line = "    %n = arith.constant 1 : i64\n    %r = arith.addi %x, %n : i64"
    other = line.replace("constant 1", "constant 2")
    tasks = [task(f"a{i}", line, "%r") for i in range(20)] + [task("b", other, "%r")]
    copy = copied(in_main("\n".join(tasks)))

    assert functions(copy) == ["main", "async_execute_body", "async_execute_body_0"]
    assert (count(copy, RuntimeSpawnOp), count(copy, ExecuteOp)) == (21, 0)


def test_what_is_captured_and_in_which_order_makes_a_difference() -> None:
    first = task("a", "    %r = arith.subi %x, %y : i64", "%r")
    crossed = task("b", "    %r = arith.subi %y, %x : i64", "%r")
    twice = task("c", "    %r = arith.subi %x, %x : i64", "%r")
    copy = copied(in_main(f"  %y = arith.addi %x, %x : i64\n{first}\n{crossed}\n{twice}"))

    # The first two differ in what they are given, not in what they do with it.
    assert functions(copy) == ["main", "async_execute_body", "async_execute_body_0"]


def test_bodies_that_may_fail_at_different_places_stay_apart() -> None:
    line = "    %r = arith.divsi %x, %x : i64"
    copy = copied(in_main(f"{task('a', line, '%r')}\n{task('b', line, '%r')}"))

    assert functions(copy) == ["main", "async_execute_body", "async_execute_body_0"]


WAITS = """
func.func private @even(%x: i64) -> i64 {
  %r = func.call @odd(%x) : (i64) -> i64
  return %r : i64
}
func.func private @odd(%x: i64) -> i64 {
  %t = async.execute {
    async.yield
  }
  async.await %t : !async.token
  %r = func.call @even(%x) : (i64) -> i64
  return %r : i64
}
func.func private @plain(%x: i64) -> i64 {
  return %x : i64
}
"""


@pytest.mark.parametrize(
    ("lines", "is_early"),
    [
        ("    %r = func.call @plain(%x) : (i64) -> i64", True),
        ("    %r = func.call @odd(%x) : (i64) -> i64", False),
        ("    %r = func.call @even(%x) : (i64) -> i64", False),
        ("    %r = async.await %v : !async.value<i64>", True),
        (
            "    %q = arith.divsi %x, %x : i64\n    %r = async.await %v : !async.value<i64>",
            False,
        ),
        (
            "    %q = func.call @plain(%x) : (i64) -> i64\n    %r = async.await %v : !async.value<i64>",
            False,
        ),
        ("    %m = memref.alloca() : memref<i64>\n    %r = memref.load %m[] : memref<i64>", False),
    ],
)
def test_a_task_that_does_more_than_compute_stays_a_task(lines: str, is_early: bool) -> None:
    copy = copied(in_main(task("a", lines, "%r"), WAITS))
    [main] = [op for op in copy.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"]

    assert any(isinstance(op, RuntimeSpawnOp) for op in main.walk()) is is_early
    assert any(isinstance(op, ExecuteOp) for op in main.walk()) is not is_early


def test_a_block_may_use_what_one_further_down_makes() -> None:
    text = """
func.func @main() -> i64 {
  cf.br ^makes
^uses:
  %t, %w = async.execute -> !async.value<i64> {
    async.yield %made : i64
  }
  %sum = arith.addi %made, %made : i64
  return %sum : i64
^makes:
  %one = arith.constant 1 : i64
  %made = arith.addi %one, %one : i64
  cf.br ^uses
}"""
    lines = [line.strip() for line in print_ir(copied(text)).splitlines()]

    assert (
        "%0:2 = async.runtime.spawn @async_execute_body(%2) : (i64) -> (!async.token, !async.value<i64>)"
        in lines
    )
    assert "%1 = arith.addi %2, %2 : i64" in lines


ADDED = "async.add_to_group %a, %group : !async.token"
MEMBER = """
  %c2 = arith.constant 2 : index
  %group = async.create_group %c2 : !async.group
  %a = async.execute {{
{body}
    async.yield
  }}
{rest}"""


@pytest.mark.parametrize(
    ("body", "rest", "is_member"),
    [
        ("", f"  %rank = {ADDED}", True),
        ("    %n = arith.addi %x, %x : i64", f"  %rank = {ADDED}", True),
        ("", f"  %rank = {ADDED}\n  %again = {ADDED}", False),
        ("", f"  %rank = {ADDED}\n  async.await %a : !async.token", False),
        ("", f"  %rank = {ADDED}\n  %next = arith.addi %rank, %rank : index", False),
        ("", f"  %other = arith.addi %x, %x : i64\n  %rank = {ADDED}", False),
        ("    %w = async.await %v : !async.value<i64>", f"  %rank = {ADDED}", False),
    ],
)
def test_a_task_that_only_a_group_knows_has_no_token(body: str, rest: str, is_member: bool) -> None:
    copy = copied(in_main(MEMBER.format(body=body, rest=rest)))

    assert count(copy, RuntimeSpawnIntoOp) == int(is_member)
    assert count(copy, RuntimeSpawnOp) == int(not is_member)


def test_functions_that_need_no_lowering_are_kept_apart() -> None:
    number = "    %r = arith.addi %x, %x : i64"
    may_fail = "    %r = arith.divsi %x, %x : i64"
    text = in_main(f"{task('a', number, '%r')}\n{task('b', may_fail, '%r')}")
    copy = copy_program(parse_module(text, "program"))

    assert [leaf.sym_name.data for leaf in copy.leaves] == ["async_execute_body"]
    assert functions(copy.module) == ["main", "async_execute_body_0"]


def test_bodies_that_differ_in_numbers_share_a_function_from_the_ninth_on() -> None:
    outside = "  %k = arith.constant 5 : i64"
    bodies = [
        f"    %n = arith.constant {i} : i64\n"
        "    %q = arith.addi %n, %k : i64\n"
        "    %r = arith.subi %x, %q : i64"
        for i in range(20)
    ]
    tasks = [task(f"t{i}", body, "%r") for i, body in enumerate(bodies)]
    copy = copied(in_main("\n".join((outside, *tasks))))

    assert len(functions(copy)) == 1 + MAX_SPECIALISED + 1
    text = print_ir(copy)
    assert "%c19_i64 = arith.constant 19 : i64" in text
    assert (
        """
  func.func private @async_execute_body_7(%arg0: i64, %arg1: i64, %arg2: i64) -> i64 {
    %0 = arith.addi %arg1, %arg2 : i64
    %1 = arith.subi %arg0, %0 : i64
    return %1 : i64
  }
""".strip()
        in text
    )
