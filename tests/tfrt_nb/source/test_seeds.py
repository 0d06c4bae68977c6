"""The examples of the design document, as they stand there."""

from __future__ import annotations

import pytest

from tfrt_nb.dialects import print_module
from tfrt_nb.source import SourceError, parse_module

SAMPLE = """
func @sample_function() -> i32 {
  %one = tfrt.constant.i32 1       // Make AsyncValue with value 1
  %two = tfrt.constant.i32 2       // Make AsyncValue with value 2
  %three = tfrt.add.i32 %one, %two // Make AsyncValue with value 3 (1+2)

  tfrt.print.i32 %three            // Print AsyncValue %three
  tfrt.return %three : i32         // Return AsyncValue %three
}
"""

SAMPLE_WITH_CHAINS = """
func @sample_function(%ch0 : !tfrt.chain) -> (i32, !tfrt.chain) {
    // %one is an AsyncValue with constant 1.
    %one = tfrt.constant.i32 1
    // %two is an AsyncValue with constant 2.
    %two = tfrt.constant.i32 2
    // %three is an AsyncValue with constant 3.
    %three = tfrt.add.i32 %one, %two
    // Print %three and produce chain %ch1.
    %ch1 = tfrt.print.i32 %three, %ch0
    // Returns %three and %ch1.
    tfrt.return %three, %ch1 : i32, !tfrt.chain
}
"""

WITHOUT_CHAINS = """
func @control_dep0() {
  %a = dht.create_uninit_tensor.i32.2 [2: i32, 2: i32]
  dht.fill_tensor.i32 %a 41
  dht.print_tensor.i32 %a
}
"""

WITH_CHAINS = """
func @control_dep1() {
  %a = dht.create_uninit_tensor.i32.2 [2 : i32, 2 : i32]
  %chain1 = dht.fill_tensor.i32 %a, 41
  %chain2 = dht.print_tensor.i32 %a, %chain1
 }
"""

FROM_MARS = """
func @print_from_mars() -> i32 {
  %y = tfrt.async.read.from.mars
  tfrt.print.i32 %y
  tfrt.return %y : i32
}
"""

FAST_CALL = """
// Return first arg, ignore second arg.
func @return_first_arg(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}

func @fast_call() -> i32 {
  %x = tfrt.constant.i32 42
  %y = tfrt.async.read.from.mars
  %z = tfrt.call @return_first_arg(%x, %y) {bef.nonstrict} : (i32) -> (i32)
  tfrt.return %z : i32
}
"""


def body(text: str) -> list[str]:
    """The operations of the last function of `text`, as they are printed."""
    lines = print_module(parse_module(text, "text")).split("\n")
    start = max(index for index, line in enumerate(lines) if line.startswith("  func"))
    return [line.strip() for line in lines[start + 1 : -3]]


def test_a_print_needs_no_chain() -> None:
    assert body(SAMPLE) == [
        "%0 = tfrt.constant.i32 1",
        "%1 = tfrt.constant.i32 2",
        "%2 = tfrt.add.i32 %0, %1",
        "%3 = tfrt.print.i32 %2",
        "tfrt.return %2 : i32",
    ]


def test_a_print_may_have_a_chain() -> None:
    assert body(SAMPLE_WITH_CHAINS)[-2:] == [
        "%3 = tfrt.print.i32 %2, %arg0",
        "tfrt.return %2, %3 : i32, !tfrt.chain",
    ]


@pytest.mark.parametrize(
    ("text", "printed"),
    [(WITHOUT_CHAINS, "tfrt_dht.print_tensor %0"), (WITH_CHAINS, "tfrt_dht.print_tensor %0, %1")],
)
def test_the_first_spelling_of_tensors_is_read_and_its_return_may_be_left_out(
    text: str, printed: str
) -> None:
    assert body(text) == [
        "%0 = tfrt_dht.create_uninitialized_tensor.i32.2 [2, 2]",
        "%1 = tfrt_dht.fill_tensor_with_constant.i32 %0 41 : i32",
        f"%2 = {printed}",
        "tfrt.return",
    ]


def test_a_return_is_left_out_in_the_first_spelling_only() -> None:
    with pytest.raises(SourceError, match="block with no terminator, has %0 = tfrt.new.chain"):
        parse_module("func @f() {\n  %a = tfrt.new.chain\n}\n", "text")


def test_a_kernel_without_operands_is_just_its_name() -> None:
    assert body(FROM_MARS)[0] == "%0 = tfrt.async.read.from.mars"


def test_a_call_that_lists_one_type_for_two_operands_says_which_types_they_have() -> None:
    with pytest.raises(SourceError) as caught:
        parse_module(FAST_CALL, "text")

    (diagnostic,) = caught.value.diagnostics
    assert str(diagnostic) == "text:10:62: error: 2 operands given, but the types of 1 listed"
    assert [note.message for note in diagnostic.notes] == ["the operands have the types (i32, i32)"]


def test_the_call_with_its_two_types_is_non_strict_as_it_says() -> None:
    corrected = FAST_CALL.replace(": (i32) -> (i32)", ": (i32, i32) -> (i32)")

    assert body(corrected)[2] == (
        "%2 = tfrt.call @return_first_arg(%0, %1) {bef.nonstrict} : (i32, i32) -> i32"
    )
