"""Test compiled functions, host programs, and Python waiting for each other's values."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import numpy as np
import pytest

from tfrt_nb import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import TensorShape
from tfrt_runtime.host.tracing.trace import DebugSink, Level, Tracing
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.tensor.tensors import StringHostTensor

SLOW = 120
"""More seconds than any step here should take."""


def parse(text: str) -> Program:
    return Program.from_source(text, "test.mlir")


def run(host: HostContext, program: Program, *arguments: object, function: str = "main"):
    return program.run(host, function, arguments)


def outcomes(execution: Execution) -> list[object]:
    """Return a run's values and error messages, after it has finished."""
    problems = [value.exception(SLOW) for value in execution.results]
    assert execution.wait(SLOW)
    return [
        value.result(SLOW) if problem is None else problem.diagnostics[0].message
        for value, problem in zip(execution.results, problems, strict=True)
    ]


LATER = """
func.func private @printI64(i64)
func.func @main(%v: i32, %w: i32) -> i32 {
  %y = tfrt.call @sum(%v, %w) : (i32, i32) -> i32
  tfrt.return %y : i32
}
async.func @sum(%v: !async.value<i32>, %w: i32) -> !async.value<i32> {
  %seven = arith.constant 7 : i64
  func.call @printI64(%seven) : (i64) -> ()
  %x = await %v : !async.value<i32>
  %y = arith.addi %x, %w : i32
  return %y : i32
}
"""


def test_a_coroutine_awaits_a_value_that_python_resolves_later(host: HostContext) -> None:
    promised = make_unavailable(host.work_queue, "i32")
    execution = run(host, parse(LATER), promised, 5)

    while not execution.output:
        assert not execution.wait(0.01)
    before = execution.results[0].state, execution.output
    threading.Thread(target=promised.emplace, args=(37,)).start()

    assert before == (State.UNAVAILABLE, "7")
    assert outcomes(execution) == [42]


def test_a_coroutine_hears_that_nobody_will_resolve_its_value(host: HostContext) -> None:
    promised = make_unavailable(host.work_queue, "i32")
    execution = run(host, parse(LATER), promised, 5)
    del promised

    assert outcomes(execution) == ["nothing can resolve this value anymore"]


def test_a_plain_function_may_wait_for_python_too(host: HostContext) -> None:
    program = parse("""
func.func @main(%v: i32) -> i32 {
  %y = tfrt.call @twice(%v) : (i32) -> i32
  tfrt.return %y : i32
}
func.func @twice(%v: !async.value<i32>) -> i32 {
  %x = async.await %v : !async.value<i32>
  %y = arith.addi %x, %x : i32
  return %y : i32
}""")
    promised = make_unavailable(host.work_queue, "i32")
    execution = run(host, program, promised)
    # Enough time for a thread that stops waiting too early.
    timer = threading.Timer(0.3, promised.emplace, (21,))
    timer.start()

    assert outcomes(execution) == [42]
    timer.join()


BY_PYTHON = """
async.func @sum(%t: !async.token, %v: !async.value<i32>, %w: i32)
    -> (!async.token, !async.value<i32>) {
  await %t : !async.token
  %x = await %v : !async.value<i32>
  %y = arith.addi %x, %w : i32
  return %y : i32
}
async.func @same(%v: !async.value<index>, %h: !async.value<f16>, %b: !async.value<i1>)
    -> (!async.value<index>, !async.value<f16>, !async.value<i1>) {
  %x = await %v : !async.value<index>
  %y = await %h : !async.value<f16>
  %z = await %b : !async.value<i1>
  return %x, %y, %z : index, f16, i1
}
"""


def test_python_calls_an_async_function_with_values_that_come_later(host: HostContext) -> None:
    token = make_unavailable(host.work_queue)
    value = make_unavailable(host.work_queue, "i32")
    execution = run(host, parse(BY_PYTHON), token, value, 5, function="sum")

    before = [result.state for result in execution.results]
    value.emplace(37)
    token.emplace()

    assert before == [State.UNAVAILABLE, State.UNAVAILABLE]
    assert outcomes(execution) == [CHAIN, 42]


def test_python_calls_an_async_function_with_plain_values(host: HostContext) -> None:
    execution = run(host, parse(BY_PYTHON), 7, 1.5, True, function="same")

    assert outcomes(execution) == [7, 1.5, True]


@pytest.mark.parametrize("function", ["sum", "host"])
def test_an_async_function_awaits_a_future(host: HostContext, function: str) -> None:
    program = parse(
        BY_PYTHON
        + """
func.func @host(%t: !tfrt.chain, %v: i32, %w: i32) -> (!tfrt.chain, i32) {
  %c, %y = tfrt.call @sum(%t, %v, %w) : (!tfrt.chain, i32, i32) -> (!tfrt.chain, i32)
  tfrt.return %c, %y : !tfrt.chain, i32
}"""
    )
    token: concurrent.futures.Future[None] = concurrent.futures.Future()
    value: concurrent.futures.Future[int] = concurrent.futures.Future()
    good = run(host, program, token, value, 5, function=function)
    failing: concurrent.futures.Future[int] = concurrent.futures.Future()
    bad = run(host, program, CHAIN, failing, 5, function=function)

    token.set_result(None)
    value.set_result(37)
    failing.set_exception(ValueError("no number"))

    assert outcomes(good) == [CHAIN, 42]
    assert outcomes(bad) == ["ValueError: no number"] * 2


def test_a_future_may_be_cancelled_or_of_another_type(host: HostContext) -> None:
    program = parse(LATER)
    cancelled: concurrent.futures.Future[int] = concurrent.futures.Future()
    cancelled.cancel()
    wrong: concurrent.futures.Future[str] = concurrent.futures.Future()
    wrong.set_result("text")
    executions = [run(host, program, future, 1) for future in (cancelled, wrong)]

    assert [outcomes(execution) for execution in executions] == [
        ["the future was cancelled"],
        ["argument 1 (%v) of @main: expected i32, found 'text'"],
    ]


def test_results_and_futures_of_an_event_loop_await_each_other(host: HostContext) -> None:
    program = parse(BY_PYTHON)

    async def main() -> list[object]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()
        execution = run(host, program, None, future, 5, function="sum")
        loop.call_soon(future.set_result, 20)
        results = [await value for value in execution.results]
        assert await asyncio.to_thread(execution.wait, SLOW)
        return results

    assert asyncio.run(main()) == [CHAIN, 25]


CANCELLED = """
func.func private @printI64(i64)
func.func @main(%v: i32) -> i32 {
  %y = tfrt.call @FUNCTION(%v) : (i32) -> i32
  tfrt.return %y : i32
}
func.func @strict(%x: i32) -> i32 {
  %seven = arith.constant 7 : i64
  func.call @printI64(%seven) : (i64) -> ()
  return %x : i32
}
func.func @waits(%v: !async.value<i32>) -> i32 {
  %x = async.await %v : !async.value<i32>
  return %x : i32
}
async.func @suspends(%v: !async.value<i32>) -> !async.value<i32> {
  %seven = arith.constant 7 : i64
  func.call @printI64(%seven) : (i64) -> ()
  %x = async.await %v : !async.value<i32>
  return %x : i32
}
"""


def test_a_function_does_not_start_in_a_run_that_is_cancelled(host: HostContext) -> None:
    promised = make_unavailable(host.work_queue, "i32")
    execution = run(host, parse(CANCELLED.replace("FUNCTION", "strict")), promised)
    execution.cancel("enough")
    promised.emplace(1)

    assert outcomes(execution) == ["enough"]
    assert (execution.output, execution.diagnostics) == ("", [])


def test_a_plain_function_that_waits_is_ended_by_a_cancellation(host: HostContext) -> None:
    promised = make_unavailable(host.work_queue, "i32")
    execution = run(host, parse(CANCELLED.replace("FUNCTION", "waits")), promised)
    # On a queue without workers, the function waits on this thread.
    timer = threading.Timer(0.1, execution.cancel, ("enough",))
    timer.start()

    assert execution.wait(SLOW)
    assert outcomes(execution) == ["enough"]
    timer.join()
    promised.emplace(1)


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.usefixtures("leak_check")
def test_a_host_may_be_closed_while_a_coroutine_waits(queue: str) -> None:
    with HostContext(queue, output=lambda _: None) as host:
        promised = make_unavailable(host.work_queue, "i32")
        execution = run(host, parse(CANCELLED.replace("FUNCTION", "suspends")), promised)
        while not execution.output:
            assert not execution.wait(0.01)

    assert outcomes(execution) == ["the host is closed"]
    promised.emplace(1)


def test_values_that_many_calls_wait_for_are_forgotten_when_they_are_there(
    host: HostContext,
) -> None:
    program = parse(CANCELLED.replace("FUNCTION", "suspends"))
    for number in range(3):
        promised = [make_unavailable(host.work_queue, "i32") for _ in range(700)]
        executions = [run(host, program, value) for value in promised]
        for value in promised:
            value.emplace(number)
        assert [outcomes(e) for e in executions] == [[number]] * len(executions)


TENSORS = """
func.func @main(%t: !t.tensor) -> (!tfrt.chain, !t.tensor, !t.tensor) {
  %c, %same, %copy = tfrt.call @count(%t) : (!t.tensor) -> (!tfrt.chain, !t.tensor, !t.tensor)
  tfrt.return %c, %same, %copy : !tfrt.chain, !t.tensor, !t.tensor
}
func.func @count(%a: memref<?x2xi32>)
    -> (!async.token, memref<?x2xi32>, memref<?x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %a, %c0 : memref<?x2xi32>
  %b = memref.alloc(%n) : memref<?x2xi32>
  "memref.copy"(%a, %b) : (memref<?x2xi32>, memref<?x2xi32>) -> ()
  %t = async.execute {
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c2 step %c1 {
        %x = memref.load %a[%i, %j] : memref<?x2xi32>
        %y = arith.addi %x, %x : i32
        memref.store %y, %a[%i, %j] : memref<?x2xi32>
      }
    }
    async.yield
  }
  return %t, %a, %b : !async.token, memref<?x2xi32>, memref<?x2xi32>
}
"""


def test_a_tensor_crosses_both_ways_without_a_copy(host: HostContext) -> None:
    array = np.arange(6, dtype=np.int32).reshape(3, 2)
    execution = run(host, parse(TENSORS), DenseHostTensor.over(array))
    done, same, copy = outcomes(execution)

    assert done is CHAIN
    assert isinstance(same, np.ndarray)
    assert isinstance(copy, np.ndarray)
    assert same.ctypes.data == array.ctypes.data
    assert array.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert copy.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (np.ones((2, 2), np.float32), "dtype = f32, shape = [2, 2]"),
        (np.ones((2, 3), np.int32), "dtype = i32, shape = [2, 3]"),
        (np.ones(2, np.int32), "dtype = i32, shape = [2]"),
    ],
)
def test_a_tensor_that_does_not_fit_is_an_error_at_the_call(
    host: HostContext, array: np.ndarray, found: str
) -> None:
    execution = run(host, parse(TENSORS), DenseHostTensor.over(array))

    assert execution.wait(SLOW)
    [problem] = execution.diagnostics
    assert problem.message == f"expected a tensor for memref<?x2xi32>, found {found}"
    assert TENSORS.splitlines()[problem.location.line - 1].startswith("  %c, %same, %copy")
    assert outcomes(execution) == [problem.message] * 3


def test_what_is_no_tensor_is_refused(host: HostContext) -> None:
    with pytest.raises(
        TfrtError, match=r"argument 1 \(%\w+\) of @main: expected !t.tensor, found 'text'"
    ):
        run(host, parse(TENSORS), "text")
    texts = StringHostTensor(TensorShape((1,)), ("text",))
    execution = run(host, parse(TENSORS), texts)

    assert outcomes(execution) == ["expected a dense tensor for memref<?x2xi32>"] * 3


BUSY = """
func.func @main(%n: i32) -> (i32, i32, i32, i32) {
  %a = tfrt.call @waits(%n) : (i32) -> i32
  %b = tfrt.call @waits(%n) : (i32) -> i32
  %c, %d = "my.pair"(%n, %n, %n) : (i32, i32, i32) -> (i32, i32)
  %e = tfrt.add.i32 %c, %d
  %f = tfrt.call @waits(%e) : (i32) -> i32
  tfrt.return %a, %b, %e, %f : i32, i32, i32, i32
}
func.func @waits(%n: i32) -> i32 {
  %t, %v = async.execute -> !async.value<i32> {
    %u, %w = async.execute -> !async.value<i32> {
      %m = arith.addi %n, %n : i32
      async.yield %m : i32
    }
    %x = async.await %w : !async.value<i32>
    async.yield %x : i32
  }
  %y = async.await %v : !async.value<i32>
  return %y : i32
}
"""


def test_a_thread_runs_other_kernels_while_a_function_waits(host: HostContext) -> None:
    from tfrt_runtime.kernels.standard import standard_kernels
    from tfrt_runtime.kernels.users.user import user_kernel

    registry = standard_kernels()
    registry.add(user_kernel("my.pair", lambda a, b, c: (a + b, c)))
    program = parse(BUSY)
    for number in range(50):
        execution = program.run(host, "main", [number], kernels=registry)
        assert outcomes(execution) == [2 * number, 2 * number, 3 * number, 6 * number]


def test_a_program_is_the_same_on_several_hosts(leak_check: None) -> None:
    program = parse(LATER)
    with HostContext("s") as first, HostContext("mstd:2") as second:
        executions = [run(host, program, 1, 2) for host in (first, second)]
        assert [outcomes(execution) for execution in executions] == [[3], [3]]
        del executions


def test_calls_are_traced_like_those_of_other_kernels(leak_check: None) -> None:
    lines: list[str] = []
    tracing = Tracing(DebugSink(lines.append), Level.DEBUG)
    tracing.request(True)
    with HostContext("s", tracing=tracing, output=lambda _: None) as host:
        execution = parse(LATER).run(host, "main", [1, 2])
        assert execution.wait(SLOW)
        assert outcomes(execution) == [3]
        del execution

    assert any("native function sum" in line for line in lines), lines


def test_errors_reach_the_diagnostics_once(host: HostContext) -> None:
    program = parse("""
func.func @main() -> (!tfrt.chain, i32, i32) {
  %c, %x, %y = tfrt.call @fails() : () -> (!tfrt.chain, i32, i32)
  tfrt.return %c, %x, %y : !tfrt.chain, i32, i32
}
async.func @fails() -> (!async.token, !async.value<i32>, !async.value<i32>) {
  %no = arith.constant false
  cf.assert %no, "never"
  %x = arith.constant 1 : i32
  return %x, %x : i32, i32
}""")
    execution = run(host, program)

    assert execution.wait(SLOW)
    assert [problem.message for problem in execution.diagnostics] == ["never"]
    assert outcomes(execution) == ["never"] * 3


LATE_TENSOR = """
func.func @main(%t: !t.tensor, %u: !t.tensor) -> (!t.tensor, !t.tensor, !t.tensor) {
  %a, %b, %c = tfrt.call @pick(%t, %u) : (!t.tensor, !t.tensor) -> (!t.tensor, !t.tensor, !t.tensor)
  tfrt.return %a, %b, %c : !t.tensor, !t.tensor, !t.tensor
}
async.func @pick(%t: memref<?xi8>, %v: !async.value<memref<?xi8>>)
    -> (!async.value<memref<?xi8>>, !async.value<memref<?xi8>>, !async.value<memref<?xi8>>) {
  %n = arith.constant 8 : index
  %one = arith.constant 1 : i8
  %c0 = arith.constant 0 : index
  %u = await %v : !async.value<memref<?xi8>>
  %made = memref.alloc(%n) : memref<?xi8>
  memref.store %one, %made[%c0] : memref<?xi8>
  return %u, %made, %made : memref<?xi8>, memref<?xi8>, memref<?xi8>
}
"""


def test_tensors_may_come_and_go_later_and_a_buffer_twice(host: HostContext) -> None:
    first, late = np.zeros(3, np.int8), np.ones(5, np.int8)
    promised = make_unavailable(host.work_queue)
    execution = run(host, parse(LATE_TENSOR), DenseHostTensor.over(first), promised)
    assert not execution.wait(0.05)
    promised.emplace(DenseHostTensor.over(late))
    given, made, again = outcomes(execution)

    assert isinstance(given, np.ndarray)
    assert isinstance(made, np.ndarray)
    assert isinstance(again, np.ndarray)
    assert given.ctypes.data == late.ctypes.data
    assert made.ctypes.data == again.ctypes.data
    assert made[0] == 1


def test_a_late_tensor_that_does_not_fit_is_an_error_at_the_call(host: HostContext) -> None:
    promised = make_unavailable(host.work_queue)
    execution = run(host, parse(LATE_TENSOR), DenseHostTensor.over(np.zeros(3, np.int8)), promised)
    promised.emplace(DenseHostTensor.over(np.ones((2, 2), np.int8)))
    message = "expected a tensor for memref<?xi8>, found dtype = i8, shape = [2, 2]"

    assert outcomes(execution) == [message] * 3
    [problem] = execution.diagnostics
    assert "tfrt.call @pick" in LATE_TENSOR.splitlines()[problem.location.line - 1]
