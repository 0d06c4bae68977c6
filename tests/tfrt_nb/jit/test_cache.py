"""Test that programs that were compiled before are not compiled again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tfrt_nb.jit import programs, stages
from tfrt_nb.jit.coroutines import packed_name
from tfrt_nb.jit.programs import CodeCache, program_key
from tfrt_nb.passes.parallel.async_parallel_for import AsyncParallelFor
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.cache import Cache
from tfrt_runtime.host.context import HostContext

PROGRAM = """
func.func @main() {
  %c0 = arith.constant 0 : index
  %cells = memref.get_global @cell : memref<1xi64>
  %t, %v = async.execute -> !async.value<i64> {
    %x = memref.load %cells[%c0] : memref<1xi64>
    async.yield %x : i64
  }
  %x = async.await %v : !async.value<i64>
  %one = arith.constant 1 : i64
  %y = arith.addi %x, %one : i64
  memref.store %y, %cells[%c0] : memref<1xi64>
  call @printI64(%y) : (i64) -> ()
  return
}
memref.global @cell : memref<1xi64> = dense<41>
func.func private @printI64(i64)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodeCache:
    """A test's own cache."""
    made = CodeCache(Cache(tmp_path / "cache"))
    monkeypatch.setattr(programs, "code_cache", lambda: made)
    return made


def run(text: str) -> str:
    """Return a program's output."""
    output: list[str] = []
    with HostContext("s") as host, AsyncRuntime(host, output=output.append) as runtime:
        module = parse_module(text, "program")
        code = programs.compile_program(module, runtime.functions, source=(text, "program"))
        runtime.run(code.address(packed_name("main")))
    return "".join(output)


def forbid_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        pytest.fail("the program is compiled again")

    monkeypatch.setattr(stages, "object_code", fail)


def test_a_program_is_compiled_once_and_starts_afresh(
    cache: CodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(PROGRAM)
    forbid_to_compile(monkeypatch)

    assert (first, run(PROGRAM)) == ("42", "42")


def test_another_process_finds_it_on_disk(
    cache: CodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(PROGRAM)
    forbid_to_compile(monkeypatch)
    monkeypatch.setattr(programs, "code_cache", lambda: CodeCache(cache.files))

    assert run(PROGRAM) == "42"


def damaged(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: bytes(len(data)),
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data[:100] + bytes([data[100] ^ 128]) + data[101:],
    ],
    ids=["cut", "empty", "zeros", "last bit", "a bit of the code"],
)
def test_damaged_code_is_compiled_again(
    change: Callable[[bytes], bytes], cache: CodeCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(PROGRAM)
    [path] = cache.files.folder.iterdir()
    whole = path.read_bytes()
    damaged(path, change)
    monkeypatch.setattr(programs, "code_cache", lambda: CodeCache(cache.files))

    assert run(PROGRAM) == "42"
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = CodeCache(Cache(tmp_path / "file" / "cache"))
    cache.put("key", b"code")

    assert cache.get("key") == b"code"
    assert cache.get("other") is None


def test_a_key_depends_on_text_name_and_passes() -> None:
    keys = {
        program_key((text, name), 1, [AsyncParallelFor(num_workers=workers)], ["f"])
        for text in ("a", "b")
        for name in ("a", "b")
        for workers in (1, 2)
    }

    assert len(keys) == 8
