"""Test calls of async functions that never wait, and whose results are only awaited.

The runtime of these tests (see conftest) fails a test in which a reference is dropped too often.
Nothing may be left over, either.
"""

from __future__ import annotations

import pytest

CHECKED = """
async.func @checked(%x: i64) -> (!async.token, !async.value<i64>) {
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi sge, %x, %zero : i64
  cf.assert %ok, "negative"
  %y = arith.addi %x, %x : i64
  return %y : i64
}
func.func private @printI64(i64)
"""
FAILS_AT = 5
"""The line of the assertion."""
FROM_A_PLAIN_FUNCTION = """
func.func @main() {
  %x = arith.constant NUMBER : i64
  %t, %v = async.call @checked(%x) : (i64) -> (!async.token, !async.value<i64>)
  BETWEEN
  async.await %t : !async.token
  %y = async.await %v : !async.value<i64>
  func.call @printI64(%y) : (i64) -> ()
  return
}
"""
FROM_A_TASK = """
func.func @main() {
  %x = arith.constant NUMBER : i64
  %done = async.execute {
    %t, %v = async.call @checked(%x) : (i64) -> (!async.token, !async.value<i64>)
    BETWEEN
    %y = async.await %v : !async.value<i64>
    func.call @printI64(%y) : (i64) -> ()
    async.yield
  }
  async.await %done : !async.token
  return
}
"""
FROM_AN_ASYNC_FUNCTION = """
async.func @through(%x: i64) -> !async.token {
  %t, %v = async.call @checked(%x) : (i64) -> (!async.token, !async.value<i64>)
  BETWEEN
  %y = async.await %v : !async.value<i64>
  func.call @printI64(%y) : (i64) -> ()
  return
}
func.func @main() {
  %x = arith.constant NUMBER : i64
  %done = async.call @through(%x) : (i64) -> !async.token
  async.await %done : !async.token
  return
}
"""
CALLERS = pytest.mark.parametrize(
    "caller", [FROM_A_PLAIN_FUNCTION, FROM_A_TASK, FROM_AN_ASYNC_FUNCTION]
)
PRINT = "func.call @printI64(%x) : (i64) -> ()"


def _program(caller: str, number: int, between: str = "") -> str:
    # The function comes first, because a test checks its line numbers.
    return CHECKED + caller.replace("NUMBER", str(number)).replace("BETWEEN", between)


@CALLERS
def test_the_call_gives_what_the_await_would(caller: str, run, outcome) -> None:
    assert run(_program(caller, 21)) == outcome("42")


@CALLERS
def test_a_failure_keeps_its_reason_and_its_place(caller: str, run, outcome) -> None:
    assert run(_program(caller, -3)) == outcome("", ("negative", FAILS_AT))


@CALLERS
def test_what_comes_before_the_await_is_done_although_the_call_failed(
    caller: str, run, outcome
) -> None:
    assert run(_program(caller, -3, PRINT)) == outcome("-3", ("negative", FAILS_AT))


@CALLERS
def test_what_the_function_prints_comes_before_what_follows_the_call(
    caller: str, run, outcome
) -> None:
    text = _program(caller, 4, PRINT).replace(
        '  cf.assert %ok, "negative"\n', "  func.call @printI64(%zero) : (i64) -> ()\n"
    )

    assert run(text) == outcome("048")


def test_a_failure_that_nobody_awaits_is_nobodys(run, outcome) -> None:
    text = f"""{CHECKED}
func.func @main() {{
  %x = arith.constant -1 : i64
  %t, %v = async.call @checked(%x) : (i64) -> (!async.token, !async.value<i64>)
  func.call @printI64(%x) : (i64) -> ()
  return
}}
"""
    assert run(text) == outcome("-1")


def test_an_object_that_is_passed_on_is_counted(run, outcome) -> None:
    text = """
async.func @start(%t: !async.token) -> !async.token {
  %u = async.execute [%t] {
    async.yield
  }
  return
}
func.func private @printI64(i64)
func.func @main() {
  %x = arith.constant 1 : i64
  %t = async.execute {
    async.yield
  }
  %u = async.call @start(%t) : (!async.token) -> !async.token
  %w = async.call @start(%t) : (!async.token) -> !async.token
  async.await %u : !async.token
  async.await %w : !async.token
  async.await %t : !async.token
  func.call @printI64(%x) : (i64) -> ()
  return
}
"""
    assert run(text) == outcome("1")
