"""Test arrays as buffers of compiled code that Python calls: shared, awaited, returned."""

from __future__ import annotations

import gc
from concurrent.futures import Future

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.tensor.dense import DenseHostTensor

SLOW = 60
"""Many more seconds than any step here takes."""
TEXT = """
async.func @sum(%v: !async.value<memref<?xf64>>)
    -> (!async.value<f64>, !async.value<memref<?xf64>>) {
  %m = await %v : !async.value<memref<?xf64>>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xf64>
  %z = arith.constant 0.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> f64 {
    %x = memref.load %m[%i] : memref<?xf64>
    %w = arith.addf %a, %x : f64
    scf.yield %w : f64
  }
  return %s, %m : f64, memref<?xf64>
}
func.func @make(%n: index) -> (memref<?x2xi64>, memref<?x2xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc(%n) : memref<?x2xi64>
  scf.for %i = %c0 to %n step %c1 {
    %x = arith.index_cast %i : index to i64
    memref.store %x, %m[%i, %c0] : memref<?x2xi64>
    memref.store %x, %m[%i, %c1] : memref<?x2xi64>
  }
  return %m, %m : memref<?x2xi64>, memref<?x2xi64>
}
func.func @table() -> memref<2xi32> {
  %m = memref.get_global @pair : memref<2xi32>
  return %m : memref<2xi32>
}
memref.global "private" @pair : memref<2xi32> = dense<[3, 4]>
"""


@pytest.fixture
def program() -> Program:
    made = Program.from_source(TEXT, "f.mlir")
    made._load_compiled("sum")  # loaded before anything is counted, because it outlives the test
    return made


def test_an_array_that_was_given_comes_back_as_the_same_memory(
    program: Program, host: HostContext
) -> None:
    array = np.arange(10.0)
    run = program.run(host, "sum", [array])
    total, same = (value.result(SLOW) for value in run.results)

    assert run.wait(SLOW)
    assert total == 45.0
    assert isinstance(same, np.ndarray) and np.shares_memory(same, array)


def test_an_awaited_array_may_come_later(program: Program, host: HostContext) -> None:
    later: Future[object] = Future()
    run = program.run(host, "sum", [later])
    assert not run.results[0].done()
    later.set_result(np.arange(4.0))

    assert run.results[0].result(SLOW) == 6.0
    assert run.wait(SLOW)


def test_a_tensor_and_the_result_of_another_call_are_arrays_too(
    program: Program, host: HostContext
) -> None:
    tensor = DenseHostTensor.over(np.arange(5.0))
    first = program.run(host, "sum", [tensor])
    second = program.run(host, "sum", [first.results[1]])

    assert second.results[0].result(SLOW) == 10.0
    assert first.wait(SLOW) and second.wait(SLOW)


@pytest.mark.parametrize("wrong", [[1.0, 2.0], np.arange(3), np.ones((2, 2))])
def test_what_comes_and_does_not_fit_is_the_result(
    program: Program, host: HostContext, wrong: object
) -> None:
    later: Future[object] = Future()
    run = program.run(host, "sum", [later])
    later.set_result(wrong)

    assert run.wait(SLOW)
    with pytest.raises(TfrtError, match=r"argument 1 \(%v\) of @sum: .*memref<\?xf64>"):
        run.results[0].result(0)


def test_what_is_given_and_does_not_fit_is_refused_at_once(
    program: Program, host: HostContext
) -> None:
    with pytest.raises(TfrtError, match=r"argument 1 \(%v\) of @sum: an array of i64 with shape"):
        program.run(host, "sum", [np.arange(3)])


def test_an_error_that_is_awaited_is_the_result(program: Program, host: HostContext) -> None:
    later: Future[object] = Future()
    run = program.run(host, "sum", [later])
    later.set_exception(ValueError("nothing there"))

    assert run.wait(SLOW)
    with pytest.raises(TfrtError, match="nothing there"):
        run.results[0].result(0)


def test_what_the_code_has_allocated_belongs_to_the_arrays(
    program: Program, host: HostContext
) -> None:
    run = program.run(host, "make", [3])
    one, other = (value.result(SLOW) for value in run.results)
    assert isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    assert np.array_equal(one, [[0, 0], [1, 1], [2, 2]])
    assert np.shares_memory(one, other) and not one.flags.writeable
    assert run.wait(SLOW)
    del run, one
    gc.collect()
    assert other[1, 1] == 1
    before = native_process().memory_held

    del other
    gc.collect()
    assert native_process().memory_held == before - 128


def test_an_empty_buffer_is_an_empty_array(program: Program, host: HostContext) -> None:
    run = program.run(host, "make", [0])
    found = run.results[0].result(SLOW)

    assert run.wait(SLOW)
    assert isinstance(found, np.ndarray) and found.shape == (0, 2)


def test_a_global_buffer_is_copied(program: Program, host: HostContext) -> None:
    first = program.run(host, "table").results[0].result(SLOW)
    second = program.run(host, "table").results[0].result(SLOW)
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)

    assert not np.shares_memory(first, second)
    assert first.tolist() == second.tolist() == [3, 4]
