"""Tokens that programs make and count by hand, and deep recursions, on the native runtime."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from tfrt_nb import kernel
from tfrt_nb.jit.coroutines import packed_name
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime, LiveObject
from tfrt_runtime.diagnostics import Diagnostic, TfrtError
from tfrt_runtime.host.context import HostContext

QUEUES = ["s", "mstd:2"]


@dataclass(frozen=True)
class Outcome:
    """What a program printed, why it failed, and what it left behind."""

    output: str
    errors: tuple[Diagnostic, ...] = ()
    left_over: tuple[LiveObject, ...] = ()


def run(text: str, queue: str, *, checked: bool = True) -> Outcome:
    """Compile a program and run its `main`."""
    output: list[str] = []
    module = parse_module(text, "program")
    with (
        HostContext(queue) as host,
        AsyncRuntime(host, checked=checked, output=output.append) as runtime,
    ):
        code = compile_program(module, runtime.functions)
        errors: tuple[Diagnostic, ...] = ()
        try:
            runtime.run(code.address(packed_name("main")))
        except TfrtError as problem:
            errors = problem.diagnostics
        return Outcome("".join(output), errors, tuple(runtime.live_objects()))


PRINTING = "\nfunc.func private @printI64(i64)\n"

CHAIN = """
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 200000 : index
  %first = async.execute {
    async.yield
  }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %first) -> (!async.token) {
    %next = async.execute [%before] {
      async.yield
    }
    scf.yield %next : !async.token
  }
  async.await %last : !async.token
  return
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_a_chain_of_many_tasks_takes_no_stack(queue: str) -> None:
    assert run(CHAIN, queue, checked=False) == Outcome("")


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
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_a_deep_recursion_of_async_functions_ends_well(queue: str) -> None:
    assert run(RECURSION + PRINTING, queue, checked=False) == Outcome("300000")


_begun = threading.Event()


@kernel("test_native_runtime.busy")
def busy() -> None:
    _begun.set()
    time.sleep(0.1)


@pytest.mark.usefixtures("leak_check")
def test_a_runtime_that_is_closed_before_its_host_keeps_no_error() -> None:
    text = 'func.func @main() -> !tfrt.chain {\n  %c = "test_native_runtime.busy"() : () -> !tfrt.chain\n  tfrt.return %c : !tfrt.chain\n}'
    with HostContext("mstd:1") as host:
        runtime = AsyncRuntime(host)
        runtime.close()
        run = Program(text).run(host=host)
        assert _begun.wait(10)
        host.close()
        assert run.wait(10)
