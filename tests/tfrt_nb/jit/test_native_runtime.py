"""Test deep recursion, and what a closed runtime leaves behind."""

from __future__ import annotations

import threading
import time

import pytest

from tfrt_nb import kernel
from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.host.context import HostContext

RECURSION = """
async.func @down(%n: i64) -> (!async.token, !async.value<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_zero = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_zero, ^end(%zero : i64), ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %t, %v = async.call @down(%m) : (i64) -> (!async.token, !async.value<i64>)
  %x = await %v : !async.value<i64>
  %y = arith.addi %x, %one : i64
  cf.br ^end(%y : i64)
^end(%r: i64):
  return %r : i64
}
func.func @main() {
  %n = arith.constant 300000 : i64
  %t, %v = async.call @down(%n) : (i64) -> (!async.token, !async.value<i64>)
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}
func.func private @printI64(i64)
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_deep_recursion_of_async_functions_ends_well(queue: str, run, outcome) -> None:
    assert run(RECURSION, queue=queue, checked=False) == outcome("300000")


_begun = threading.Event()


@kernel("test_native_runtime.busy")
def busy() -> None:
    _begun.set()
    time.sleep(0.1)


@pytest.mark.usefixtures("leak_check")
def test_a_runtime_that_is_closed_before_its_host_keeps_no_error() -> None:
    text = (
        'func.func @main() -> !tfrt.chain {\n  %c = "test_native_runtime.busy"() : () -> '
        "!tfrt.chain\n  tfrt.return %c : !tfrt.chain\n}"
    )
    with HostContext("mstd:1") as host:
        runtime = AsyncRuntime(host)
        runtime.close()
        run = Program(text).run(host=host)
        assert _begun.wait(10)
        host.close()
        assert run.wait(10)
