"""Lines made like earlier ones are what the parsers of their operations would have made."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.tfrt_nb.source.damage import damaged
from xdsl.ir import Operation

from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import SourceError, parse_module
from tfrt_nb.source.parser import SourceParser
from tfrt_nb.source.patterns import Patterns
from tfrt_nb.source.spans import source_span
from tfrt_nb.source.verification import verify

TESTS = Path(__file__).parents[2]
PROGRAMS = sorted(
    path
    for path in TESTS.rglob("*.mlir")
    if re.search(r"\b(arith|async|scf|memref)\.", path.read_text(errors="replace"))
)


def outcome(text: str) -> str:
    """The program with the places of its operations, or what is wrong with it."""
    try:
        module = parse_module(text, "program")
    except SourceError as problem:
        return "\n".join(map(str, problem.diagnostics))
    spans = [source_span(op) for op in module.walk()]
    places = [
        None if span is None else (span.first, span.start, span.end, str(span.explicit))
        for span in spans
    ]
    kinds = [type(op) for op in module.walk()]
    return f"{print_ir(module)}\n{places}\n{kinds}"


def careful_outcome(text: str) -> str:
    """The same, when each line is parsed and each operation checked by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Patterns, "match", lambda *_: None)
        patch.setattr(verify, "verification_key", lambda *_: None)
        return outcome(text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(TESTS)))
def test_programs_are_read_alike(path: Path) -> None:
    text = path.read_text(errors="replace")
    assert outcome(text) == careful_outcome(text)


OTHERS = ["i32", "i64", "index", "%x", "-1", "9999999999", "#1", "async.yield", "f32"]


@pytest.mark.parametrize("seed", range(8))
def test_damaged_programs_are_read_alike(seed: int) -> None:
    choose = random.Random(seed)
    for path in choose.sample(PROGRAMS, 20):
        text = path.read_text(errors="replace")
        for _ in range(3):
            broken = damaged(text, choose, OTHERS)
            assert outcome(broken) == careful_outcome(broken), broken


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


def test_a_line_that_goes_on() -> None:
    text = """
func.func @f(%x: i64) -> i64 {
  %a = arith.addi %x, %x : i64
  %b = arith.addi %a, %a : i64
  %c = arith.addi %b, %a : i64
    loc("elsewhere":3:4)
  %d = arith.addi %c,
    %a : i64
  %e = arith.addi %d, %a : i64 // a remark
  return %e : i64
}"""
    assert outcome(text) == careful_outcome(text)
    assert "elsewhere" in outcome(text)


def test_regions_of_one_line() -> None:
    text = """
func.func @f(%x: i32, %y: i32, %c: i1) -> i32 {
  %a = tfrt.if %c, %x : (i32) -> (i32) { tfrt.return %x : i32 } else { tfrt.return %x : i32 }
  %b = tfrt.if %c, %y : (i32) -> (i32) { tfrt.return %y : i32 loc("b":2:3) } else { tfrt.return %y : i32}
  %d = tfrt.if %c, %y : (i32) -> (i32) { %z = tfrt.add.i32 %y, %y  tfrt.return %z : i32 } else {tfrt.return %y : i32 }
  %e = tfrt.if %c, %y : (i32) -> (i32) { "tfrt.return"(%y) {text = "}"} : (i32) -> () } else { tfrt.return %y : i32 }
  tfrt.return %b : i32 }"""
    assert outcome(text) == careful_outcome(text)
    assert outcome(text).startswith("module {"), outcome(text)


def test_a_name_that_stands_in_a_line_twice() -> None:
    text = """
func.func @f(%x: i64, %y: i64, %m: memref<4x4xi64>, %i: index, %j: index) -> i64 {
  %a = arith.subi %x, %x : i64
  %b = arith.subi %y, %y : i64
  %c = arith.subi %x#0, %x : i64
  %d = arith.subi %x#0, %y : i64
  %e = arith.subi %y, %x : i64
  %f = arith.subi %e, %e : i64
  memref.store %a, %m[%i, %i] : memref<4x4xi64>
  memref.store %b, %m[%j, %j] : memref<4x4xi64>
  memref.store %b, %m[%i, %j] : memref<4x4xi64>
  memref.store %b, %m[%j, %i] : memref<4x4xi64>
  return %f : i64
}"""
    assert outcome(text) == careful_outcome(text)
    assert "arith.subi %arg1, %arg0" in outcome(text)


def test_a_call_is_judged_in_its_own_module() -> None:
    inner = "module {\n  func.func @%s(%%x: i64) {\n    func.call @f(%%x) : (i64) -> ()\n    return\n  }\n%s}"
    declared = "  func.func private @f(i64)\n"
    text = (
        "module {\n"
        + "\n".join(inner % (f"g{i}", declared if i < 9 else "") for i in range(10))
        + "\n}"
    )

    assert outcome(text) == careful_outcome(text)
    assert "'f' does not reference a valid function" in outcome(text)


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
    """A program with each of the operations that often."""
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


def test_each_form_of_a_line_is_parsed_a_few_times_however_often_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    parse = SourceParser.parse_operation

    def counted(self: SourceParser) -> Operation:
        operation = parse(self)
        parsed.append(operation.name)
        return operation

    monkeypatch.setattr(SourceParser, "parse_operation", counted)
    assert outcome(forms(20)) == careful_outcome(forms(20))
    parsed.clear()
    parse_module(forms(100), "program")
    few = Counter(parsed)
    parsed.clear()
    parse_module(forms(200), "program")
    few.subtract(Counter(parsed))
    assert {name for name, count in few.items() if count} == {"func.func", "tfrt.repeat.i32"}
