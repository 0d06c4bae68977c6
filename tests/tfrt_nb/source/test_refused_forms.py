"""Forms that xDSL or LLVM would stumble over are errors at their place."""

from __future__ import annotations

import pytest

from tfrt_nb.source import SourceError, parse_module
from tfrt_nb.source.parser import SourceParser
from tfrt_runtime.diagnostics import InternalError, Location


def refusal(text: str) -> tuple[str, int]:
    """The first error of a text, and its line."""
    with pytest.raises(SourceError) as raised:
        parse_module(text, "text")
    found = raised.value.diagnostics[0]
    assert isinstance(found.location, Location)
    return found.message, found.location.line


def in_main(*lines: str) -> str:
    return "\n".join(["func.func @main(%n: index, %v: f32, %i: i128) {", *lines, "  return", "}"])


@pytest.mark.parametrize(
    "loop",
    [
        "scf.for %k = %k to %n step %n {\n}",
        "scf.parallel (%k) = (%n) to (%k) step (%n) {\n}",
        "%t = async.parallel_for (%k) = (%n) to (%n) step (%k) {\n} -> !async.handle",
        "%r = scf.for %k = %n to %n step %n iter_args(%a = %a) -> index {\nscf.yield %a : index\n}",
    ],
)
def test_a_loop_cannot_use_what_only_its_body_knows(loop: str) -> None:
    message, line = refusal(in_main(loop))

    assert message.endswith("does not dominate this use")
    assert line == 2


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            ["cf.br ^a", "^b:", "cf.br ^a", "^a:", "cf.br ^b", "^a:"],
            ("redefinition of block '^a'", 7),
        ),
        (
            ["cf.switch %v : f32, [", "default: ^a,", "1: ^a", "]", "^a:"],
            ("'cf.switch' chooses by an integer", 4),
        ),
        (
            ["cf.switch %i : i128, [", "default: ^a,", "1: ^a", "]", "^a:"],
            ("not supported: Format not implemented for i128", 5),
        ),
    ],
)
def test_a_form_that_cannot_be_is_refused(lines: list[str], expected: tuple[str, int]) -> None:
    assert refusal(in_main(*lines)) == expected


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [
        ("0x7F : f128", "a number of this type"),
        (
            "affine_map<(d0)[s0] -> (d0 mod s0)>",
            "Mod with non-constant (semi-affine) is not supported yet",
        ),
    ],
)
def test_what_xdsl_lacks_is_not_supported(attribute: str, reason: str) -> None:
    text = f"module attributes {{a = {attribute}}} {{}}"

    assert refusal(text) == (f"not supported: {reason}", 1)


def test_what_our_parser_lacks_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(SourceParser, "parse_module", lacking)

    with pytest.raises(InternalError, match="NotImplementedError"):
        parse_module("", "text")


def test_no_branch_leads_to_the_start_of_a_function() -> None:
    text = "func.func @main() {\n^again:\n  cf.br ^again\n}"

    assert refusal(text) == ("entry block of region may not have predecessors", 3)


def test_elements_end_as_they_begin() -> None:
    text = 'memref.global "private" @x : memref<3xindex> = dense<(0, -1, 7]>\n'

    assert refusal(text) == ("unexpected ','", 1)


@pytest.mark.parametrize(
    "form",
    [
        "linalg.fill",
        "linalg.matmul (%n, %n : index, index)",
    ],
)
def test_what_xdsl_cannot_read_has_too_few_operands(form: str) -> None:
    message, line = refusal(in_main(form))

    assert message.endswith("op has too few operands")
    assert line == 2


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [
        ("extf", "f32", "f32"),
        ("extf", "f16", "bf16"),
        ("truncf", "f32", "f64"),
        ("bitcast", "i64", "index"),
        ("bitcast", "index", "i8"),
    ],
)
def test_a_conversion_changes_the_width_as_it_says(name: str, source: str, target: str) -> None:
    text = f"func.func @f(%x: {source}) {{\n  %y = arith.{name} %x : {source} to {target}\n  return\n}}"
    types = f"operand type '{source}' and result type '{target}'"

    assert refusal(text) == (f"'arith.{name}' op {types} are cast incompatible", 2)


def test_each_case_of_a_switch_has_a_value_of_its_own() -> None:
    text = "func.func @f(%x: i8) {\n  cf.switch %x : i8, [\n    default: ^a,\n    7: ^a,\n    7: ^a\n  ]\n^a:\n  return\n}"

    assert refusal(text) == ("'cf.switch' op has duplicate case value: 7", 2)


def test_a_global_buffer_is_contiguous() -> None:
    text = "memref.global @g : memref<4xi64, strided<[2]>> = dense<0>\n"

    assert refusal(text)[0].startswith("'memref.global' op a global buffer is contiguous")


@pytest.mark.parametrize("type_", ["i3", "i128", "vector<4xf32>"])
def test_host_programs_have_no_result_that_cannot_cross(type_: str) -> None:
    text = f"""func.func @main() -> {type_} {{
  %r = tfrt.call @g() : () -> {type_}
  tfrt.return %r : {type_}
}}
func.func @g() -> {type_} {{
  %r = call @g() : () -> {type_}
  return %r : {type_}
}}"""

    assert refusal(text) == ("'tfrt.call' op 'g' cannot be called by host programs", 2)


@pytest.mark.parametrize(
    "text",
    [
        'memref.global "private" @g : memref<4194304x4194304xi64> = dense<0>',
        "func.func @f() {\n  %a = arith.constant dense<1> : vector<100000000xi64>\n  return\n}",
        'func.func @f() {\n  "a.b"() {c = dense<"0x01"> : tensor<100000000xi8>} : () -> ()\n  tfrt.return\n}',
    ],
)
def test_a_constant_has_a_largest_size(text: str) -> None:
    assert refusal(text + "\n")[0].startswith("a constant has at most 16777216 elements")
