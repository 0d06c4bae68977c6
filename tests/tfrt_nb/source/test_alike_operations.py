"""Test that similar operations are checked once, with the same outcome as one by one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.random_programs import random_program
from tests.tfrt_nb.source.damage import damaged
from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.printer import print_module
from tfrt_nb.source import SourceError, parse_module, verification
from tfrt_nb.source.spans import definition_span, source_span, value_name

TESTS = Path(__file__).parents[2]
PROGRAMS = sorted(
    path
    for path in TESTS.rglob("*.mlir")
    if path.parent == TESTS / "golden" / "tfrt"
    or re.search(r"\b(arith|async|scf|memref)\.", path.read_text(errors="replace"))
)
OTHERS = ["i32", "i64", "index", "%x", "-1", "9999999999", "#1", "async.yield", "f32"]
MARKS = ["\n", "\n", ",", ":", "%", "#1", " // ", '"', "0x1F"]


def facts(operation: Operation) -> tuple[Any, ...]:
    """Return everything that can be observed about an operation."""
    span = source_span(operation)
    return (
        type(operation),
        None if span is None else (span.first, span.start, span.end, span.explicit),
        [(value_name(operand), operand.type) for operand in operation.operands],
        [
            (value_name(result), result.type, definition_span(result), result.name_hint)
            for result in operation.results
        ],
        [[(use.operation.name, use.index) for use in result.uses] for result in operation.results],
        [
            [(value_name(argument), argument.type) for argument in block.args]
            for region in operation.regions
            for block in region.blocks
        ],
        {name: comparable(one) for name, one in operation.attributes.items()},
        {name: comparable(one) for name, one in operation.properties.items()},
    )


def comparable(attribute: Attribute) -> object:
    """Return the attribute, or its text if each parse makes its own class for it."""
    return str(attribute) if isinstance(attribute, UnregisteredAttr) else attribute


def outcome(text: str) -> list[Any]:
    """Return all operations of the module in `text`, or all of its errors."""
    try:
        return [facts(operation) for operation in parse_module(text, "program").walk()]
    except SourceError as problem:
        return list(problem.diagnostics)


def careful_outcome(text: str) -> list[Any]:
    """Return the same as `outcome`, but check each operation separately."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verification, "verification_key", lambda *_: None)
        return outcome(text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(TESTS)))
def test_programs_are_judged_alike(path: Path) -> None:
    text = path.read_text(errors="replace")
    assert outcome(text) == careful_outcome(text)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_programs_are_judged_alike(seed: int) -> None:
    choose = random.Random(seed)
    for path in choose.sample(PROGRAMS, 20):
        text = path.read_text(errors="replace")
        for _ in range(3):
            broken = damaged(text, choose, OTHERS)
            assert outcome(broken) == careful_outcome(broken), broken


def short_form(text: str) -> str:
    """Return the program with its operations in the short form, if they have one."""
    return print_module(parse_module(text, "text"))


@pytest.mark.parametrize("form", [str, short_form], ids=["written", "short"])
def test_random_programs_are_judged_alike(form: Callable[[str], str]) -> None:
    programs = [form(random_program(seed)) for seed in range(40)]
    programs += [
        damaged(text, random.Random(seed), MARKS) for seed, text in enumerate(programs * 5)
    ]
    for text in programs:
        assert outcome(text) == careful_outcome(text), text


REPEATED = """
func.func @f(%%x: i64, %%v: !async.value<i64>) -> i64 {
  %%a = arith.constant 1 : i64
  %%b8 = arith.constant 1 : i8
  %%b1 = arith.constant true
  %%bi = arith.constant 1 : index
  %%bf = arith.constant 1 : f32
  %%b = arith.constant %(number)s : %(type)s
  %%c = arith.addi %%x, %%a : i64
  %%d = arith.addi %(left)s, %(right)s : i64
  return %%d : i64
}"""


@pytest.mark.parametrize(
    ("number", "type", "left", "right"),
    [
        ("2", "i64", "%c", "%c"),
        ("2", "i64", "%b", "%c"),
        ("2", "i32", "%b", "%c"),
        ("128", "i8", "%x", "%c"),
        ("-128", "i8", "%x", "%c"),
        ("-129", "i8", "%x", "%c"),
        ("300", "i8", "%x", "%c"),
        ("1", "i1", "%x", "%c"),
        ("-1", "i1", "%x", "%c"),
        ("9223372036854775808", "i64", "%x", "%c"),
        ("7", "index", "%x", "%c"),
        ("7", "si64", "%x", "%c"),
        ("7", "f32", "%x", "%c"),
        ("7", "i64", "%x#0", "%c"),
        ("7", "i64", "%x#1", "%c"),
        ("7", "i64", "%unknown", "%c"),
        ("7", "i64", "%d", "%c"),
        ("7", "i64", "%v", "%c"),
    ],
)
def test_a_second_line_of_a_kind(number: str, type: str, left: str, right: str) -> None:
    text = REPEATED % {"number": number, "type": type, "left": left, "right": right}
    assert outcome(text) == careful_outcome(text)


def test_a_call_is_judged_in_its_own_module() -> None:
    inner = (
        "module {\n  func.func @%s(%%x: i64) {\n    func.call @f(%%x) : (i64) -> ()\n    "
        "return\n  }\n%s}"
    )
    declared = "  func.func private @f(i64)\n"
    text = (
        "module {\n"
        + "\n".join(inner % (f"g{i}", declared if i < 9 else "") for i in range(10))
        + "\n}"
    )

    assert outcome(text) == careful_outcome(text)
    assert "there is no function '@f'" in str(outcome(text)[0])


COMPILED = """\
  %t_I, %f_I = async.execute [%t] (%v as %x: !async.value<i32>) -> !async.value<i32> { // a head
    %s = arith.addi %x, %one : i32
    async.yield %s : i32
  }
  %w_I = async.await %f_I : !async.value<i32>
  %c_I = func.call @f_I(%w_I) : (i32) -> i32
  %d_I = arith.muli %c_I, %c_I : i32
  %k_I = arith.constant _I : i32
  %q_I = arith.constant _I.5 : f32
  %r_I:2 = "other.op"(%one, %one) {text = "@y"} : (i32, i32) -> (i32, i32)
  %l_I = arith.addi %r_I#1, %k_I : i32 loc("model.py":_I:4)
"""
HOST = """\
  %r_I:2 = "tfrt.div.i32"(%one, %one) : (i32, i32) -> (i32, i32)
  %n_I = tfrt.repeat.i32 %one, %c : i32 {
    tfrt.return %c : i32
  }
  %m_I = "tfrt.repeat.i32"(%one, %c) ({
  ^bb0(%x_I: i32):
    tfrt.return %x_I : i32
  }) : (i32, i32) -> i32
  %p_I = tfrt.repeat.i32 %one, %c : i32 {
    tfrt.return %c : i32 }
  %f_I = tfrt.constant.f32 _I.25
  %c_I = tfrt.call @f_I(%n_I) : (i32) -> i32 loc("model.py":_I:4)
"""
CALLED = """\
func.func @f_I(%x: i32) -> i32 {
  %y_I = tfrt.add.i32 %x, %x
  tfrt.return %y_I : i32
}
"""


def forms(count: int) -> str:
    """Return a program with each of the operations `count` times."""
    compiled, host, called = (
        "".join(part.replace("_I", str(index)) for index in range(count))
        for part in (COMPILED, HOST, CALLED)
    )
    arguments = "(%one: i32, %c: i32, %v: !async.value<i32>, %t: !async.token)"
    return (
        f"func.func @tasks{arguments} -> i32 {{\n{compiled}  return %one : i32\n}}\n"
        f"func.func @host(%one: i32, %c: i32) -> i32 {{\n{host}  tfrt.return %one : i32\n}}\n"
        f"{called}"
    )


def test_operations_of_each_form_are_judged_alike() -> None:
    assert outcome(forms(20)) == careful_outcome(forms(20))


def test_time_grows_with_the_size_and_no_stack_does() -> None:
    count = 20_000
    lines = [f"  %v{index + 1} = tfrt.add.i32 %v{index}, %v{index}" for index in range(count)]
    text = "\n".join(
        ["func @f(%v0: i32) -> i32 {", *lines, f"  tfrt.return %v{count} : i32", "}", ""]
    )

    module = parse_module(text, "text")

    assert sum(1 for _ in module.walk()) == count + 3
