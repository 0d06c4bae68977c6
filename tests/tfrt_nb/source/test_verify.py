"""What is well written but makes no sense: all of it is reported at once."""

from __future__ import annotations

import pytest

from tfrt_nb.source import SourceError, parse_module


def problems(text: str) -> list[str]:
    """The errors of `text` as `line:column: message`, in order."""
    try:
        parse_module(text, "text")
    except SourceError as error:
        return [
            str(diagnostic).removeprefix("text:").replace(" error:", "")
            for diagnostic in error.diagnostics
        ]
    return []


def test_independent_errors_are_all_reported() -> None:
    text = """\
func @same() -> i64 {
  %a = tfrt.constant.i32 1
  tfrt.call @nobody() : () -> ()
  tfrt.return %a : i32
}
func @same() -> (i32, i32) {
  %a = "tfrt.constant.i32"() {value = 1 : i64} : () -> i32
  %b = "tfrt.add.i32"(%a) : (i32) -> i32
  %c = "tfrt.add.i32"(%a, %a) : (i32, i32) -> i64
  %d = "tfrt.new.chain"() : () -> ()
  tfrt.return %a : i32
}
"""
    assert problems(text.replace("%d = ", "")) == [
        "3:3: 'tfrt.call' op 'nobody' does not reference a valid function",
        "4:3: type of return operand 0 ('i32') doesn't match function result type ('i64')",
        "6:1: redefinition of symbol named 'same'",
        (
            "7:8: 'tfrt.constant.i32' op attribute 'value' failed to satisfy constraint: "
            "32-bit signless integer attribute"
        ),
        "8:8: 'tfrt.add.i32' op expected 2 operands, but found 1",
        "9:8: 'tfrt.add.i32' op result #0 must be 32-bit signless integer, but got 'i64'",
        "10:3: 'tfrt.new.chain' op expected 1 results, but found 0",
        "11:3: 'tfrt.return' op has 1 operands, but enclosing function returns 2",
    ]


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        ('"tfrt.constant.i32"() : () -> i32', "requires attribute 'value'"),
        (
            '"tfrt.and.i1"(%a, %a) : (i32, i32) -> i1',
            "operand #0 must be 1-bit signless integer, but got 'i32'",
        ),
        (
            '"tfrt.print.i32"(%a, %a) : (i32, i32) -> !tfrt.chain',
            "operand #1 must be '!tfrt.chain', but got 'i32'",
        ),
        (
            '"tfrt.add.f32"(%a, %a) : (i32, i32) -> f32',
            "operand #0 must be 32-bit float, but got 'i32'",
        ),
        (
            '"ts.build_shape"() {value = [1 : i32]} : () -> !ts.shape',
            (
                "attribute 'value' failed to satisfy constraint: "
                "array of 64-bit signless integer attributes"
            ),
        ),
        (
            '"tfrt_test.get_string"() {value = 1 : i32} : () -> !tfrt.string',
            "attribute 'value' failed to satisfy constraint: string attribute",
        ),
        ('"tfrt.call"() : () -> ()', "requires attribute 'callee'"),
        ('"tfrt.call"() {callee = 1 : i32} : () -> ()', "attribute 'callee' must name a function"),
        ('"tfrt.while"() {body_fn = @f} : () -> ()', "expected 1 or more operands, but found 0"),
        (
            '"tfrt.while"(%a) {body_fn = @f} : (i32) -> ()',
            "operand #0 must be 1-bit signless integer, but got 'i32'",
        ),
        ('"tfrt.repeat.i32"(%a) : (i32) -> ()', "requires 1 regions, but has 0"),
        ('"tfrt.repeat.i32"(%a) ({}) : (i32) -> ()', "region #0 is empty"),
        (
            '"tfrt.repeat.i32"(%a, %a) ({ tfrt.return %a : i32 }) : (i32, i32) -> i32',
            "the arguments of region #0 do not have the types of the operands",
        ),
    ],
)
def test_operations_in_quotes_are_checked_like_short_forms(operation: str, problem: str) -> None:
    name = operation.split('"')[1]
    text = f"func @f(%a: i32) {{\n  {operation}\n  tfrt.return\n}}\n"

    assert problems(text) == [f"2:3: '{name}' op {problem}"]


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        ("tfrt.once @wide(%a) : (i32) -> (i32)", "operand type mismatch"),
        (
            "tfrt.cond %t @id @wide (%a) : (i32) -> (i32)",
            "operand type mismatch for false function",
        ),
        (
            "tfrt.cond %t @id @no (%a) : (i32) -> (i32)",
            "'no' does not reference a valid function",
        ),
        (
            "tfrt.while %t @id(%a) parallel_iterations(1) : (i32) -> (i32)",
            "incorrect number of results for callee",
        ),
        (
            "tfrt.case %a [@id] (%c, %a) : (i32) -> (i32)",
            "incorrect number of operands for callee",
        ),
        (
            "tfrt.parallel_call.i32 %a to %a fixed %a @id(%a) : i32",
            "incorrect number of operands for callee",
        ),
    ],
)
def test_functions_that_are_called_must_have_the_types_that_they_are_called_with(
    operation: str, problem: str
) -> None:
    text = f"""\
func @id(%x: i32) -> i32 {{
  tfrt.return %x : i32
}}
func @wide(%x: i64) -> i32 {{
  %y = tfrt.constant.i32 1
  tfrt.return %y : i32
}}
func @f(%a: i32, %t: i1, %c: !tfrt.chain) {{
  {operation}
  tfrt.return
}}
"""
    name = operation.split()[0]

    assert problems(text) == [f"9:3: '{name}' op {problem}"]


def test_a_callee_is_looked_up_in_the_module_of_the_caller() -> None:
    text = """\
module @inner {
  func @here() {
    tfrt.return
  }
  func @f() {
    tfrt.call @here() : () -> ()
    tfrt.call @there() : () -> ()
    tfrt.return
  }
}
func @there() {
  tfrt.return
}
"""
    assert problems(text) == ["7:5: 'tfrt.call' op 'there' does not reference a valid function"]


def test_a_function_that_does_not_end_in_a_return_says_what_it_ends_in() -> None:
    text = "func @f(%x: i32) {\n  %y = tfrt.add.i32 %x, %x\n}\n"

    assert problems(text) == ["2:8: block with no terminator, has %0 = tfrt.add.i32 %x, %x"]


def test_a_value_must_be_defined_before_it_is_used() -> None:
    text = """\
func @f() -> i32 {
  %b = "tfrt.add.i32"(%a, %a) : (i32, i32) -> i32
  %a = tfrt.constant.i32 1
  tfrt.return %b : i32
}
"""
    assert problems(text) == [
        "2:23: operand #0 does not dominate this use",
        "2:27: operand #1 does not dominate this use",
    ]


def test_a_value_of_another_block_must_have_run() -> None:
    text = """\
func.func @f(%c: i1) -> i32 {
  cf.cond_br %c, ^left, ^right
^left:
  %a = arith.constant 1 : i32
  cf.br ^right
^right:
  return %a : i32
}
"""
    assert problems(text) == ["7:10: operand #0 does not dominate this use"]


def test_a_value_may_be_used_above_its_definition_if_its_block_runs_first() -> None:
    text = """\
func.func @f() -> i32 {
  cf.br ^second
^first:
  return %a : i32
^second:
  %a = arith.constant 1 : i32
  cf.br ^first
}
"""
    assert problems(text) == []


def test_only_the_last_operation_may_return() -> None:
    text = "func @f() {\n  tfrt.return\n  %a = tfrt.new.chain\n  tfrt.return\n}\n"

    assert problems(text) == [
        "2:3: 'tfrt.return' op must be the last operation in the parent block"
    ]


def test_unknown_operations_and_types_are_nobodys_business() -> None:
    text = """\
func @f(%x: !their.thing) -> !tfrt.anything {
  %y = "their.op"(%x) {a, b = #their.attribute<1>} : (!their.thing) -> !tfrt.anything
  %z = "tfrt.something.new"(%y) : (!tfrt.anything) -> !tfrt.anything
  tfrt.return %z : !tfrt.anything
}
"""
    assert problems(text) == []


def test_kernels_that_the_reference_does_not_register_take_a_further_chain() -> None:
    text = """\
func @f(%x: i32, %c: !tfrt.chain) -> i1 {
  %y = "tfrt.lessequal.i32"(%x, %x, %c) : (i32, i32, !tfrt.chain) -> i1
  tfrt.return %y : i1
}
"""
    assert problems(text) == []


def test_a_cost_must_be_positive() -> None:
    text = """\
func @f(%x: i32) {
  %y = tfrt_test.test_cost %x {id = 1 : i64, _tfrt_cost = 0 : i64} : i32
  tfrt.return
}
"""
    assert problems(text) == ["2:8: 'tfrt_test.test_cost' op cost value must be larger than 0"]


def test_a_value_of_a_region_is_not_known_outside_of_it() -> None:
    text = """\
func @f() {
  "golden.op"(%a) : (i32) -> ()
  "golden.region"() ({
    %a = tfrt.constant.i32 1
    tfrt.return
  }) : () -> ()
  tfrt.return
}
"""
    assert problems(text) == ["2:15: operand #0 does not dominate this use"]


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        ('"func.func"() : () -> ()', "requires one region"),
        ('"func.func"() ({}) : () -> ()', "requires attribute 'sym_name'"),
        ('"func.func"() ({}) {sym_name = "f"} : () -> ()', "requires attribute 'function_type'"),
        (
            '"func.func"() ({}) {sym_name = "f", function_type = i32} : () -> ()',
            "attribute 'function_type' is of a wrong kind",
        ),
        (
            (
                '"func.func"() ({ tfrt.return }) '
                '{sym_name = "f", function_type = (i32) -> ()} : () -> ()'
            ),
            "entry block arguments do not have the types of the function's arguments",
        ),
        ('"builtin.module"() : () -> ()', "requires one region of one block"),
    ],
)
def test_functions_and_modules_in_quotes_must_be_whole(operation: str, problem: str) -> None:
    name = operation.split('"')[1]

    assert problems(f'{operation}\n"golden.op"() : () -> ()\n') == [f"1:1: '{name}' op {problem}"]


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        (
            '"tfrt.repeat.i32"(%a) ({ tfrt.return }) : (i32) -> i32',
            "the results do not have the types of the loop values",
        ),
        (
            '"tfrt_test.benchmark"() ({ tfrt.return %a : i32 }) : () -> i32',
            "must have results of the types (!tfrt.chain)",
        ),
        (
            '"tfrt_test.benchmark"() ({ tfrt.return %a : i32 }) : () -> !tfrt.chain',
            "requires a string attribute 'name'",
        ),
    ],
)
def test_control_flow_in_quotes_must_have_the_results_of_its_kind(
    operation: str, problem: str
) -> None:
    name = operation.split('"')[1]
    text = f"func @f(%a: i32) {{\n  {operation}\n  tfrt.return\n}}\n"

    assert problems(text)[0] == f"2:3: '{name}' op {problem}"
