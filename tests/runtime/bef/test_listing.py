"""Test the readable listing of a file's bytes."""

from __future__ import annotations

import pytest

from tfrt_nb import Program, TfrtError
from tfrt_runtime.bef.listing import listing

LOOP = """func.func @main(%n: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %m = tfrt.repeat.i32 %n, %six : i32 {
    %z = tfrt.add.i32 %six, %six
    tfrt.return %z : i32
  }
  tfrt.return %m : i32
}
func.func @nothing() { tfrt.return }"""


def test_every_byte_is_there_in_order_with_operations_beside() -> None:
    data = Program.from_source(LOOP).bef
    shown = listing(data)
    octets = " ".join(line[8:55] for line in shown.splitlines())
    assert bytes.fromhex(octets) == data
    for text in ("%1 = tfrt.constant.i32", "%2 = tfrt.repeat.i32 %0, %1", "@main (i32) -> (i32)"):
        assert text in shown


def test_the_lines_of_compiled_functions_are_beside_their_bytes() -> None:
    program = Program.from_source(
        "func.func @main() -> i64 {\n  %c = arith.constant 41 : i64\n  return %c : i64\n}", "p"
    )
    shown = listing(program.bef)
    octets = " ".join(line[8:55] for line in shown.splitlines())
    assert bytes.fromhex(octets) == program.bef
    assert 'arith.constant 41 : i64 loc("p":2:8)' in shown


def test_long_parts_are_cut_and_counted() -> None:
    text = (
        'func.func @main() {\n  %s = tfrt_test.get_string {value = "'
        + "x" * 5000
        + '"}\n  tfrt.return\n}'
    )
    shown = listing(Program.from_source(text).bef)
    assert len(shown) < 20_000
    assert "more bytes" in shown


def test_what_is_no_file_is_an_error() -> None:
    with pytest.raises(TfrtError):
        listing(b"\x0b\xef\x00\x05")
