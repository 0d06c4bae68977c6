"""Test the text of modules in cases that the conformance corpus lacks."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.printer import Printer

from tfrt_nb.dialects.printer import HostPrinter, print_module
from tfrt_nb.source import parse_module

CALLEES = """\
func @id(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func @step(%x: i32) -> (i32, i1) {
  %t = tfrt.constant.i1 true
  tfrt.return %x, %t : i32, i1
}
func @branch(%c: !tfrt.chain, %x: i32) -> (!tfrt.chain, i32) {
  tfrt.return %c, %x : !tfrt.chain, i32
}
func @only_chain(%c: !tfrt.chain) -> !tfrt.chain {
  tfrt.return %c : !tfrt.chain
}
func @block(%from: i32, %to: i32) {
  tfrt.return
}
"""


ARGUMENTS = "%arg0: i32, %arg1: f32, %arg2: i1, %arg3: !tfrt.chain, %arg4: !t.tensor"


def printed(operation: str, *, head: bool = False) -> str:
    """Return `operation` as printed in a function with arguments of the common types."""
    text = f"{CALLEES}func @f({ARGUMENTS}) {{\n  {operation}\n  tfrt.return\n}}\n"
    lines = print_module(parse_module(text, "text"), head=head).split("\n")
    start = next(index for index, line in enumerate(lines) if "@f(" in line)
    return "\n".join(line[4:] for line in lines[start + 1 : -4])


@pytest.mark.parametrize(
    "operation",
    [
        "%0 = tfrt.cond %arg2 @id @id (%arg0) : (i32) -> (i32)",
        "%0 = tfrt.once @id(%arg0) : (i32) -> (i32)",
        "%0 = tfrt.while %arg2 @step(%arg0) parallel_iterations(4) : (i32) -> (i32)",
        "%0:2 = tfrt.case %arg0 [@branch, @branch] (%arg3, %arg0) : (i32) -> (i32)",
        (
            '%0 = "tfrt.case"(%arg0, %arg3) {branches = [@only_chain]} : (i32, !tfrt.chain) '
            "-> !tfrt.chain"
        ),
        "%0 = tfrt.parallel_call.i32 %arg0 to %arg0 fixed %arg0 @block()",
        (
            "%0 = tfrt_test.sync_benchmark @id(%arg0 : i32)"
            " duration_secs = 1, max_count = 2, num_warmup_runs = 1"
        ),
        "%0 = tfrt_test.test_cost %arg0 {_tfrt_cost = 5 : i64, id = 1 : i64} : i32",
        "%0 = tfrt_test.test_cost %arg3 {id = 1 : i64}",
        (
            '%0 = "tfrt_test.test_cost"(%arg0, %arg3) {id = 1 : i64} : (i32, !tfrt.chain) -> '
            "!tfrt.chain"
        ),
        "%0 = tfrt.merge.chains",
        '%0 = tfrt.get_device %arg3 {device_name = "CPU:0"}',
        "%0 = tfrt_dht.fill_tensor_with_constant.bool %arg4, %arg3 true",
        (
            "%0 = tfrt_dht.set_tensor_with_constant_values.complex64 %arg4, %arg3 "
            "[1.000000e+00 : f32, 2.000000e+00 : f32]"
        ),
        '%0 = "their.op"(%arg0) {a, b, c = @id, d = @m::@n} : (i32) -> index',
        (
            "%0 = tfrt.if %arg2, %arg0 attributes {bef.nonstrict} : (i32) -> (i32)  {\n"
            "  tfrt.return %arg0 : i32\n} else  {\n  tfrt.return %arg0 : i32\n}"
        ),
    ],
)
def test_the_printed_form_is_the_written_form(operation: str) -> None:
    assert printed(operation) == operation


@pytest.mark.parametrize(
    ("operation", "later"),
    [
        (
            "%d, %r = tfrt.case %arg0 [@branch] (%arg3, %arg0) : (i32) -> (i32)",
            (
                "%0:2 = tfrt.case %arg0 [@branch] (%arg3, %arg0) : "
                "(!tfrt.chain, i32) -> (!tfrt.chain, i32)"
            ),
        ),
        (
            '%n = "their.op"(%arg4) : (!t.tensor) -> !t.tensor',
            '%0 = "their.op"(%arg4) : (!tfrt_tensor.tensor) -> !tfrt_tensor.tensor',
        ),
    ],
)
def test_later_versions_spell_some_things_differently(operation: str, later: str) -> None:
    assert printed(operation, head=True) == later


def test_functions_are_printed_in_both_spellings() -> None:
    module = parse_module(
        'func @"a b"(%x: i32) attributes {z = 1 : i32, a} {\n tfrt.return\n}', "t"
    )

    assert print_module(module).split("\n")[1] == (
        '  func @"a b"(%arg0: i32) attributes {a, z = 1 : i32} {'
    )
    assert print_module(module, head=True).split("\n")[1].startswith('  func.func @"a b"')


def test_blocks_and_their_arguments_are_numbered() -> None:
    text = """\
module {
  func @f() {
    "golden.region"() ({
    ^bb0(%arg0: i32):
      %0 = "golden.one"(%arg0)[^bb1] : (i32) -> i32
    ^bb1(%1: i64):
      "golden.end"(%1) : (i64) -> ()
    }) : () -> ()
    tfrt.return
  }
}
"""
    assert print_module(parse_module(text, "text")) == text


def test_bytes_in_strings_are_kept() -> None:
    operation = r'"golden.op"() {s = "\00\FF\C3\BC \22\\"} : () -> ()'

    assert printed(operation) == operation
    assert (
        printed('"golden.op"() {s = "ü"} : () -> ()') == r'"golden.op"() {s = "\C3\BC"} : () -> ()'
    )


def test_an_operation_alone_has_its_operands_names_from_outside() -> None:
    module = parse_module("func @f(%x: i32) {\n %y:2 = tfrt.div.i32 %x, %x\n tfrt.return\n}", "t")
    operation = next(each for each in module.walk() if each.name == "tfrt.div.i32")
    stream = StringIO()
    HostPrinter(stream).print_alone(operation, {operation.operands[0]: "%x"})

    assert stream.getvalue() == "%0:2 = tfrt.div.i32 %x, %x"


def test_xdsls_own_printer_prints_host_programs_too() -> None:
    loop = "%y = tfrt.repeat.i32 %x, %x : i32 {\n  tfrt.return %x : i32\n }"
    text = f"func @f(%x: i32) {{\n  {loop}\n  tfrt.return\n}}"
    stream = StringIO()
    Printer(stream).print_op(parse_module(text, "text"))

    assert (
        stream.getvalue()
        == """\
builtin.module {
  func.func @f(%x: i32) {
    %y = tfrt.repeat.i32 %x, %x : i32 {
      tfrt.return %x : i32
    }
    tfrt.return
  }
}"""
    )
