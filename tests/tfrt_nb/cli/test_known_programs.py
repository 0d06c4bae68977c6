"""Test that a program that was run before needs no compiler, and says and does the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.cli.main import main
from tfrt_nb.cli.running import known_programs
from tfrt_nb.programs import Program
from tfrt_runtime.cache import Cache

ADDS = """func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
"""
FAILS = """func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q : i32
}
"""
EXPECTS = FAILS.replace("%a, %b\n", "%a, %b // expected-error {{Divide by zero}}\n")
UNKNOWN = ADDS.replace("tfrt.add.i32 %a, %b", '"known_programs.kernel"(%a) : (i32) -> i32')
KERNEL = """from tfrt_nb import kernel

@kernel("known_programs.kernel")
def twice(x: int) -> int:
    return 2 * x
"""

WAITS = """async.func @twice(%x: i32) -> !async.value<i32> {
  %y = arith.addi %x, %x : i32
  return %y : i32
}
func.func @main() -> i32 {
  %a = arith.constant 21 : i32
  %t = async.call @twice(%a) : (i32) -> !async.value<i32>
  %r = async.await %t : !async.value<i32>
  return %r : i32
}
"""
BREAKS = WAITS.replace(
    "  return %r", '  %no = arith.constant false\n  cf.assert %no, "it broke"\n  return %r'
)
BOTH = """func.func private @shout(%x: i64) -> i64 {
  call @printI64(%x) : (i64) -> ()
  return %x : i64
}
func.func private @printI64(i64)
func.func @main() -> i64 {
  %a = tfrt.constant.i64 42
  %b = tfrt.call @shout(%a) : (i64) -> i64
  tfrt.return %b : i64
}
"""
LEAKS = """func.func @main() {
  %token = async.runtime.create : !async.token
  return
}
"""
UNCALLABLE = """func.func @main() -> vector<4xi32> {
  %a = arith.constant dense<1> : vector<4xi32>
  return %a : vector<4xi32>
}
"""
CALLS_PYTHON = """func.func private @known_programs_price(i64) -> i64
func.func @main() -> i64 {
  %a = arith.constant 4 : i64
  %b = call @known_programs_price(%a) : (i64) -> i64
  return %b : i64
}
"""
EXTERNAL = """from tfrt_nb import external

@external("known_programs_price", "(i64) -> i64")
def price(pieces: int) -> int:
    return 10 * pieces
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A test's own cache, in which no kernel has been registered."""
    made = Cache(tmp_path / "cache")
    monkeypatch.setattr(known_programs, "code_cache", lambda: made)
    monkeypatch.setattr(known_programs.USER_KERNELS, "version", 0)
    return made


def run(path: Path, capsys: Capture, *options: str) -> tuple[int, str, str]:
    status = main(["run", str(path), *options])
    return (status, *capsys.readouterr())


def kept(cache: Cache) -> list[str]:
    return [path.name for path in cache.folder.glob("text-*")]


@pytest.mark.parametrize(
    "text", [ADDS, FAILS, EXPECTS, UNKNOWN, WAITS, BREAKS, BOTH, LEAKS, UNCALLABLE]
)
def test_the_second_run_needs_no_compiler_and_is_the_same(
    text: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(text)
    first = run(path, capsys)
    monkeypatch.setattr(Program, "from_source", lambda *_: pytest.fail("it is compiled again"))

    assert run(path, capsys) == first


@pytest.mark.parametrize("text", [WAITS, BREAKS, BOTH, LEAKS, UNCALLABLE])
def test_compiled_functions_of_a_file_are_parsed_once(
    text: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.bef"
    path.write_bytes(Program.from_source(text, "program.mlir").bef)
    first = run(path, capsys)
    monkeypatch.setattr(
        known_programs, "code_of_text", lambda *_: pytest.fail("it is parsed again")
    )

    assert run(path, capsys) == first


def test_a_known_program_can_be_taken_apart(tmp_path: Path) -> None:
    def all_of(program: Program) -> list[object]:
        return [
            program.mlir,
            program.emit("async-runtime"),
            program.functions,
            program.parameters("twice"),
            program.bef,
            str(program._module),
            program.graph().dot,
        ]

    name = str(tmp_path / "program.mlir")
    made = known_programs.program_of(WAITS, name)

    assert all_of(known_programs.program_of(WAITS, name)) == all_of(made)


def test_what_calls_python_is_read_anew(
    cache: Cache, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, library = tmp_path / "program.mlir", tmp_path / "library.py"
    path.write_text(CALLS_PYTHON)
    library.write_text(EXTERNAL)
    refused = run(path, capsys)
    assert refused[0] == 1 and "'known_programs_price' is declared" in refused[2]

    assert run(path, capsys, "--with", str(library))[:2] == (0, "'main' returned 40\n")
    assert kept(cache) == []


def test_another_text_name_or_compiler_is_another_program(
    cache: Cache, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first.mlir", tmp_path / "second.mlir"
    for path, text in ((first, ADDS), (first, FAILS), (second, ADDS)):
        path.write_text(text)
        run(path, capsys)
    monkeypatch.setattr(known_programs, "installed", lambda _: "another xdsl")
    run(second, capsys)

    assert len(kept(cache)) == 4


def test_wrong_texts_are_not_kept(cache: Cache, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text(ADDS.replace("%b\n", "%missing\n"))

    status, _, said = first = run(path, capsys)

    assert (status, kept(cache)) == (1, [])
    assert "%missing" in said
    assert run(path, capsys) == first


def test_what_is_no_bef_is_made_anew(cache: Cache, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(ADDS)
    first = run(path, capsys)
    [name] = kept(cache)
    cache.put(name, b"no file")

    assert run(path, capsys) == first
    assert cache.get(name) != b"no file"


def test_programs_with_kernels_of_users_are_not_kept(
    cache: Cache, tmp_path: Path, capsys: Capture
) -> None:
    path, kernels = tmp_path / "program.mlir", tmp_path / "kernels.py"
    path.write_text(UNKNOWN)
    kernels.write_text(KERNEL)

    status, printed, _ = run(path, capsys, "--with", str(kernels))

    assert (status, kept(cache)) == (0, [])
    assert "80" in printed
