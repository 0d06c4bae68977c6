"""Buffers that are used after their end, in whatever way the program gets there: an error at the use.

The line that must fail is marked by `// HERE`.
"""

from __future__ import annotations

from collections.abc import Iterator

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
OUTSIDE = "the view is out of bounds"
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


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    with HostContext(request.param, output=lambda _: None) as made:
        yield made


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


PROGRAMS = {
    "through views": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  %a = memref.subview %m[2] [4] [1] : memref<?xi64> to memref<4xi64, strided<[1], offset: 2>>
  %b = memref.subview %a[1] [2] [1] : memref<4xi64, strided<[1], offset: 2>> to memref<2xi64, strided<[1], offset: 3>>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.load %b[%z] : memref<2xi64, strided<[1], offset: 3>> // HERE
""",
            FREE,
        ),
    ),
    "cf loop": (
        GONE,
        main("""  %m = memref.alloc(%n) : memref<?xi64>
  cf.br ^b(%z : index)
^b(%i: index):
  memref.store %v, %m[%i] : memref<?xi64> // HERE
  %j = arith.addi %i, %s : index
  %two = arith.constant 2 : index
  %c = arith.cmpi eq, %i, %two : index
  cf.cond_br %c, ^free, ^more
^free:
  memref.dealloc %m : memref<?xi64>
  cf.br ^more
^more:
  %d = arith.cmpi slt, %j, %n : index
  cf.cond_br %d, ^b(%j : index), ^e
^e:
"""),
    ),
    "loop second round": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  %three = arith.constant 3 : index
  scf.for %i = %z to %n step %s {
    memref.store %v, %m[%i] : memref<?xi64> // HERE
    %c = arith.cmpi eq, %i, %three : index
    scf.if %c {
      func.call @free(%m) : (memref<?xi64>) -> ()
    }
  }
""",
            FREE,
        ),
    ),
    "task later": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  %g = async.create_group %s : !async.group
  %a = async.execute {
    func.call @free(%m) : (memref<?xi64>) -> ()
    async.yield
  }
  %b = async.execute [%a] {
    memref.store %v, %m[%z] : memref<?xi64> // HERE
    async.yield
  }
  %r = async.add_to_group %b, %g : !async.token
  async.await_all %g
""",
            FREE,
        ),
    ),
    "realloc": (
        GONE,
        main("""  %m = memref.alloc(%n) : memref<?xi64>
  %c = memref.cast %m : memref<?xi64> to memref<?xi64>
  %big = memref.realloc %m(%n) : memref<?xi64> to memref<?xi64>
  memref.store %v, %big[%z] : memref<?xi64>
  %x = memref.load %c[%z] : memref<?xi64> // HERE
"""),
    ),
    "alloca through value": (
        GONE,
        """async.func @f() -> !async.value<memref<4xi64>> {
  %m = memref.alloca() : memref<4xi64>
  return %m : memref<4xi64>
}
func.func @main() -> i64 {
"""
        + NUMBERS
        + """  %a = async.call @f() : () -> !async.value<memref<4xi64>>
  %m = async.await %a : !async.value<memref<4xi64>>
  %x = memref.load %m[%z] : memref<4xi64> // HERE
  return %x : i64
}
""",
    ),
    "recursion alloca": (
        GONE,
        """func.func private @down(%n: i64, %m: memref<4xi64>) -> memref<4xi64> {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %n, %z : i64
  %r = scf.if %c -> memref<4xi64> {
    %a = memref.alloca() : memref<4xi64>
    %k = arith.subi %n, %one : i64
    %x = func.call @down(%k, %a) : (i64, memref<4xi64>) -> memref<4xi64>
    scf.yield %x : memref<4xi64>
  } else {
    scf.yield %m : memref<4xi64>
  }
  return %r : memref<4xi64>
}
func.func @main() -> i64 {
"""
        + NUMBERS
        + """  %a = memref.alloca() : memref<4xi64>
  %three = arith.constant 3 : i64
  %m = func.call @down(%three, %a) : (i64, memref<4xi64>) -> memref<4xi64>
  %x = memref.load %m[%z] : memref<4xi64> // HERE
  return %x : i64
}
""",
    ),
    "print dead": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  %u = memref.cast %m : memref<?xi64> to memref<*xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  func.call @printMemrefI64(%u) : (memref<*xi64>) -> () // HERE
""",
            """func.func private @printMemrefI64(memref<*xi64>)
"""
            + FREE,
        ),
    ),
    "copy": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  %k = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  memref.copy %k, %m : memref<?xi64> to memref<?xi64> // HERE
""",
            FREE,
        ),
    ),
    "atomic": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.atomic_rmw addi %v, %m[%z] : (i64, memref<?xi64>) -> i64 // HERE
""",
            FREE,
        ),
    ),
    "generic atomic": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.generic_atomic_rmw %m[%z] : memref<?xi64> { // HERE
  ^bb0(%o: i64):
    %w = arith.muli %o, %v : i64
    memref.atomic_yield %w : i64
  }
""",
            FREE,
        ),
    ),
    "parallel": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  scf.parallel (%i) = (%z) to (%n) step (%s) {
    memref.store %v, %m[%i] : memref<?xi64> // HERE
    scf.reduce
  }
""",
            FREE,
        ),
    ),
    "while": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  memref.store %v, %m[%z] : memref<?xi64>
  %r = scf.while (%i = %z) : (index) -> index {
    %x = memref.load %m[%z] : memref<?xi64> // HERE
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %i : index
  } do {
  ^bb0(%i: index):
    %j = arith.addi %i, %s : index
    func.call @free(%m) : (memref<?xi64>) -> ()
    scf.yield %j : index
  }
""",
            FREE,
        ),
    ),
    "select": (
        GONE,
        main(
            """  %m = memref.alloc(%n) : memref<?xi64>
  %k = memref.alloc(%n) : memref<?xi64>
  %c = arith.cmpi slt, %z, %n : index
  %q = arith.select %c, %m, %k : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  %x = memref.load %q[%z] : memref<?xi64> // HERE
""",
            FREE,
        ),
    ),
    "view type": (
        GONE,
        main(
            """  %k = arith.constant 64 : index
  %m = memref.alloc(%k) : memref<?xi8>
  %w = memref.view %m[%z][] : memref<?xi8> to memref<8xi64>
  func.call @free8(%m) : (memref<?xi8>) -> ()
  %x = memref.load %w[%z] : memref<8xi64> // HERE
""",
            """func.func private @free8(%m: memref<?xi8>) {
  memref.dealloc %m : memref<?xi8>
  return
}
""",
        ),
    ),
    "base reinterpreted": (
        OUTSIDE,
        main("""  %m = memref.alloc(%n) : memref<?xi64>
  %b, %o, %sz, %st = memref.extract_strided_metadata %m : memref<?xi64> -> memref<i64>, index, index, index
  %h = arith.constant 100000000 : index
  %w = memref.reinterpret_cast %b to offset: [0], sizes: [%h], strides: [1] : memref<i64> to memref<?xi64> // HERE
  %q = arith.constant 90000000 : index
  %x = memref.load %w[%q] : memref<?xi64>
"""),
    ),
    "strided reinterpreted": (
        OUTSIDE,
        main("""  %m = memref.alloc(%n) : memref<?xi64>
  %b = memref.subview %m[2] [4] [1] : memref<?xi64> to memref<4xi64, strided<[1], offset: 2>>
  %h = arith.constant 100000000 : index
  %w = memref.reinterpret_cast %b to offset: [0], sizes: [%h], strides: [1] : memref<4xi64, strided<[1], offset: 2>> to memref<?xi64> // HERE
  %q = arith.constant 90000000 : index
  %x = memref.load %w[%q] : memref<?xi64>
"""),
    ),
    "constant through call": (
        "the buffer is constant",
        """memref.global "private" constant @g : memref<4xi64> = dense<1>
func.func private @st(%m: memref<4xi64>, %v: i64) {
  %z = arith.constant 0 : index
  memref.store %v, %m[%z] : memref<4xi64> // HERE
  return
}
func.func @main() -> i64 {
"""
        + NUMBERS
        + """  %g = memref.get_global @g : memref<4xi64>
  func.call @st(%g, %v) : (memref<4xi64>, i64) -> ()
  %x = memref.load %g[%z] : memref<4xi64>
  return %x : i64
}
""",
    ),
    "alloca dealloc in callee": (
        NOT_FREED,
        main(
            """  %m = memref.alloca(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
""",
            """func.func private @free(%m: memref<?xi64>) {
  memref.dealloc %m : memref<?xi64> // HERE
  return
}
""",
        ),
    ),
    "dead result": (
        RETURNED,
        """func.func @main() -> memref<?xi64> { // HERE
"""
        + NUMBERS
        + """  %m = memref.alloc(%n) : memref<?xi64>
  func.call @free(%m) : (memref<?xi64>) -> ()
  return %m : memref<?xi64>
}
"""
        + FREE,
    ),
    "alloca result": (
        RETURNED,
        """func.func @main() -> memref<4xi64> { // HERE
"""
        + NUMBERS
        + """  %m = memref.alloca() : memref<4xi64>
  return %m : memref<4xi64>
}
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_use_after_the_end_is_an_error_at_its_line(host: HostContext, name: str) -> None:
    message, text = PROGRAMS[name]

    assert found(host, text) == [(message, marked(text))]


REFUSED = {
    "buffers of buffers": (
        "a buffer of 'memref<4xi64>' cannot be compiled: its elements must be numbers",
        main("  %m = memref.alloc() : memref<4xmemref<4xi64>> // HERE\n"),
    ),
    "a global of buffers": (
        "a buffer of 'memref<4xi64>' cannot be compiled: its elements must be numbers",
        main("", 'memref.global "private" @g : memref<2xmemref<4xi64>> // HERE\n'),
    ),
    "a constant": (
        "'@g' is constant",
        main(
            """  %g = memref.get_global @g : memref<4xi64>
  %c = memref.cast %g : memref<4xi64> to memref<?xi64>
  memref.store %v, %c[%z] : memref<?xi64> // HERE
""",
            'memref.global "private" constant @g : memref<4xi64> = dense<1>\n',
        ),
    ),
    "an async object from nothing": (
        "'ub.poison' makes no '!async.token'",
        main("  %t = ub.poison : !async.token // HERE\n  async.await %t : !async.token\n"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_forge_a_buffer_is_refused(host: HostContext, name: str) -> None:
    message, text = REFUSED[name]

    assert found(host, text) == [(message, marked(text))]


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
    "a buffer of a scope lives as long as the function": (
        7,
        """  %m = memref.alloca_scope -> (memref<?xi64>) {
    %k = memref.alloca(%n) : memref<?xi64>
    memref.store %v, %k[%z] : memref<?xi64>
    memref.alloca_scope.return %k : memref<?xi64>
  }
  %r = memref.load %m[%z] : memref<?xi64>
""",
    ),
    "a base stands for the whole": (
        7,
        """  %m = memref.alloc(%n) : memref<?xi64>
  %p = memref.subview %m[2] [4] [1] : memref<?xi64> to memref<4xi64, strided<[1], offset: 2>>
  %b, %o, %k, %t = memref.extract_strided_metadata %p
    : memref<4xi64, strided<[1], offset: 2>> -> memref<i64>, index, index, index
  %w = memref.reinterpret_cast %b to offset: [0], sizes: [%n], strides: [1]
    : memref<i64> to memref<?xi64>
  %last = arith.subi %n, %s : index
  memref.store %v, %w[%last] : memref<?xi64>
  %r = memref.load %m[%last] : memref<?xi64>
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
