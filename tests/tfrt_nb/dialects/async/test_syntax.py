"""The async dialect's text: MLIR's programs are read, printed as MLIR prints them, and read again."""

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


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '"async.await"(%t) : (!async.token) -> i64',
            "awaiting on a token must have empty result",
        ),
        (
            '%x = "async.await"(%v) : (!async.value<f32>) -> f64',
            "result type 'f64' does not match async value type 'f32'",
        ),
        (
            '"async.runtime.store"(%n, %v) : (i64, !async.value<f32>) -> ()',
            "type of 'value' matches element type of 'storage'",
        ),
        (
            '"async.runtime.add_ref"(%t) {count = 0 : i64} : (!async.token) -> ()',
            "64-bit signless integer attribute whose value is positive",
        ),
        (
            "%u = async.execute { }",
            "region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks",
        ),
        (
            "%u = async.execute {\n  cf.br ^next\n^next:\n  async.yield\n}",
            "expects region #0 to have 0 or 1 blocks",
        ),
        (
            "%u = async.call @missing(%n) : (i64) -> !async.token",
            "'missing' does not reference a valid async function",
        ),
        (
            "%u = async.call @task() : () -> !async.token",
            "incorrect number of operands for callee",
        ),
        (
            "%u = async.call @task(%v) : (!async.value<f32>) -> !async.token",
            "expected operand type 'i64', but provided '!async.value<f32>' for operand number 0",
        ),
        (
            "%u:2 = async.call @task(%n) : (i64) -> (!async.token, !async.token)",
            "incorrect number of results for callee",
        ),
        (
            "%u = async.call @task(%n) : (i64) -> !async.value<i64>",
            "result type mismatch at index 0",
        ),
    ],
)
def test_the_verifier_says(line: str, message: str) -> None:
    program = f"""
async.func private @task(i64) -> !async.token
func.func @f(%t: !async.token, %v: !async.value<f32>, %n: i64) {{
  {line}
  return
}}
"""
    with pytest.raises(SourceError) as refusal:
        parse_module(program, "program")

    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            "async.func private @f(i64) -> ()",
            "result is expected to be at least of size 1, but got 0",
        ),
        (
            "async.func private @f(i64) -> f32",
            "result type must be async value type or async token type, but got 'f32'",
        ),
        (
            "async.func @f(%x: i64) -> !async.value<f32> { return %x : i64 }",
            "operand types do not match the types returned from the parent FuncOp",
        ),
        ("func.func private @f(!async.value)", "failed to parse async value type"),
    ],
)
def test_functions_are_verified(function: str, message: str) -> None:
    with pytest.raises(SourceError) as refusal:
        parse_module(function, "program")

    assert message in str(refusal.value)
