"""Buffers and values that a program treats wrongly: an error at the operation, and the process goes on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error
from tfrt_runtime.host.context import HostContext

SLOW = 60
"""Far more seconds than anything here takes."""
FREED_TWICE = "the buffer is deallocated already, or is not one of memref.alloc"
FREE = """
func.func private @free(%m: memref<4xi64>) {
  memref.dealloc %m : memref<4xi64>
  return
}"""


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    with HostContext(request.param) as made:
        yield made


def place(text: str, operation: str) -> Location:
    """Where the last operation is that begins so, behind its results."""
    before = text.rpartition(operation)[0]
    skipped = operation.find("= ") + 2 if "= " in operation else 0
    return Location("f.mlir", before.count("\n") + 1, len(before) - before.rfind("\n") + skipped)


def start_of(problem: Diagnostic) -> Location:
    """The place of a diagnostic, without its end."""
    assert isinstance(problem.location, Location)
    return Location(problem.location.source, problem.location.line, problem.location.column)


def diagnostics(host: HostContext, text: str) -> list[Diagnostic]:
    """What a run of @main reports; afterwards a right program still runs."""
    run = Program.from_source(text, "f.mlir").run(host, "main")
    assert run.wait(SLOW)
    right = "func.func @main() -> i64 {\n  %x = arith.constant 3 : i64\n  return %x : i64\n}"
    assert Program.from_source(right, "g.mlir").run(host, "main").results[0].result(SLOW) == 3
    return list(run.diagnostics)


@pytest.mark.parametrize(
    ("text", "operation", "message"),
    [
        pytest.param(
            """func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  func.call @free(%m) : (memref<4xi64>) -> ()
  func.call @free(%m) : (memref<4xi64>) -> ()
  return
}"""
            + FREE,
            "memref.dealloc",
            FREED_TWICE,
            id="twice",
        ),
        pytest.param(
            """func.func @main() {
  %m = memref.alloc() : memref<4xi64>
  %a = async.execute {
    func.call @free(%m) : (memref<4xi64>) -> ()
    async.yield
  }
  %b = async.execute [%a] {
    func.call @free(%m) : (memref<4xi64>) -> ()
    async.yield
  }
  async.await %b : !async.token
  return
}"""
            + FREE,
            "memref.dealloc",
            FREED_TWICE,
            id="twice by tasks",
        ),
        pytest.param(
            """memref.global "private" @g : memref<2xi32> = dense<[3, 4]>
func.func @main() {
  %m = memref.get_global @g : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return
}""",
            "memref.dealloc",
            FREED_TWICE,
            id="a global buffer",
        ),
        pytest.param(
            """func.func @main() {
  %m = memref.alloca() : memref<2xi32>
  memref.dealloc %m : memref<2xi32>
  return
}""",
            "memref.dealloc",
            FREED_TWICE,
            id="a buffer of the frame",
        ),
        pytest.param(
            """func.func @main() -> i64 {
  %four = arith.constant 4 : index
  %m = memref.alloc() : memref<4xi64>
  %x = memref.load %m[%four] : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  return %x : i64
}""",
            "%x = memref.load",
            "index #0 is out of bounds",
            id="out of bounds",
        ),
    ],
)
def test_misuse_of_a_buffer_is_an_error_of_the_run(
    host: HostContext, text: str, operation: str, message: str
) -> None:
    assert diagnostics(host, text) == [error(message, place(text, operation))]


def test_buffers_that_are_given_back_once_are_no_error(host: HostContext) -> None:
    text = """func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 5000 : index
  %zero = arith.constant 0 : i64
  %t, %v = async.execute -> !async.value<i64> {
    %r = func.call @sum(%c0, %many) : (index, index) -> i64
    async.yield %r : i64
  }
  %a = func.call @sum(%c0, %many) : (index, index) -> i64
  %b = async.await %v : !async.value<i64>
  %r = arith.addi %a, %b : i64
  return %r : i64
}
func.func private @sum(%lower: index, %upper: index) -> i64 {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %r = scf.for %i = %lower to %upper step %c1 iter_args(%s = %zero) -> i64 {
    %m = memref.alloc(%c1) : memref<?xi64>
    %p = memref.alloc() : memref<300xi64>
    %n = arith.index_cast %i : index to i64
    memref.store %n, %p[%c1] : memref<300xi64>
    %x = memref.load %p[%c1] : memref<300xi64>
    memref.dealloc %p : memref<300xi64>
    memref.dealloc %m : memref<?xi64>
    %y = arith.addi %s, %x : i64
    scf.yield %y : i64
  }
  return %r : i64
}"""
    run = Program.from_source(text, "f.mlir").run(host, "main")

    assert run.results[0].result(SLOW) == 2 * sum(range(5000))
    assert run.wait(SLOW)


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        ("memref.dealloc %m : memref<4xi64>", "deallocated again after it was deallocated"),
        ("%x = memref.load %m[%c0] : memref<4xi64>", "used after it was deallocated"),
        (
            "scf.if %c {\n  memref.store %z, %m[%c0] : memref<4xi64>\n  }",
            "used after it was deallocated",
        ),
    ],
)
def test_a_buffer_that_was_deallocated_is_not_used(
    host: HostContext, misuse: str, message: str
) -> None:
    text = f"""func.func @main() {{
  %c0 = arith.constant 0 : index
  %c = arith.constant true
  %z = arith.constant 0 : i64
  %m = memref.alloc() : memref<4xi64>
  memref.dealloc %m : memref<4xi64>
  {misuse}
  return
}}"""
    with pytest.raises(TfrtError) as caught:
        Program.from_source(text, "f.mlir").run(host, "main")

    [problem] = caught.value.diagnostics
    [dealloc] = problem.notes
    operation = "%x = memref.load" if "load" in misuse else misuse[misuse.index("memref") :][:14]
    assert (problem.message, start_of(problem)) == (
        f"the buffer is {message}",
        place(text, operation),
    )
    assert (dealloc.message, start_of(dealloc)) == (
        "this is where it is deallocated",
        place(text[: text.rindex(misuse)], "memref.dealloc"),
    )


def test_layouts_other_than_strided_ones_are_refused(host: HostContext) -> None:
    layout = "affine_map<(d0, d1) -> (d1, d0)>"
    text = f"func.func @main(%m: memref<4x4xi64, {layout}>) {{\n  return\n}}"
    with pytest.raises(TfrtError) as caught:
        Program.from_source(text, "f.mlir").compile()

    [problem] = caught.value.diagnostics
    assert problem.message == (
        f"the layout of 'memref<4x4xi64, {layout}>' cannot be compiled: only contiguous buffers "
        "and those of a 'strided' layout"
    )
    assert start_of(problem) == place(text, "func.func")


def test_the_layout_that_rows_have_anyway_is_none() -> None:
    text = """func.func @main() -> i64 {
  %c1 = arith.constant 1 : index
  %x = arith.constant 7 : i64
  %m = memref.alloc() : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  memref.store %x, %m[%c1, %c1] : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  %y = memref.load %m[%c1, %c1] : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  memref.dealloc %m : memref<2x2xi64, affine_map<(d0, d1) -> (d0, d1)>>
  return %y : i64
}"""
    with HostContext("s") as host:
        assert Program.from_source(text, "f.mlir").run(host, "main").results[0].result(SLOW) == 7


@pytest.mark.parametrize(
    "kind", ["func.func @main() -> i64", "async.func @main() -> !async.value<i64>"]
)
def test_a_value_that_is_not_there_is_not_loaded(kind: str) -> None:
    text = f"""{kind} {{
  %v = async.runtime.create : !async.value<i64>
  %x = async.runtime.load %v : <i64>
  async.runtime.store %x, %v : <i64>
  async.runtime.set_available %v : !async.value<i64>
  return %x : i64
}}"""
    with HostContext("s") as host:
        found = diagnostics(host, text)
    message = "the value is loaded before it is available"
    assert found == [error(message, place(text, "%x = async.runtime.load"))]


def test_what_is_loaded_from_a_failed_value_is_its_error() -> None:
    text = """func.func @main() -> i64 {
  %no = arith.constant false
  %t, %v = async.execute -> !async.value<i64> {
    %x = arith.constant 1 : i64
    cf.assert %no, "as it must"
    async.yield %x : i64
  }
  async.runtime.await %v : !async.value<i64>
  %x = async.runtime.load %v : <i64>
  return %x : i64
}"""
    with HostContext("s") as host:
        assert diagnostics(host, text) == [error("as it must", place(text, "cf.assert"))]
