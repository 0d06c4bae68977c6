"""Programs that run and programs that are refused: `tests/programs/run` and `tests/programs/rejected`.

Beside each `NAME.mlir` is `NAME.out`: what `tfrt-nb run NAME.mlir` prints, its standard output and
then its standard error.  The first line of a program may say how it is run:

* `// RUN: any order`: what prints without a chain in between may come in another order;
* `// RUN: unlike elsewhere`: with workers, something else may be printed.

After a wanted change `WRITE_EXPECTED=1 python -m pytest tests/test_run_programs.py` writes the
`.out` files anew; read the difference before you keep it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tfrt_nb.cli.main import main
from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
from tfrt_nb.convert.mlir_to_bef import mlir_to_bef
from tfrt_nb.dialects import print_module
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.reader import BefFile

PROGRAMS = Path(__file__).parent / "programs"
RUN = sorted((PROGRAMS / "run").rglob("*.mlir"))
REJECTED = sorted((PROGRAMS / "rejected").rglob("*.mlir"))

by_name = pytest.mark.parametrize(
    "path", [*RUN, *REJECTED], ids=lambda path: str(path.relative_to(PROGRAMS).with_suffix(""))
)
by_name_of_run = pytest.mark.parametrize(
    "path", RUN, ids=lambda path: str(path.relative_to(PROGRAMS).with_suffix(""))
)


def mode(path: Path) -> str:
    """What the first line of a program says."""
    first = path.read_text(errors="replace").partition("\n")[0]
    return first.removeprefix("// RUN: ") if first.startswith("// RUN: ") else ""


class CommandLine:
    """Runs `tfrt-nb` in this process."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> tuple[int, str]:
        status = main(list(arguments))
        captured = self._capture.readouterr()
        return status, captured.out + captured.err


@pytest.fixture
def tfrt_nb(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, path: Path
) -> CommandLine:
    """The command line, in the folder of the program: places name files relative to it."""
    monkeypatch.chdir(path.parent)
    return CommandLine(capsys)


def run(tfrt_nb: CommandLine, work_queue: str, file: Path | str) -> tuple[int, str]:
    status, printed = tfrt_nb("run", "--work-queue", work_queue, "--timeout", "60", str(file))
    # Times and addresses are others in each run.
    printed = re.sub(r"pointer=0x[0-9a-f]+", "pointer=...", printed)
    return status, re.sub(r"^(BM:.*:(?!Count)[^:]*): .*$", r"\1: ...", printed, flags=re.MULTILINE)


def same(path: Path, printed: str, expected: str) -> bool:
    """Whether `printed` is as good as `expected`."""
    match mode(path):
        case "any order":
            return sorted(printed.splitlines()) == sorted(expected.splitlines())
        case "unlike elsewhere":
            return True
    return printed == expected


@by_name
def test_prints_what_the_file_beside_it_says(path: Path, tfrt_nb: CommandLine) -> None:
    status, printed = run(tfrt_nb, "s", path.name)
    beside = path.with_suffix(".out")
    if os.environ.get("WRITE_EXPECTED"):
        beside.write_text(printed)

    assert printed == beside.read_text()
    assert status == int(": error: " in printed)
    assert "Traceback" not in printed


@by_name_of_run
def test_prints_the_same_with_two_workers(path: Path, tfrt_nb: CommandLine) -> None:
    _, printed = run(tfrt_nb, "mstd:2", path.name)
    expected = path.with_suffix(".out").read_text()

    assert same(path, printed, expected), printed


@by_name_of_run
def test_comes_back_from_bef(path: Path, tfrt_nb: CommandLine, tmp_path: Path) -> None:
    """Text to BEF to text to BEF: the second text and the second file are the first."""
    text = disassembled(assembled(path.read_text()))
    data = assembled(text)

    assert disassembled(data) == text
    assert assembled(disassembled(data)) == data

    # Comments are gone, and with them the errors that they expect: only the output is compared.
    (tmp_path / "again.bef").write_bytes(data)
    _, again = run(tfrt_nb, "s", tmp_path / "again.bef")
    assert output_of(again) == output_of(path.with_suffix(".out").read_text())


def assembled(text: str) -> bytes:
    return mlir_to_bef(parse_module(text, "again.mlir"))


def disassembled(data: bytes) -> str:
    return print_module(bef_to_mlir(BefFile.load(data)))


def output_of(printed: str) -> str:
    """What is printed before the first diagnostic."""
    return re.split(r"^\S+: error: ", printed, maxsplit=1, flags=re.MULTILINE)[0]
