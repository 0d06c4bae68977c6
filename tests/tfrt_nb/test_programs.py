"""Test programs from text and from files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext

SLOW = 30


def test_a_text_that_is_too_large_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tfrt_nb.programs.reading.MAX_TEXT", 9)

    with pytest.raises(
        TfrtError, match="'big.mlir' is too large for a program: 10 bytes; the limits"
    ):
        Program.from_source("x" * 10, "big.mlir")


PLAIN = """func.func @main() -> i32 {
  %n = tfrt.constant.i32 1
  tfrt.return %n : i32
}
"""


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "marked.mlir").write_text("\ufeff" + PLAIN, encoding="utf-8")

    assert Program.from_file(tmp_path / "marked.mlir").run().result() == 1


def test_a_large_text_of_too_many_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfrt_nb.programs.reading.MAX_LINES", 3)

    with pytest.raises(
        TfrtError, match="'big.mlir' is too large for a program: 4 lines; the limits"
    ):
        Program.from_source(PLAIN, "big.mlir")


SUM = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.add.i32 %one, %two
  tfrt.return %three : i32
}
"""


def awaited(run: Execution) -> object:
    async def result() -> object:
        return await run

    return asyncio.run(asyncio.wait_for(result(), SLOW))


def in_another_thread(run: Execution) -> object:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(run.result, SLOW).result()


def on_another_host(run: Execution) -> object:
    text = "func.func @main(%n: i32) -> i32 {\n  tfrt.return %n : i32\n}"
    with HostContext("mstd:1") as host:
        return Program.from_source(text).run(run.results[0], host=host).result(SLOW)


@pytest.mark.parametrize("wait", [awaited, in_another_thread, on_another_host])
@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_run_that_starts_no_workers_runs_when_code_waits_for_it(
    queue: str, wait: Callable[[Execution], object]
) -> None:
    with HostContext(queue) as host:
        assert wait(Program.from_source(SUM).run(host=host, wake=False)) == 3
