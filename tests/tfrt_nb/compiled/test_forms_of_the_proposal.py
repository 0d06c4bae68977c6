"""Test forms that occur only in the discussion of the 2020 proposal, verbatim."""

from __future__ import annotations

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_nb.source import SourceError, parse_module
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN

SLOW = 60


def results(host: HostContext, text: str, *arguments: object) -> tuple[list[object], str]:
    """Return the results and the output of @main."""
    execution = Program.from_source(text, "seed.mlir").run(
        host, "main", arguments, output=lambda _: None
    )
    assert execution.wait(SLOW)
    assert execution.diagnostics == []
    return [value.result() for value in execution.results], execution.output


def test_a_plain_function_that_async_return_ends_is_asynchronous(host: HostContext) -> None:
    text = """
func @async_func() -> !async.handle {
  call @print_hello_world() : () -> ()
  async.return // no need to create a fake handle
}
func @print_hello_world() {
  %x = constant 789 : i32
  call @printI64(%x) : (i32) -> ()
  return
}
func @main() {
  %handle = call @async_func() : () -> !async.handle
  async.sync_await %handle : !async.handle
  return
}
func private @printI64(i32)
""".replace("i32", "i64")
    assert results(host, text) == ([], "789")


def test_an_empty_async_value_is_a_handle(host: HostContext) -> None:
    text = """
func @after(%first: !async.value<>) -> !async.value<> {
  async.await %first : !async.handle
  async.return
}
func @main() -> i32 {
  %t = async.execute { async.yield }
  %done = call @after(%t) : (!async.token) -> !async.value<>
  async.sync_await %done : !async.value<>
  %x = constant 3 : i32
  return %x : i32
}
"""
    assert results(host, text)[0] == [3]


def test_async_return_has_no_place_in_a_function_without_handles() -> None:
    with pytest.raises(SourceError, match="expects parent op 'async.func'"):
        parse_module("func @f() -> i32 {\n  async.return\n}", "f.mlir")


def test_jit_execute_runs_its_region_on_what_it_is_given(host: HostContext) -> None:
    text = """
func @main(%arg0: !t.tensor, %arg1: !t.tensor) -> !hex.chain {
  %done = hex.jit_execute(%arg0, %arg1: memref<?xf32>) -> !hex.chain {
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %n = dim %arg0, %c0 : memref<?xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %x = load %arg0[%i] : memref<?xf32>
      store %x, %arg1[%i] : memref<?xf32>
    }
  }
  hex.return %done : !hex.chain
}
"""
    source, target = np.array([1, 2, 3], np.float32), np.zeros(3, np.float32)

    assert results(host, text, source, target)[0] == [CHAIN]
    assert target.tolist() == [1, 2, 3]


def test_run_gives_values_and_then_the_chain_of_its_end(host: HostContext) -> None:
    text = """
func @main(%x: i32) -> (i32, !hex.chain, i32) {
  %value, %chain = hex.run (%x) {
    %t, %v = async.execute -> !async.value<i32> {
      %y = addi %x, %x : i32
      async.yield %y : i32
    }
    %1 = async.await %v : !async.value<i32>
    kernel.return %1
  } : i32, !hex.chain
  %other = hex.run {
    %2 = constant 4 : i32
    kernel.return %2 : i32
  } : i32
  hex.return %value, %chain, %other : i32, !hex.chain, i32
}
"""
    assert results(host, text, 20)[0] == [40, CHAIN, 4]
    again = Program.from_bef(Program.from_source(text, "seed.mlir").bef, "seed.bef")
    execution = again.run(host, "main", [5])
    assert [value.result(SLOW) for value in execution.results] == [10, CHAIN, 4]
    assert execution.wait(SLOW)


def test_a_return_names_results_that_there_are() -> None:
    text = """
func @main() -> i32 {
  %other = hex.run {
    %2 = constant 4 : i32
    kernel.return %2#7
  } : i32
  hex.return %other : i32
}
"""
    with pytest.raises(SourceError, match="reference to invalid result number"):
        parse_module(text, "f.mlir")
