"""Buffers that are used after their end, in whatever way the program gets there: an error at the use.

The line that must fail is marked by `// HERE`.
"""

from __future__ import annotations

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import Location, TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process

SLOW = 60
"""Far more seconds than anything here takes."""
RETURNED = "the buffer has ended: it was deallocated, or its function has returned"
NOT_FREED = "the buffer is deallocated already, or is not one of memref.alloc"
NUMBERS = """  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
"""


def found(host: HostContext, text: str) -> list[tuple[str, int]]:
    """Messages and lines of a run of @main; 0 for what has no place."""
    try:
        run = Program.from_source(text, "f.mlir").run(host, "main")
        assert run.wait(SLOW)
        problems = list(run.diagnostics)
    except TfrtError as refused:
        problems = list(refused.diagnostics)
    return [
        (problem.message, problem.location.line if isinstance(problem.location, Location) else 0)
        for problem in problems
    ]


def marked(text: str) -> int:
    """The line that must fail."""
    return text[: text.index("// HERE")].count("\n") + 1


def main(body: str, others: str = "") -> str:
    """A program whose main function has the numbers and the body, and returns a number."""
    return f"func.func @main() -> i64 {{\n{NUMBERS}{body}  return %v : i64\n}}\n{others}"


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("kind", ["alloc", "alloca"])
def test_an_allocation_that_fails_is_an_error_at_its_line(
    leak_check: None, queue: str, kind: str
) -> None:
    before = native_process().memory_held
    text = main(f"""  %k = arith.constant 1000 : index
  scf.for %i = %z to %k step %s {{
    %m = memref.{kind}(%k) : memref<?xi64> // HERE
    memref.store %v, %m[%i] : memref<?xi64>
  }}
""")

    with HostContext(queue, memory=before + 4_000_000) as host:
        assert found(host, text) == [("there is no memory for the buffer", marked(text))]
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
    try:  # one of the two has it: the task or Python
        array = run.results[0].result(SLOW)
        assert isinstance(array, np.ndarray) and array[0] == 7
        assert problem.message == NOT_FREED
    except TfrtError:
        assert problem.message == RETURNED
