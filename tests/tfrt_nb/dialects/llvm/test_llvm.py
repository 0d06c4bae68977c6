"""Operations of the `llvm` dialect: MLIR's text, and what is wrong with some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import SourceError, parse_module

PRINTED = Path(__file__).parent / "printed_by_mlir.mlir"


def test_what_mlir_prints_is_printed_again_just_so() -> None:
    text = PRINTED.read_text()

    assert print_ir(parse_module(text, "p")) == text


def module_of(*lines: str) -> str:
    """A function of the `llvm` dialect with two blocks behind the lines."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"""llvm.func @f(%p: !llvm.ptr, %i: i32) {{
{body}
^a(%x: i32):
  llvm.return
^b:
  llvm.return
}}
"""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "llvm.switch %i : i32, ^a [ 0: ^b ]",
            "p:2:3: error: branch has 0 operands for successor #0, but target block has 1",
        ),
        (
            "llvm.switch %i : i32, ^a(%i : i32) [ 0: ^b(%i : i32) ]",
            "p:2:3: error: branch has 1 operands for successor #1, but target block has 0",
        ),
        (
            "llvm.switch %i : i32, ^a(%p : !llvm.ptr) [ ]",
            "p:2:3: error: type mismatch for bb argument #0 of successor #0",
        ),
        (
            "llvm.br ^a(%p : !llvm.ptr)",
            "p:2:3: error: type mismatch for bb argument #0 of successor #0",
        ),
        (
            "llvm.switch %p : !llvm.ptr, ^b [ ]",
            "p:2:20: error: expected an integer type, but got '!llvm.ptr'",
        ),
        ("llvm.switch %i : i32, ^b [ true: ^b ]", "p:2:30: error: expected integer literal"),
    ],
)
def test_a_wrong_branch_is_refused_at_its_place(line: str, message: str) -> None:
    with pytest.raises(SourceError) as refused:
        parse_module(module_of(line), "p")

    assert str(refused.value) == message


def test_branches_pass_values_to_arguments_of_blocks() -> None:
    text = module_of("llvm.switch %i : i32, ^b [ 7: ^a(%i : i32), -1: ^b ]")
    cases = "7: ^bb1(%arg1 : i32),\n      4294967295: ^bb2\n    ]"

    assert cases in print_ir(parse_module(text, "p"))
