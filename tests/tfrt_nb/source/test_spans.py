"""Test the places of operations, of names that define values, and of operands."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tfrt_nb.source import parse_module
from tfrt_nb.source.spans import definition_span, operand_span, span_of, value_name
from tfrt_runtime.diagnostics import Location

TEXT = """\
// A comment, then a function.
func @f(%x: i32, %flag: i1) -> i32 {
  %q, %r = tfrt.div.i32 %x, %x // %not, %these
  %s:2 = "tfrt.div.i32"(%q, %r)
      : (i32, i32) -> (i32, i32) loc("elsewhere.py":4:5)
  %k = tfrt.if %flag, %x, %s#1 : (i32, i32) -> i32 {
    tfrt.return %s#1 : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %k : i32
}
"""


@pytest.fixture(scope="module")
def module() -> ModuleOp:
    return parse_module(TEXT, "text")


def excerpt(location: Location | None) -> str:
    assert location is not None
    lines = TEXT.split("\n")[location.line - 1 : location.end_line]
    lines[-1] = lines[-1][: location.end_column - 1]
    lines[0] = lines[0][location.column - 1 :]
    return "\n".join(lines)


def operation(module: ModuleOp, name: str, index: int = 0) -> Operation:
    return [each for each in module.walk() if each.name == name][index]


def test_an_operation_spans_from_its_name_to_its_end_or_first_region(module: ModuleOp) -> None:
    spans = [excerpt(span_of(each)) for each in module.walk()]

    assert spans == [
        "",
        "func @f(%x: i32, %flag: i1) -> i32",
        "tfrt.div.i32 %x, %x",
        '"tfrt.div.i32"(%q, %r)\n      : (i32, i32) -> (i32, i32) loc("elsewhere.py":4:5)',
        "tfrt.if %flag, %x, %s#1 : (i32, i32) -> i32",
        "tfrt.return %s#1 : i32",
        "tfrt.return %x : i32",
        "tfrt.return %k : i32",
    ]


def test_results_span_their_names(module: ModuleOp) -> None:
    first, second = operation(module, "tfrt.div.i32"), operation(module, "tfrt.div.i32", 1)
    results = [*first.results, *second.results]

    assert [excerpt(definition_span(result)) for result in results] == ["%q", "%r", "%s", "%s"]
    assert [value_name(result) for result in results] == ["%q", "%r", "%s#0", "%s#1"]


def test_arguments_of_functions_and_regions_span_their_names(module: ModuleOp) -> None:
    function, branch = operation(module, "func.func"), operation(module, "tfrt.if")
    arguments = [*function.regions[0].block.args, *branch.regions[0].block.args]

    assert [value_name(argument) for argument in arguments] == ["%x", "%flag", "%x", "%s#1"]
    assert [excerpt(definition_span(argument)) for argument in arguments] == [
        "%x",
        "%flag",
        "%x",
        "%s#1",
    ]


@pytest.mark.parametrize(
    ("name", "index", "operands"),
    [
        ("tfrt.div.i32", 0, ["%x", "%x"]),
        ("tfrt.div.i32", 1, ["%q", "%r"]),
        ("tfrt.if", 0, ["%flag", "%x", "%s#1"]),
        ("tfrt.return", 2, ["%k"]),
    ],
)
def test_operands_span_their_uses(
    module: ModuleOp, name: str, index: int, operands: list[str]
) -> None:
    used = operation(module, name, index)

    spans = [operand_span(used, number) for number in range(len(used.operands))]

    assert [excerpt(span) for span in spans] == operands
    assert len(set(spans)) == len(spans)


def test_an_end_that_is_left_out_is_where_its_operation_is() -> None:
    text = "func @f(%c: i1) {\n  tfrt.if %c : () -> () {\n    tfrt.return\n  }\n  tfrt.return\n}\n"
    branch = operation(parse_module(text, "text"), "tfrt.if")
    implied = branch.regions[1].block.last_op

    assert implied is not None
    assert span_of(implied) == span_of(branch)


def test_what_has_no_source_has_no_span() -> None:
    made = ModuleOp([])

    assert span_of(made) is None
    assert operand_span(made, 0) is None
