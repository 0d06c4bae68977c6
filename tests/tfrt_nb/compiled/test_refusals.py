"""Calls between host programs and compiled functions that are wrong, and where the errors point."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfrt_nb import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import Location, TfrtError

FUNCTIONS = """
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @odd(%a: i7) -> i7 {
  return %a : i7
}
func.func @strided(%a: memref<4xf32, strided<[2]>>) {
  return
}
func.func @main(%x: i32, %t: !t.tensor) {
  BODY
  tfrt.return
}
"""
CALLED = (
    "host programs call the function's type "
    "'(!async.value<i32>, i32) -> (!async.token, !async.value<i32>)' "
    "'(i32, i32) -> (!tfrt.chain, i32)'"
)


@pytest.mark.parametrize(
    ("body", "quoted", "message", "note"),
    [
        (
            "%c, %y = tfrt.call @f(%x) : (i32) -> (!tfrt.chain, i32)",
            "tfrt.call @f",
            "'tfrt.call' op incorrect number of operands for callee",
            CALLED,
        ),
        (
            "%c, %y = tfrt.call @f(%x, %t) : (i32, !t.tensor) -> (!tfrt.chain, i32)",
            "tfrt.call @f",
            "'tfrt.call' op operand type mismatch",
            CALLED,
        ),
        (
            "%y = tfrt.call @f(%x, %x) : (i32, i32) -> i32",
            "tfrt.call @f",
            "'tfrt.call' op incorrect number of results for callee",
            CALLED,
        ),
        (
            "%y, %z = tfrt.call @f(%x, %x) : (i32, i32) -> (!async.token, !async.value<i32>)",
            "tfrt.call @f",
            "'tfrt.call' op result type mismatch",
            CALLED,
        ),
        (
            "%y = tfrt.call @unknown(%x) : (i32) -> i32",
            "tfrt.call @unknown",
            "'tfrt.call' op 'unknown' does not reference a valid function",
            "there are @f, @odd, @strided, @main",
        ),
        (
            "%y = tfrt.call @odd(%t) : (!t.tensor) -> !t.tensor",
            "tfrt.call @odd",
            "'tfrt.call' op 'odd' cannot be called by host programs",
            "argument 0 of type 'i7' cannot cross",
        ),
        (
            "tfrt.call @strided(%t) : (!t.tensor) -> ()",
            "tfrt.call @strided",
            "'tfrt.call' op 'strided' cannot be called by host programs",
            "argument 0 of type 'memref<4xf32, strided<[2]>>' cannot cross",
        ),
        (
            "%y = tfrt.jit (%t as %m: i32) -> i32 {\n    tfrt.return %m : i32\n  }",
            "%t as",
            "use of value '%t' expects different type than prior uses: 'i32' vs '!t.tensor'",
            "prior use here",
        ),
        (
            "%y = tfrt.jit (%x as %m: vector<2xi32>) -> i32 {\n    tfrt.return %m : i32\n  }",
            ") -> i32 {",
            "values of type 'vector<2xi32>' cannot cross between host and compiled code",
            None,
        ),
        (
            "%y = tfrt.jit (%x as %m: i32) -> i32 {\n    tfrt.return %x : i32\n  }",
            "%x : i32\n  }",
            "use of undeclared SSA value name",
            "'%x' is defined outside, here: a function sees no values from outside",
        ),
        (
            "%y = tfrt.jit (%x as %m: i32) -> i64 {\n    tfrt.return %m : i32\n  }",
            "tfrt.return %m",
            "'tfrt.return' op operand types don't match 'tfrt.jit' result",
            None,
        ),
        (
            (
                "%y = tfrt.jit (%x as %m: i32) -> i32 {\n"
                "    %z = tfrt.add.i32 %m, %m\n    tfrt.return %z : i32\n  }"
            ),
            "tfrt.add.i32",
            "'tfrt.add.i32' is a kernel, and what is in a 'tfrt.jit' is compiled",
            None,
        ),
        (
            '%y = "tfrt.jit"(%x) : (i32) -> i32',
            '"tfrt.jit"',
            "'tfrt.jit' op requires a region that is not empty",
            None,
        ),
        (
            (
                '%y = "tfrt.jit"(%x) ({\n^bb0(%m: i64):\n    "tfrt.return"(%m) : (i64) -> ()\n'
                "  }) : (i32) -> i64"
            ),
            '"tfrt.jit"',
            "'tfrt.jit' op operand #0 is of type 'i32', and cannot be 'i64' inside",
            None,
        ),
    ],
)
def test_a_wrong_call_is_refused(body: str, quoted: str, message: str, note: str | None) -> None:
    text = FUNCTIONS.replace("BODY", body)
    with pytest.raises(TfrtError) as raised:
        Program.from_source(text, "test.mlir")

    [problem] = raised.value.diagnostics
    place = problem.location
    assert isinstance(place, Location)
    before = text[: text.index(quoted)]
    found = problem.message, place.line, place.column
    assert found == (message, before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert [one.message for one in problem.notes] == ([] if note is None else [note])


def changed(old: str, new: str) -> bytes:
    """A file whose section of compiled functions says something else."""
    text = FUNCTIONS.replace(
        "BODY", "%c, %y = tfrt.call @f(%x, %x) : (i32, i32) -> (!tfrt.chain, i32)"
    )
    file = BefFile.load(Program.from_source(text, "test.mlir").bef)
    assert old in file.compiled
    return write_bef(replace(file, compiled=file.compiled.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("await", "what", "custom op 'what' is unknown"),
        ("async.func @f", "async.func @g", "unable to find native function"),
        (
            "(%arg0: !async.value<i32>, %arg1: i32)",
            "(%arg0: !async.value<i32>)",
            "takes 1 arguments, found 2",
        ),
        (
            "(%arg0: !async.value<i32>, %arg1: i32)",
            "(%arg0: !async.value<i32>, %arg1: vector<2xi32>)",
            "'f' cannot be called by host programs: argument 1 of type 'vector<2xi32>'",
        ),
    ],
)
def test_a_file_whose_parts_disagree_is_refused(old: str, new: str, message: str) -> None:
    data = changed(old, new)
    with pytest.raises(TfrtError, match=message):
        Program.from_bef(data, "test.bef").load()


def test_text_that_is_none_is_refused() -> None:
    data = changed("await", "await")
    with pytest.raises(TfrtError, match="invalid CompiledFunctions section in BEF file"):
        Program.from_bef(data.replace(b"await", b"a\xffait"), "test.bef")
