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
GONE = "the buffer is used after its end: it was deallocated, or its function has returned"
RETURNED = "the buffer has ended: it was deallocated, or its function has returned"
NOT_FREED = "the buffer is deallocated already, or is not one of memref.alloc"
NUMBERS = """  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %n = arith.constant 8 : index
  %v = arith.constant 7 : i64
"""
FREE = """func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64>
  return
}
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


def test_a_buffer_that_never_was_has_ended(host: HostContext) -> None:
    text = main("""  %m = ub.poison : memref<4xi64>
  %x = memref.load %m[%z] : memref<4xi64> // HERE
""")

    assert found(host, text) == [(GONE, marked(text))]


RIGHT = {
    "a buffer of each round goes on to the next": (
        63,
        """  %m0 = memref.alloca() : memref<4xi64>
  memref.store %v, %m0[%z] : memref<4xi64>
  %m = scf.for %i = %z to %n step %s iter_args(%p = %m0) -> memref<4xi64> {
    %q = memref.alloca() : memref<4xi64>
    %x = memref.load %p[%z] : memref<4xi64>
    %w = arith.addi %x, %v : i64
    memref.store %w, %q[%z] : memref<4xi64>
    scf.yield %q : memref<4xi64>
  }
  %r = memref.load %m[%z] : memref<4xi64>
""",
    ),
    "an index that is nothing is some index": (
        7,
        """  %m = memref.alloc(%s) : memref<?xi64>
  %i = ub.poison : index
  memref.store %v, %m[%i] : memref<?xi64>
  %r = memref.load %m[%z] : memref<?xi64>
""",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_use_before_the_end_is_right(host: HostContext, name: str) -> None:
    number, body = RIGHT[name]
    text = main(body).replace("return %v", "return %r")

    assert Program.from_source(text, "f.mlir").run(host, "main").results[0].result(SLOW) == number


LOOP = (
    """func.func @main(%n: index, %k: index) -> index {
  %z = arith.constant 0 : index
  %s = arith.constant 1 : index
  %h = arith.constant 100 : index
  %v = arith.constant 1 : i64
  %m = memref.alloc(%h) : memref<?xi64>
  FREE
  scf.for %i = %z to %n step %s {
    scf.for %j = %z to %k step %s {
      memref.store %v, %m[%j] : memref<?xi64>
      PRINT
    }
  }
  return %n : index
}
func.func private @printI64(i64)
"""
    + FREE
)
DEAD = LOOP.replace("FREE", "func.call @free(%m) : (memref<?xi64>) -> ()")
PRINT = "func.call @printI64(%v) : (i64) -> ()"


@pytest.mark.parametrize("rounds", [(0, 5), (5, 0), (0, 1000)])
@pytest.mark.parametrize("text", [LOOP.replace("FREE", ""), DEAD])
def test_a_loop_without_rounds_uses_nothing(
    host: HostContext, text: str, rounds: tuple[int, int]
) -> None:
    run = Program.from_source(text.replace("PRINT", ""), "f.mlir").run(host, "main", [*rounds])

    assert run.results[0].result(SLOW) == rounds[0]


@pytest.mark.parametrize(
    ("text", "count", "message", "output"),
    [
        (DEAD.replace("PRINT", ""), 5, GONE, ""),
        (LOOP.replace("FREE", "").replace("PRINT", ""), 101, "index #0 is out of bounds", ""),
        (LOOP.replace("FREE", "").replace("PRINT", PRINT), 101, "index #0 is out of bounds", "1"),
    ],
)
def test_a_loop_fails_at_the_access_and_behind_what_it_prints_before(
    text: str, count: int, message: str, output: str
) -> None:
    printed: list[str] = []
    with HostContext("s", output=printed.append) as host:
        run = Program.from_source(text, "f.mlir").run(host, "main", [2, count])
        assert run.wait(SLOW)
        [problem] = run.diagnostics

    assert problem.message == message
    assert isinstance(problem.location, Location)
    assert text.splitlines()[problem.location.line - 1].lstrip().startswith("memref.store")
    assert "".join(printed) == output * 100


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
