"""Test that recursive async functions give the same results with and without objects.

At the start of each call, the runtime is asked where the stack ends. Here, it often says that the
stack is low, so recursions are left at many places. Nothing may be left over.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator

import pytest

from tfrt_nb.jit.stages import Stage, emit
from tfrt_nb.source import parse_module

DEEP = 40
EVERYWHERE = 2**64 - 1
PRINTING = "func.func private @printI64(i64)\nfunc.func private @printNewline()"
MAIN = f"""
func.func @main() {{
  %n = arith.constant NUMBER : i64
  %v = async.call @f(%n) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  func.call @printI64(%x) : (i64) -> ()
  return
}}
{PRINTING}
"""
BEGIN = """async.func @f(%n: i64) -> !async.value<i64> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_end = arith.cmpi sle, %n, %zero : i64
  cf.cond_br %is_end, ^end, ^deeper
^end:
  ENDING
  return %one : i64
^deeper:
  %m = arith.subi %n, %one : i64
"""
END = f"""  return %r : i64
}}
{MAIN}"""
ONE_CALL = f"""{BEGIN}
  %v = async.call @f(%m) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  %r = arith.addi %x, %one : i64
{END}"""
DEEP_CALL_FIRST = f"""{BEGIN}
  %v = async.call @f(%m) : (i64) -> !async.value<i64>
  %w = async.call @f(%zero) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  %y = await %w : !async.value<i64>
  %r = arith.addi %x, %y : i64
{END}"""
DEEP_CALL_LAST = (
    DEEP_CALL_FIRST.replace("@f(%m)", "@f(%swap)")
    .replace("@f(%zero)", "@f(%m)")
    .replace("@f(%swap)", "@f(%zero)")
)
AWAITED_AT_ONCE = f"""{BEGIN}
  %v = async.call @f(%zero) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  %w = async.call @f(%m) : (i64) -> !async.value<i64>
  %y = await %w : !async.value<i64>
  %r = arith.addi %x, %y : i64
{END}"""
IN_A_BRANCH = f"""{BEGIN}
  %r = scf.if %is_end -> (i64) {{
    scf.yield %one : i64
  }} else {{
    %v = async.call @f(%m) : (i64) -> !async.value<i64>
    %x = await %v : !async.value<i64>
    %y = arith.addi %x, %one : i64
    scf.yield %y : i64
  }}
{END}"""
REGIONS_BEHIND = f"""{BEGIN}
  %v = async.call @f(%m) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  cf.br ^more
^more:
  %task = async.execute {{
    async.yield
  }}
  %y = scf.if %is_end -> (i64) {{
    scf.yield %zero : i64
  }} else {{
    scf.yield %one : i64
  }}
  cf.br ^last
^last:
  %r = arith.addi %x, %y : i64
{END}"""
SHAPES = pytest.mark.parametrize(
    "shape",
    [ONE_CALL, DEEP_CALL_FIRST, DEEP_CALL_LAST, AWAITED_AT_ONCE, IN_A_BRANCH, REGIONS_BEHIND],
)


def _program(shape: str, number: int, ending: str = "") -> str:
    return shape.replace("NUMBER", str(number)).replace("ENDING", ending)


@pytest.fixture(
    params=[(1, ()), (7, (0, 1)), (5, (0,)), (3, (0, 1)), (11, (4, 7))],
    ids=["never", "twice in 7", "once in 5", "twice in 3", "apart"],
)
def stack(request, run, monkeypatch) -> Iterator[None]:
    """At these checks, the stack is low; after two such checks, a call starts on a worker."""
    period, low = request.param
    questions = itertools.count()
    limit = ctypes.CFUNCTYPE(ctypes.c_size_t)(
        lambda: EVERYWHERE if next(questions) % period in low else 0
    )
    address = ctypes.cast(limit, ctypes.c_void_p).value
    monkeypatch.setitem(run.__globals__["REPLACED"], "tfrtAsyncStackLimit", address)
    yield
    assert next(questions) > 0, "the program has asked"


@SHAPES
@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("depth", [0, 1, 7, DEEP])
def test_a_recursion_of_any_depth_gives_its_result(shape: str, depth: int, run, outcome) -> None:
    text = _program(shape, depth)

    assert "@f_fast" in emit(parse_module(text, "p"), Stage.ASYNC_RUNTIME)
    assert run(text) == outcome(str(depth + 1))


@SHAPES
@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("depth", [0, 1, 7, DEEP])
def test_a_failure_at_the_end_comes_back_with_its_reason_and_place(
    shape: str, depth: int, run, outcome
) -> None:
    ending = '%no = arith.constant false\n  cf.assert %no, "no further"'

    assert run(_program(shape, depth, ending)) == outcome("", ("no further", 8))


PRINTS_BEHIND_ITS_CALL = f"""
async.func @f(%n: i64) -> !async.value<i64> {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %goes_on = arith.cmpi sgt, %n, %zero : i64
  cf.assert %goes_on, "no further"
  %m = arith.subi %n, %one : i64
  %v = async.call @f(%m) : (i64) -> !async.value<i64>
  func.call @printI64(%n) : (i64) -> ()
  LAST
}}
{MAIN}"""


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize(
    ("last", "printed", "failure"),
    [
        (
            (
                "%x = await %v : !async.value<i64>\n  func.call @printI64(%x) : (i64) -> ()\n  "
                "return %x : i64"
            ),
            "1234",
            ("no further", 6),
        ),
        ("return %m : i64", "12334", None),
    ],
    ids=["awaited", "not awaited"],
)
def test_what_is_behind_a_call_that_fails_is_done_up_to_its_await(
    last: str, printed: str, failure: tuple[str, int] | None, run
) -> None:
    result = run(_program(PRINTS_BEHIND_ITS_CALL.replace("LAST", last), 4))

    # A call that starts on a worker prints later.
    assert sorted(result.output) == list(printed)
    assert (result.failure, result.left_over) == (failure, 0)


@pytest.mark.usefixtures("stack")
def test_functions_that_call_each_other_pass_tokens_and_objects_on(run, outcome) -> None:
    text = f"""
async.func @even(%n: i64, %go: !async.token) -> (!async.token, !async.value<i64>) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_end = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_end, ^end(%one : i64), ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %t, %v = async.call @odd(%m, %go) : (i64, !async.token) -> (!async.token, !async.value<i64>)
  await %t : !async.token
  %x = await %v : !async.value<i64>
  cf.br ^end(%x : i64)
^end(%r: i64):
  return %r : i64
}}
async.func @odd(%n: i64, %go: !async.token) -> (!async.token, !async.value<i64>) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_end = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_end, ^end(%zero : i64), ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %t, %v = async.call @even(%m, %go) : (i64, !async.token) -> (!async.token, !async.value<i64>)
  %x = await %v : !async.value<i64>
  cf.br ^end(%x : i64)
^end(%r: i64):
  %task = async.execute [%go] {{
    async.yield
  }}
  return %r : i64
}}
func.func @main() {{
  %n = arith.constant {DEEP} : i64
  %go = async.execute {{
    async.yield
  }}
  %t, %v = async.call @even(%n, %go) : (i64, !async.token) -> (!async.token, !async.value<i64>)
  %x = async.await %v : !async.value<i64>
  async.await %t : !async.token
  func.call @printI64(%x) : (i64) -> ()
  return
}}
{PRINTING}
"""
    assert "@odd_fast" in emit(parse_module(text, "p"), Stage.ASYNC_RUNTIME)
    assert run(text) == outcome("1")


def test_a_buffer_in_the_frame_keeps_a_function_from_being_left(run, outcome) -> None:
    text = f"""{BEGIN}
  %i = arith.constant 0 : index
  %b = memref.alloca() : memref<1xi64>
  memref.store %one, %b[%i] : memref<1xi64>
  %v = async.call @f(%m) : (i64) -> !async.value<i64>
  %x = await %v : !async.value<i64>
  %y = memref.load %b[%i] : memref<1xi64>
  %r = arith.addi %x, %y : i64
{END}"""
    program = _program(text, 200)

    assert "@f_fast" not in emit(parse_module(program, "p"), Stage.ASYNC_RUNTIME)
    assert run(program) == outcome("201")
