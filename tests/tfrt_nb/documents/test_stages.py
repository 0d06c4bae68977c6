"""Test that each line of each stage knows the operation that it comes from."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.documents.stages import MAX_OPERATIONS, stages
from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError

BOTH = """
func.func @host(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %sum = tfrt.add.i32 %x, %one
  tfrt.return %sum : i32
}
func.func @tasks(%n: i32) -> i32 {
  %t, %v = async.execute -> !async.value<i32> {
    %y = arith.muli %n, %n : i32
    async.yield %y : i32
  }
  %a = async.await %v : !async.value<i32>
  return %a : i32
}
async.func @later(%v: !async.value<i32>) -> !async.value<i32> {
  %a = async.await %v : !async.value<i32>
  %b = arith.xori %a, %a : i32
  return %b : i32
}"""


def stages_of(text: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    program = Program.from_source(text, "cell 1")
    document = ProgramDocument(program)
    return stages(program, document), document.data["operations"]


def test_every_operation_is_found_at_every_stage_of_its_kind() -> None:
    rows, operations = stages_of(BOTH)
    by_name = {row["name"]: row for row in rows}
    assert next(iter(by_name)) == "async-func-to-async-runtime"
    assert list(by_name)[-4:] == ["LLVM IR", "LLVM IR, split", "assembly", "BEF"]
    patterns = {
        "async-func-to-async-runtime": ("arith.muli", "arith.xori"),
        "LLVM IR": (r"= mul i32", r"= xor i32"),
        "LLVM IR, split": (r"= mul i32", None),
        "assembly": (r"imul", None),
        "BEF": ("tfrt.add.i32", "tfrt.constant.i32"),
    }
    kernels = {"BEF": ("tfrt.add.i32", "tfrt.constant.i32")}
    for name, wanted in patterns.items():
        lines = by_name[name]["text"].split("\n")
        for pattern, kernel in zip(
            wanted, kernels.get(name, ("arith.muli", "arith.xori")), strict=True
        ):
            if pattern is None:
                continue
            found = {
                operations[op]["kernel"]
                for line, op in zip(lines, by_name[name]["ops"], strict=True)
                if re.search(pattern, line) and op >= 0
            }
            assert kernel in found, (name, pattern)


def test_marks_are_a_difference() -> None:
    """Without new lines, a stage is the text before its pass; without old ones, that after it."""
    rows, _ = stages_of(BOTH)
    passes = [row for row in rows if "+" in row["marks"] or "-" in row["marks"]]
    assert len(passes) > 3
    before = None
    for row in passes:
        lines = list(zip(row["marks"], row["text"].split("\n"), strict=True))
        if before is not None:
            assert [line for mark, line in lines if mark != "+"] == before
        before = [line for mark, line in lines if mark != "-"]


def test_places_change_no_code() -> None:
    """The shown assembly is that of `--emit`."""
    program = Program.from_source(BOTH, "cell 1")
    rows, _ = stages_of(BOTH)
    shown = next(row["text"] for row in rows if row["name"] == "assembly")

    def code(text: str) -> list[str]:
        lines = [line.strip() for line in text.split("\n") if re.match(r"\t[a-z]", line)]
        return [re.sub(r"\.L\w+", "label", line) for line in lines]

    assert code(shown) == code(program.emit("asm"))
    assert ".loc" not in shown


def test_a_host_program_has_its_bytes_alone() -> None:
    rows, operations = stages_of(BOTH[: BOTH.index("func.func @tasks")])
    assert [row["name"] for row in rows] == ["BEF"]
    known = [operations[op]["kernel"] for op in dict.fromkeys(rows[0]["ops"]) if op >= 0]
    assert known == ["tfrt.constant.i32", "tfrt.add.i32"]


def test_a_large_program_is_refused_in_one_line() -> None:
    many = "".join(f"  %v{i} = tfrt.constant.i32 1\n" for i in range(MAX_OPERATIONS + 1))
    with pytest.raises(TfrtError, match="--emit STAGE"):
        stages_of(f"func.func @f() {{\n{many}  tfrt.return\n}}")
