"""Run programs that succeed, fail, or are rejected, and compare what is printed.

They are in `tests/programs/run`, `…/failing`, and `…/rejected`. Beside each `NAME.mlir` is
`NAME.out`: what `tfrt-nb run NAME.mlir` prints, its standard output and then its standard error.
The first line of a program may say how it is run:

* `// RUN: any order`: with workers, prints without a chain in between may be in another order;
* `// RUN: places`: it prints names of places, which a disassembled program does not have.

Lines `// -----` divide a rejected or failing program into several. Each is in its own file, in
which the lines of the others are empty.

After an intended change, `WRITE_EXPECTED=1 python -m pytest tests/test_run_programs.py` rewrites
the `.out` files; read the difference before you keep it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.test_golden_programs import CommandLine

from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
from tfrt_nb.convert.mlir_to_bef import mlir_to_bef
from tfrt_nb.dialects.printer import print_module
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.reader import BefFile

PROGRAMS = Path(__file__).parent / "programs"
RUN = sorted((PROGRAMS / "run").rglob("*.mlir"))
REJECTED = sorted((PROGRAMS / "rejected").rglob("*.mlir"))
FAILING = sorted((PROGRAMS / "failing").rglob("*.mlir"))
LEAVES_OBJECTS = ("left_over", "deadlocks")
WRONG = [("s", path) for path in (*REJECTED, *FAILING)] + [("mstd:2", path) for path in FAILING]

by_name = pytest.mark.parametrize(
    "path", RUN, ids=lambda path: str(path.relative_to(PROGRAMS / "run").with_suffix(""))
)


def mode(path: Path) -> str:
    """Return what the first line of a program says, or ""."""
    first = path.read_text(errors="replace").partition("\n")[0]
    return first.removeprefix("// RUN: ") if first.startswith("// RUN: ") else ""


@pytest.fixture
def tfrt_nb(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, path: Path
) -> CommandLine:
    """The command line in the program's folder, because places name files relative to it."""
    monkeypatch.chdir(path.parent)
    return CommandLine(capsys)


def run(tfrt_nb: CommandLine, work_queue: str, file: Path | str) -> tuple[int, str]:
    done = tfrt_nb("run", "--work-queue", work_queue, "--timeout", "60", file)
    # Times and addresses differ between runs.
    printed = re.sub(r"(pointer=|base@ = )0x[0-9a-f]+", r"\1...", done.stdout + done.stderr)
    return done.status, re.sub(
        r"^(BM:.*:(?!Count)[^:]*): .*$", r"\1: ...", printed, flags=re.MULTILINE
    )


def same(path: Path, printed: str, expected: str) -> bool:
    """Return whether `printed` is equivalent to `expected`."""
    if mode(path) == "any order":
        return sorted(printed.splitlines()) == sorted(expected.splitlines())
    return printed == expected


def parts_of(text: str) -> list[str]:
    """Return the programs that `// -----` separates in a source; each keeps its line numbers."""
    parts = text.split("// -----\n")
    before = [sum(part.count("\n") + 1 for part in parts[:i]) for i in range(len(parts))]
    return ["\n" * count + part for count, part in zip(before, parts, strict=True)]


@by_name
def test_prints_what_the_file_beside_it_says(path: Path, tfrt_nb: CommandLine) -> None:
    status, printed = run(tfrt_nb, "s", path.name)

    assert printed == expected_output(path, printed)
    assert status == int(": error: " in printed)


@pytest.mark.parametrize(("queue", "path"), WRONG, ids=[f"{path.stem}-{q}" for q, path in WRONG])
def test_is_refused_or_fails_as_the_file_beside_it_says(
    queue: str,
    path: Path,
    tfrt_nb: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    if path.stem not in LEAVES_OBJECTS:
        request.getfixturevalue("leak_check")
    printed = ""
    for part in parts_of(path.read_text()):
        (tmp_path / path.name).write_text(part)
        status, text = run(tfrt_nb, queue, path.name)
        printed += text
        found = status, "--- Running" in text, ": error: " in text
        assert found == (1, False, True), f"{part.strip()}\n{text}"

    assert printed == expected_output(path, printed)


def expected_output(path: Path, printed: str) -> str:
    """Return the content of the file beside the program, which may be rewritten first."""
    beside = path.with_suffix(".out")
    if os.environ.get("WRITE_EXPECTED"):
        beside.write_text(printed)
    return beside.read_text()


@by_name
def test_prints_the_same_with_two_workers(path: Path, tfrt_nb: CommandLine) -> None:
    _, printed = run(tfrt_nb, "mstd:2", path.name)
    expected = path.with_suffix(".out").read_text()

    assert same(path, printed, expected), printed


@by_name
def test_comes_back_from_bef(path: Path, tfrt_nb: CommandLine, tmp_path: Path) -> None:
    """Convert text to BEF to text to BEF: text and file must stay the same.

    Compiled functions are stored in a file as text.
    """
    if path.parent.name == "compiled":
        data = Program.from_source(path.read_text(), path.name).bef
        (tmp_path / "again.bef").write_bytes(data)
        _, again = run(tfrt_nb, "s", tmp_path / "again.bef")
        assert output_of(again) == output_of(path.with_suffix(".out").read_text())
        text = disassembled(data)
        assert disassembled(Program.from_source(text, path.name).bef) == text
        return
    text = disassembled(assembled(path.read_text()))
    data = assembled(text)

    assert disassembled(data) == text
    assert assembled(disassembled(data)) == data

    if mode(path) == "places":
        return
    # Comments are lost, and with them the expected errors, so only the output is compared.
    (tmp_path / "again.bef").write_bytes(data)
    _, again = run(tfrt_nb, "s", tmp_path / "again.bef")
    assert output_of(again) == output_of(path.with_suffix(".out").read_text())


def assembled(text: str) -> bytes:
    return mlir_to_bef(parse_module(text, "again.mlir"))


def disassembled(data: bytes) -> str:
    return print_module(bef_to_mlir(BefFile.load(data)))


def output_of(printed: str) -> str:
    """Return the output before the first diagnostic."""
    return re.split(r"^\S+: error: ", printed, maxsplit=1, flags=re.MULTILINE)[0]
