"""Test that the async dialect's programs are read and printed as by MLIR, and read again."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from xdsl.printer import Printer

from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import SourceError, parse_module

GOLDEN = Path(__file__).parents[3] / "golden" / "async"
VALID = sorted(path for path in GOLDEN.glob("*/*.mlir") if not path.name.startswith("err_"))
PRINTED = sorted(GOLDEN.glob("programs/*.out"))
BY_MLIR = (Path(__file__).parent / "printed_by_mlir.mlir").read_text().split("// -----\n")


def _name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", VALID, ids=_name)
def test_what_is_printed_reads_back_the_same(path: Path) -> None:
    printed = print_ir(parse_module(path.read_text(), path.name))

    assert print_ir(parse_module(printed, "printed")) == printed


@pytest.mark.parametrize("path", VALID, ids=_name)
def test_the_generic_form_reads_back_the_same(path: Path) -> None:
    module = parse_module(path.read_text(), path.name)
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(module)

    assert print_ir(parse_module(stream.getvalue(), "generic")) == print_ir(module)


@pytest.mark.parametrize("path", PRINTED, ids=_name)
def test_what_mlir_printed_is_printed_the_same(path: Path) -> None:
    text = path.read_text()

    assert print_ir(parse_module(text, path.name)).rstrip() == text.rstrip()


@pytest.mark.parametrize("text", BY_MLIR)
def test_a_program_of_mlir_opt_19_is_printed_again_just_so(text: str) -> None:
    module = parse_module(text, "p")

    assert print_ir(module) == text
    assert print_ir(parse_module(print_ir(module, generic=True), "generic")) == text


def test_a_count_of_references_is_positive() -> None:
    operation = '"async.runtime.add_ref"(%t) {count = 0 : i64} : (!async.token) -> ()'
    with pytest.raises(
        SourceError, match="64-bit signless integer attribute whose value is positive"
    ):
        parse_module(f"func.func @f(%t: !async.token) {{\n  {operation}\n  return\n}}", "p")
