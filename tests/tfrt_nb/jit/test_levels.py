"""Test that `-O0` runs the lowering that the async dialect describes, and `-O1` does the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext

GOLDEN = Path(__file__).parents[2] / "golden" / "async"
SLOW = 60
TASK = """func.func @main() -> i64 {
  %a = arith.constant 40 : i64
  %token, %two = async.execute -> !async.value<i64> {
    %two = arith.constant 2 : i64
    async.yield %two : i64
  }
  %b = async.await %two : !async.value<i64>
  %sum = arith.addi %a, %b : i64
  return %sum : i64
}
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("programs/*.stdout")), ids=lambda path: path.stem
)
def test_programs_without_shortcuts_print_the_same(
    path: Path, queue: str, leak_check: None
) -> None:
    text = path.with_suffix(".mlir").read_text()
    printed: list[str] = []
    with HostContext(queue) as host:
        program = Program.from_source(text, path.name, level=0)
        assert program.run(host, "main", output=printed.append).wait(SLOW)

    assert "".join(printed) == path.read_text()


ELEMENTS = """// parallel-for: num-workers=2
func.func @main(%at: index, %factor: f64) -> f64 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = arith.constant 1003 : index
  %terms = arith.constant 100 : index
  %m = memref.alloc() : memref<1003xf64>
  scf.parallel (%i) = (%zero) to (%size) step (%one) {
    %k = arith.index_cast %i : index to i64
    %x = arith.sitofp %k : i64 to f64
    %y = scf.for %j = %zero to %terms step %one iter_args(%a = %x) -> f64 {
      %b = arith.mulf %a, %factor : f64
      %c = arith.addf %b, %factor : f64
      scf.yield %c : f64
    }
    memref.store %y, %m[%i] : memref<1003xf64>
  }
  %r = memref.load %m[%at] : memref<1003xf64>
  memref.dealloc %m : memref<1003xf64>
  return %r : f64
}
"""


def test_several_elements_at_once_are_those_of_one_after_the_other(leak_check: None) -> None:
    found = {}
    with HostContext("mstd:2") as host:
        for level in (0, 1):
            program = Program.from_source(ELEMENTS, "elements.mlir", level=level)
            assert ("x double>" in program.emit("llvm-split")) is (level == 1)
            runs = [program.run(host, "main", (i, 0.1)).results[0] for i in (0, 1, 500, 1002)]
            found[level] = [one.result() for one in runs]

    assert found[0] == found[1]


def test_a_task_without_shortcuts_is_a_coroutine() -> None:
    shown = {
        level: Program.from_source(TASK, "f.mlir", level=level).emit("coroutine")
        for level in (None, 0, 1)
    }

    assert shown[None] == shown[0]
    assert "call i8 @llvm.coro.suspend(" in shown[0]
    assert "coro.suspend" not in shown[1]
