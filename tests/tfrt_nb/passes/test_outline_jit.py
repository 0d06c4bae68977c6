"""Test `tfrt.jit` as text, and the functions that its regions become."""

from __future__ import annotations

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.passes.outline_jit import outline_jit
from tfrt_nb.source import parse_module

PROGRAM = """\
module {
  func @main(%arg0: i32, %arg1: !t.tensor) -> (i32, !t.tensor) {
    %0 = tfrt.jit (%arg0 as %arg2: i32) -> (i32) {
      %3 = arith.addi %arg2, %arg2 : i32
      tfrt.return %3 : i32
    }
    %1:3 = tfrt.jit (%arg1 as %arg2: memref<?xf32>, %0 as %arg3: !async.value<i32>) -> (!async.token, i32, memref<?xf32>) {
      %3 = async.await %arg3 : !async.value<i32>
      tfrt.return %3, %arg2 : i32, memref<?xf32>
    }
    tfrt.jit {
      %3 = async.execute {
        async.yield
      }
      async.await %3 : !async.token
      tfrt.return
    }
    %2 = tfrt.jit (%0 as %arg2: i32) -> (i32) attributes {note = "kept"} {
      %3 = arith.constant 0 : i32
      %4 = arith.cmpi slt, %arg2, %3 : i32
      "cf.cond_br"(%4) [^bb0, ^bb1] {operandSegmentSizes = array<i32: 1, 0, 0>} : (i1) -> ()
    ^bb0:
      tfrt.return %3 : i32
    ^bb1:
      tfrt.return %arg2 : i32
    }
    tfrt.return %2, %1#2 : i32, !t.tensor
  }
}
"""  # noqa: E501

OUTLINED = """\
module {
  func @main(%arg0: i32, %arg1: !t.tensor) -> (i32, !t.tensor) {
    %0 = tfrt.call @main_jit(%arg0) : (i32) -> i32
    %1:3 = tfrt.call @main_jit_0(%arg1, %0) : (!t.tensor, i32) -> (!tfrt.chain, i32, !t.tensor)
    %2 = tfrt.call @main_jit_1() : () -> !tfrt.chain
    %3 = tfrt.call @main_jit_2(%0) {note = "kept"} : (i32) -> i32
    tfrt.return %3, %1#2 : i32, !t.tensor
  }
"""


def test_it_is_printed_as_it_is_written() -> None:
    text = print_module(parse_module(PROGRAM, "test.mlir"))

    assert print_module(parse_module(text, "test.mlir")) == text
    heads = [line for line in PROGRAM.splitlines() if "tfrt.jit" in line]
    assert [line for line in text.splitlines() if "tfrt.jit" in line] == heads


def test_its_regions_become_functions_that_are_called() -> None:
    module = parse_module(PROGRAM, "test.mlir")
    outline_jit(module)
    text = print_module(module)

    assert text.startswith(OUTLINED)
    assert [line.strip() for line in text.splitlines() if "private" in line] == [
        "func private @main_jit(%arg0: i32) -> i32 {",
        (
            "async.func private @main_jit_0(%arg0: memref<?xf32>, %arg1: !async.value<i32>) -> "
            "(!async.token, !async.value<i32>, !async.value<memref<?xf32>>) {"
        ),
        "async.func private @main_jit_1() -> !async.token {",
        "func private @main_jit_2(%arg0: i32) -> i32 {",
    ]
    assert parse_module(text, "again.mlir") is not None


def test_a_name_that_is_taken_is_not_used_again() -> None:
    module = parse_module(
        """
func.func @main_jit() {
  tfrt.return
}
func.func @main() {
  tfrt.jit {
    tfrt.return
  }
  tfrt.return
}
""",
        "test.mlir",
    )
    outline_jit(module)

    assert "tfrt.call @main_jit_0() : () -> ()" in print_module(module)
