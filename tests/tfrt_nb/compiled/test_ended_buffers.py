"""Test buffers for which there is no memory, or that Python holds.

Other cases are in `tests/programs/failing`.
"""

from __future__ import annotations

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process

SLOW = 60
"""Many more seconds than any step here takes."""
RETURNED = "the buffer no longer exists: it was deallocated, or its function has returned"
NOT_FREED = "the buffer was already deallocated, or is not from memref.alloc"


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("kind", ["alloc", "alloca"])
def test_an_allocation_that_fails_is_an_error_at_its_line(
    leak_check: None, queue: str, kind: str
) -> None:
    before = native_process().memory_held
    text = f"""func.func @main() {{
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %k = arith.constant 1000 : index
  %v = arith.constant 7 : i64
  scf.for %i = %z to %k step %s {{
    %m = memref.{kind}(%k) : memref<?xi64>
    memref.store %v, %m[%i] : memref<?xi64>
  }}
  return
}}"""
    with HostContext(queue, memory=before + 4_000_000) as host:
        run = Program.from_source(text, "f.mlir").run(host)
        assert run.wait(SLOW)
        assert list(map(str, run.diagnostics)) == [
            "f.mlir:7:10: error: not enough memory for the buffer"
        ]
        del run
    if kind == "alloca":
        assert native_process().memory_held - before < 2_000_000


def test_an_array_that_is_read_only_is_not_written(host: HostContext) -> None:
    text = """func.func @main(%m: memref<4xi64>) -> i64 {
  %z = arith.constant 0 : index
  %x = memref.load %m[%z] : memref<4xi64>
  memref.store %x, %m[%z] : memref<4xi64>
  return %x : i64
}"""
    array = np.arange(4)
    array.flags.writeable = False
    run = Program.from_source(text, "f.mlir").run(host, "main", [array])

    assert run.wait(SLOW)
    assert [problem.message for problem in run.diagnostics] == ["the buffer is constant"]


def test_python_keeps_a_buffer_that_the_code_may_not_give_back(host: HostContext) -> None:
    text = """func.func @main() -> (memref<4xi64>, !async.token) {
  %z = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %m = memref.alloc() : memref<4xi64>
  memref.store %v, %m[%z] : memref<4xi64>
  %a = async.execute {
    func.call @free(%m) : (memref<4xi64>) -> ()
    async.yield
  }
  return %m, %a : memref<4xi64>, !async.token
}
func.func private @free(%m: memref<4xi64>) {
  memref.dealloc %m : memref<4xi64>
  return
}"""
    run = Program.from_source(text, "f.mlir").run(host, "main")
    assert run.wait(SLOW)
    [problem] = run.diagnostics
    try:  # either the task or Python has it
        array = run.results[0].result(SLOW)
        assert isinstance(array, np.ndarray) and array[0] == 7
        assert problem.message == NOT_FREED
    except TfrtError:
        assert problem.message == RETURNED
