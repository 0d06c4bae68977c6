"""Test native kernels' tensors: in Python, across hosts and threads, and until they are freed."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.allocator import LeakCheckAllocator, PooledAllocator
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.values.async_value import make_unavailable

pytestmark = pytest.mark.usefixtures("leak_check")

FILLED = """
  func @main() -> (!t.tensor, !tfrt.chain) {
    %c0 = tfrt.new.chain
    %t = tfrt_dht.create_uninitialized_tensor.f32.2 [3 : i64, 5 : i64]
    %c1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c0 2.5 : f32
    %c2 = "tfrt_test.relu_inplace.f32"(%t, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
    tfrt.return %t, %c2 : !t.tensor, !tfrt.chain
  }"""

PRODUCT = """
  func @main(%a: !t.tensor, %b: !t.tensor, %c: !t.tensor) -> !tfrt.chain {
    %c0 = tfrt.new.chain
    %one = tfrt.constant.f32 1.0
    %two = tfrt.constant.f32 2.0
    %c1 = "tfrt_test.matmul.f32.2"(%one, %a, %b, %two, %c, %c0)
        : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
    %c2 = "tfrt_test.relu_inplace.f32"(%c, %c1) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
    tfrt.return %c2 : !tfrt.chain
  }"""


def filled(host: HostContext) -> DenseHostTensor:
    run = Program.from_source(FILLED, "filled").run(host)
    assert run.wait(60)
    made = run.results[0].payload()
    assert isinstance(made, DenseHostTensor)
    return made


def test_a_tensor_outlives_its_run_and_its_host() -> None:
    with HostContext("s") as host:
        array = filled(host).array
        gc.collect()
    assert array.tolist() == [[2.5] * 5] * 3
    assert native_process().live_tensors > 0
    view = array[1:]
    del array
    assert view.tolist() == [[2.5] * 5] * 2


def test_a_host_that_is_closed_keeps_no_memory_for_others() -> None:
    with HostContext("s") as host:
        filled(host)
        gc.collect()
        held = native_process().memory_held
    assert native_process().memory_held < held


def test_python_and_native_kernels_see_the_same_memory() -> None:
    with HostContext("s") as host:
        made = filled(host)
        made.array[0, 0] = -7.0
        text = """
          func @main(%t: !t.tensor) -> !tfrt.chain {
            %c0 = tfrt.new.chain
            %c1 = "tfrt_test.relu_inplace.f32"(%t, %c0) : (!t.tensor, !tfrt.chain) -> !tfrt.chain
            tfrt.return %c1 : !tfrt.chain
          }"""
        assert Program.from_source(text, "relu").run(host, arguments=[made]).wait(60)
        assert made.array[0, 0] == 0.0


def test_a_tensor_of_one_host_is_an_argument_on_another() -> None:
    with HostContext("s") as first, HostContext("mstd:2") as second:
        given = filled(first)
        text = "func @main(%t: !t.tensor) -> !t.tensor { tfrt.return %t : !t.tensor }"
        run = Program.from_source(text, "same").run(second, arguments=[given])
        run.results[0].result(60)
        returned = run.results[0].payload()
        assert isinstance(returned, DenseHostTensor)
        assert np.shares_memory(returned.array, given.array)


def test_a_run_holds_the_tensors_that_it_was_given() -> None:
    text = "func @main(%t: !t.tensor) -> !t.tensor { tfrt.return %t : !t.tensor }"
    program = Program.from_source(text, "same")
    with HostContext("s") as host:
        given = [filled(host)]
        run = program.run(host, arguments=given)
        given.clear()
        gc.collect()
        again = program.run(host, arguments=[filled(host)])
        for one in (run, again):
            found = one.result()
            assert isinstance(found, np.ndarray)
            assert found.tolist() == [[2.5] * 5] * 3


def test_an_allocator_that_counts_hears_of_each_tensor() -> None:
    allocator = LeakCheckAllocator(PooledAllocator())
    with HostContext("s", allocator=allocator) as host:
        tensor = filled(host)
        assert allocator.ledger.total_allocations == 1
        assert allocator.ledger.current_bytes == 60
        del tensor
        gc.collect()
    assert not allocator.has_leak


def test_an_argument_that_does_not_fit_leaves_nothing_of_the_others() -> None:
    text = """
      func @main(%o: !t.tensor, %t: !t.tensor, %i: i32) -> !tfrt.chain {
        %c = tfrt.new.chain
        tfrt.return %c : !tfrt.chain
      }"""
    with HostContext("s") as host:
        program = Program.from_source(text, "arguments")
        tensor = DenseHostTensor.over(np.zeros(3, np.float32))
        with pytest.raises(TfrtError, match=r"argument 3 \(%\w+\) of @main: expected i32, found '"):
            program.run(host, arguments=[tensor, tensor, "one"])
    with pytest.raises(TfrtError, match="the host is closed"):
        program.run(host, arguments=[tensor, tensor, 1])


def test_a_tensor_for_a_value_that_is_there_already_is_given_up() -> None:
    with HostContext("s") as host:
        value = make_unavailable(host.work_queue)
        value.emplace(DenseHostTensor.over(np.arange(3)))
        with pytest.raises(RuntimeError, match="can be resolved only once"):
            value.emplace(DenseHostTensor.over(np.arange(4)))
        found = value.payload()
        assert isinstance(found, DenseHostTensor)
        assert found.array.tolist() == [0, 1, 2]


@pytest.mark.parametrize("queue", ["s", "mstd:1", "mstd:2", "mstd:4"])
@pytest.mark.parametrize("sizes", [(64, 784, 512), (256, 256, 256), (40, 1200, 1000)])
def test_large_products_are_right_on_every_queue(queue: str, sizes: tuple[int, int, int]) -> None:
    rows, inner, columns = sizes
    chance = np.random.default_rng(1)
    # Sums of small whole numbers are exact in any order.
    a = chance.integers(-4, 5, (rows, inner)).astype(np.float32)
    b = chance.integers(-4, 5, (inner, columns)).astype(np.float32)
    c = chance.integers(-4, 5, (rows, columns)).astype(np.float32)
    expected = np.maximum(a @ b + 2 * c, 0)
    program = Program.from_source(PRODUCT, "product")
    with HostContext(queue) as host:
        for _ in range(10):
            result = c.copy()
            tensors = [DenseHostTensor.over(array) for array in (a, b, result)]
            assert program.run(host, arguments=tensors).wait(60)
            assert np.array_equal(result, expected)


def test_a_run_that_is_cancelled_lets_its_products_end() -> None:
    a = np.ones((64, 700), np.float32)
    b = np.ones((700, 1024), np.float32)
    program = Program.from_source(PRODUCT, "product")
    with HostContext("mstd:3") as host:
        for _ in range(20):
            result = np.zeros((64, 1024), np.float32)
            tensors = [DenseHostTensor.over(array) for array in (a, b, result)]
            run = program.run(host, arguments=tensors)
            waiting = threading.Thread(target=run.wait)
            waiting.start()
            run.cancel()
            waiting.join()
            assert run.is_done
            # Either no thread has started the product, or all of it is computed.
            assert np.unique(result).tolist() in ([0.0], [700.0])


def test_an_array_is_a_tensor_where_the_program_takes_one() -> None:
    text = """func @main(%t: !t.tensor) -> !tfrt.chain {
      %c0 = tfrt.new.chain
      %c1 = tfrt_dht.fill_tensor_with_constant.f32 %t, %c0 2.5 : f32
      tfrt.return %c1 : !tfrt.chain
    }"""
    array = np.zeros(3, np.float32)
    with HostContext("s") as host:
        program = Program.from_source(text, "fill")
        assert program.run(host, arguments=[array]).wait(60)
        with pytest.raises(
            TfrtError, match=r"argument 1 \(%\w+\) of @main: a tensor cannot hold elements"
        ):
            program.run(host, arguments=[np.array(["text"])])
    assert array.tolist() == [2.5, 2.5, 2.5]
