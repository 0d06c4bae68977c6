"""Test many calls of a function as one run."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import user_kernel

pytestmark = pytest.mark.usefixtures("leak_check")
SLOW = 60

TEXT = """
func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %s = tfrt.add.i32 %a, %b
  %d = tfrt.minus.i32 %a, %b
  tfrt.return %s, %d : i32, i32
}
func.func @half(%a: f64) -> f64 {
  %h = tfrt.constant.f64 0.5
  %r = tfrt.multiply.f64 %a, %h
  tfrt.return %r : f64
}
func.func @less(%a: i64, %b: i64) -> i1 {
  %r = tfrt.lessequal.i64 %a, %b
  tfrt.return %r : i1
}
func.func @name(%a: !tfrt.string) -> !tfrt.string {
  tfrt.return %a : !tfrt.string
}
func.func @shout(%a: i32) {
  %c0 = tfrt.new.chain
  %c1 = tfrt.print.i32 %a, %c0
  tfrt.return
}
func.func @quotient(%a: i32, %b: i32) -> i32 {
  %r, %m = tfrt.div.i32 %a, %b
  tfrt.return %r : i32
}
"""


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest) -> HostContext:
    return HostContext(request.param)


def test_each_call_has_its_results(host: HostContext) -> None:
    with host:
        run = Program(TEXT).map(range(1000), [1] * 1000, host=host, function="main")
        assert run.result(SLOW) == [(i + 1, i - 1) for i in range(1000)]
        assert [value.result(SLOW) for value in run.results[-2:]] == [1000, 998]
        assert repr(run) == "<Batch @main done, 1000 calls>"


@pytest.mark.parametrize("start", [Batch, Execution])
def test_calls_whose_preparation_is_interrupted_are_over(start: type[Execution]) -> None:
    def interrupt(_: Request) -> bool:
        raise KeyboardInterrupt

    program = Program(TEXT).load(available_kernels())
    program.prepares[interrupt] = None
    arguments: list[object] = [["a", "b"]] if start is Batch else ["a"]
    with HostContext("s") as host:
        with pytest.raises(KeyboardInterrupt):
            start(host, program, "name", arguments)

        assert not host.has_runs


def test_results_outlive_their_batch(host: HostContext) -> None:
    with host:
        run = Program(TEXT).map(range(1000), [1] * 1000, host=host, function="main")
        results = run.results
        assert run.wait(SLOW)
        del run
        # This takes the cells of values that were dropped too early.
        others = Program(TEXT).map([7] * 1000, [7] * 1000, host=host, function="main")
        assert others.result(SLOW) == [(14, 0)] * 1000
        assert [value.result(SLOW) for value in results[-2:]] == [1000, 998]


def test_columns_may_be_arrays(host: HostContext) -> None:
    program = Program(TEXT)
    with host:
        halves = program.map(np.arange(5, dtype=np.float32), host=host, function="half")
        assert halves.result(SLOW) == [0.0, 0.5, 1.0, 1.5, 2.0]
        small = np.array([1, 2, 3], np.uint8)
        assert program.map(host, [small, small[::-1]]).result(SLOW) == [(4, -2), (4, 0), (4, 2)]
        less = program.map([1, 2], np.array([1, 1]), host=host, function="less")
        assert less.result(SLOW) == [True, False]


def test_columns_may_have_objects_and_no_calls(host: HostContext) -> None:
    program = Program(TEXT)
    with host:
        names = ["one", "two"]
        assert program.map(names, host=host, function="name").result(SLOW) == names
        assert program.map([], host=host, function="name").result(SLOW) == []


def test_what_the_calls_print_is_the_runs(host: HostContext) -> None:
    with host:
        run = Program(TEXT).map(range(20), host=host, function="shout", output=lambda text: None)
        assert run.result(SLOW) == [()] * 20
        assert sorted(run.output.splitlines()) == sorted(f"int32 = {i}" for i in range(20))


def test_an_error_is_one_of_the_results(host: HostContext) -> None:
    with host:
        run = Program(TEXT).map([6, 1, 9], [2, 0, 3], host=host, function="quotient")
        with pytest.raises(TfrtError, match="zero"):
            run.result(SLOW)
        assert run.results[0].result(SLOW) == 3
        assert run.results[2].result(SLOW) == 3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([1, 2],), "@main takes 2 arguments, found 1"),
        (([1, 2], [1]), "found 1 and 2 values"),
        (
            ([1, 2], [1, 2**31]),
            r"call 2: argument 2 \(%b\) of @main: 2147483648 does not fit in i32",
        ),
        ((["a"], [1]), "call 1: argument 1 .* expected i32, found 'a'"),
        ((np.array([0.5]), [1]), "call 1: argument 1 .* expected i32, found"),
        ((np.array([[1]]), [1]), "call 1: argument 1 .* expected i32, found"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: tuple[object, ...], message: str) -> None:
    with HostContext("s") as host, pytest.raises(TfrtError, match=message):
        Program(TEXT).map(*columns, host=host, function="main")


def test_futures_are_refused() -> None:
    with HostContext("s") as host:
        value = make_unavailable(host.work_queue, "i32")
        with pytest.raises(TfrtError, match="a column has values, not futures"):
            Program(TEXT).map([value], [1], host=host, function="main")
        value.emplace(1)


def test_a_batch_can_be_awaited() -> None:
    async def main(host: HostContext) -> object:
        return await Program(TEXT).map([3, 4], [1, 1], host=host, function="main")

    with HostContext("mstd:2") as host:
        assert asyncio.run(main(host)) == [(4, 2), (5, 3)]


def test_a_batch_is_cancelled_as_a_whole() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def blocks(x: int) -> int:
        begun.set()
        go_on.wait(SLOW)
        return x

    text = (
        'func.func @main(%a: i32) -> i32 {\n  %r = "test.blocks"(%a) : (i32) -> i32\n  '
        "tfrt.return %r : i32\n}"
    )
    kernels = {**available_kernels(), "test.blocks": user_kernel("test.blocks", blocks)}
    with HostContext("mstd:2") as host:
        run = Batch(host, Program(text).load(kernels), "main", [range(100)])
        host.work_queue.begin_calls()
        assert begun.wait(SLOW)
        assert run.cancel("enough")
        go_on.set()
        with pytest.raises(TfrtError, match="enough"):
            run.result(SLOW)


def test_compiled_functions_are_called_in_batches() -> None:
    text = (
        "func.func @twice(%a: i64) -> i64 {\n  %r = arith.addi %a, %a : i64\n  return %r : i64\n}"
    )
    with HostContext("mstd:2") as host:
        assert Program(text).map(range(50), host=host).result(SLOW) == [2 * i for i in range(50)]


def test_arrays_of_a_column_live_until_their_calls_begin(host: HostContext) -> None:
    text = """
    func.func @main(%a: !t.tensor) -> f64 {
      %r = "batch.total"(%a) : (!t.tensor) -> f64
      tfrt.return %r : f64
    }
    """
    kernels = {
        **available_kernels(),
        "batch.total": user_kernel("batch.total", lambda x: float(x.sum())),
    }
    with host:
        program = Program(text)
        columns = [[np.full(1000, float(i)) for i in range(500)]]
        run = Batch(host, program.load(kernels), "main", columns)
        del columns
        others = [
            np.full(1000, -1.0) for _ in range(500)
        ]  # these reuse the memory of arrays that were dropped
        assert run.result(SLOW) == [1000.0 * i for i in range(500)]
        del others


def test_calls_print_in_their_order_without_workers() -> None:
    printed: list[str] = []
    with HostContext("s") as host:
        run = Program(TEXT).map(range(100), host=host, function="shout", output=printed.append)
        assert run.wait(SLOW)
    found = [int(line.removeprefix("int32 = ")) for line in "".join(printed).split("\n")[:-1]]
    assert found == list(range(100))
