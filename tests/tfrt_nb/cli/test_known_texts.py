"""A text that was run before is run from its BEF, and says and does the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.cli.main import main
from tfrt_nb.cli.running import known_texts
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
UNKNOWN = ADDS.replace("tfrt.add.i32 %a, %b", '"known_texts.kernel"(%a) : (i32) -> i32')
KERNEL = """from tfrt_nb import kernel

@kernel("known_texts.kernel")
def twice(x: int) -> int:
    return 2 * x
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """A cache of its own for a test, in which no kernel was registered before."""
    made = Cache(tmp_path / "cache")
    monkeypatch.setattr(known_texts, "code_cache", lambda: made)
    monkeypatch.setattr(known_texts.USER_KERNELS, "version", 0)
    return made


def run(path: Path, capsys: Capture, *options: str) -> tuple[int, str, str]:
    status = main(["run", str(path), *options])
    return (status, *capsys.readouterr())


def kept(cache: Cache) -> list[str]:
    return [path.name for path in cache.folder.glob("text-*")]


@pytest.mark.parametrize("text", [ADDS, FAILS, EXPECTS, UNKNOWN])
def test_the_second_run_needs_no_compiler_and_is_the_same(
    text: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(text)
    first = run(path, capsys)
    monkeypatch.setattr(Program, "from_source", lambda *_: pytest.fail("it is compiled again"))

    assert run(path, capsys) == first


def test_another_text_name_or_compiler_is_another_program(
    cache: Cache, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first.mlir", tmp_path / "second.mlir"
    for path, text in ((first, ADDS), (first, FAILS), (second, ADDS)):
        path.write_text(text)
        run(path, capsys)
    monkeypatch.setattr(known_texts, "installed", lambda _: "another xdsl")
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
