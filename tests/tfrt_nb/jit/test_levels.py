"""`-O0` runs the lowering that the async dialect describes; results are those of `-O1`."""

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


def test_a_task_without_shortcuts_is_a_coroutine() -> None:
    shown = {
        level: Program.from_source(TASK, "f.mlir", level=level).emit("coroutine")
        for level in (None, 0, 1)
    }

    assert shown[None] == shown[0]
    assert "call i8 @llvm.coro.suspend(" in shown[0]
    assert "coro.suspend" not in shown[1]
