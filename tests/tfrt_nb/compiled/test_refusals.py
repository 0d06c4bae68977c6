"""Test files whose section of compiled functions does not match the other sections."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tfrt_nb import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError

FUNCTIONS = """
async.func @f(%v: !async.value<i32>, %w: i32) -> (!async.token, !async.value<i32>) {
  %x = await %v : !async.value<i32>
  return %x : i32
}
func.func @main(%x: i32) {
  %c, %y = tfrt.call @f(%x, %x) : (i32, i32) -> (!tfrt.chain, i32)
  tfrt.return
}
"""


def changed(old: str, new: str) -> bytes:
    """Return a file with a change in its section of compiled functions."""
    file = BefFile.load(Program.from_source(FUNCTIONS, "test.mlir").bef)
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
            "takes 1 argument, found 2",
        ),
        (
            "(%arg0: !async.value<i32>, %arg1: i32)",
            "(%arg0: !async.value<i32>, %arg1: vector<2xi32>)",
            "'f' cannot be called by host programs: its argument 1 is of type 'vector<2xi32>'",
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
