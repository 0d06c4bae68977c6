"""Test that operations of `arith` and `math` compute the same interpreted and compiled."""

from __future__ import annotations

import itertools
import math

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext

INTEGERS = ("i1", "i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGER_OPERATIONS = [
    "addi",
    "subi",
    "muli",
    "andi",
    "ori",
    "xori",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "floordivsi",
    "ceildivsi",
    "ceildivui",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "shli",
    "shrsi",
    "shrui",
]
FLOAT_OPERATIONS = [
    "addf",
    "subf",
    "mulf",
    "divf",
    "remf",
    "maximumf",
    "minimumf",
    "maxnumf",
    "minnumf",
]
OF_ONE_INTEGER = ["absi", "ctlz", "cttz", "ctpop"]
OF_ONE_FLOAT = [
    "absf",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "round",
    "roundeven",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
OF_TWO_FLOATS = ["atan2", "copysign", "powf"]
PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
FLOAT_PREDICATES = [
    "false",
    "oeq",
    "ogt",
    "oge",
    "olt",
    "ole",
    "one",
    "ord",
    "ueq",
    "ugt",
    "uge",
    "ult",
    "ule",
    "une",
    "uno",
    "true",
]
NUMBERS = (0.0, -0.0, 1.0, -1.5, 0.1, 2.5, 1e-7, 300.0, -70000.0, math.inf, -math.inf, math.nan)


def integers(type_: str) -> list[int]:
    """Return small and extreme numbers."""
    if type_ == "i1":
        return [0, 1]
    half = 1 << (int(type_[1:]) - 1)
    return [0, 1, -1, 2, 5, -7, half - 1, -half, half // 3]


class Functions:
    """Functions of one operation each, with arguments and results of type i64 or f64."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[tuple[str, list[tuple[object, ...]]]] = []

    def add(self, operation: str, inputs: list[str], output: str, values: list[object]) -> None:
        """Add a function of `%a` and `%b`, which is called with each combination of the values."""
        name = f"f{len(self.texts)}"
        lines: list[str] = []
        parameters = []
        for letter, type_ in zip("ab", inputs, strict=False):
            given = "i64" if type_ in INTEGERS else "f64"
            is_given = type_ == given
            parameters.append(f"%{letter}{'' if is_given else 0}: {given}")
            if not is_given:
                change = "trunci" if given == "i64" else "truncf"
                lines.append(f"%{letter} = arith.{change} %{letter}0 : {given} to {type_}")
        returned = "i64" if output in (*INTEGERS, "index") else "f64"
        last = "%r"
        lines.append(f"%r = {operation}")
        if output != returned:
            change = "extsi" if returned == "i64" else "extf"
            lines.append(f"%s = arith.{change} %r : {output} to {returned}")
            last = "%s"
        body = "\n  ".join(lines)
        self.texts.append(
            f"func.func @{name}({', '.join(parameters)}) -> {returned} {{\n  {body}\n"
            f"  return {last} : {returned}\n}}"
        )
        self.calls.append((name, [*itertools.product(values, repeat=len(inputs))]))


def on_integers() -> Functions:
    made = Functions()
    for type_ in INTEGERS:
        values: list[object] = [*integers(type_)]
        for name in INTEGER_OPERATIONS:
            made.add(f"arith.{name} %a, %b : {type_}", [type_] * 2, type_, values)
        for name in PREDICATES:
            made.add(f"arith.cmpi {name}, %a, %b : {type_}", [type_] * 2, "i1", values)
        for name in OF_ONE_INTEGER:
            made.add(f"math.{name} %a : {type_}", [type_], type_, values)
        if type_ != "i1":
            made.add(f"math.ipowi %a, %b : {type_}", [type_] * 2, type_, values)
        for other in FLOATS:
            for name in ("sitofp", "uitofp"):
                made.add(f"arith.{name} %a : {type_} to {other}", [type_], other, values)
    return made


def on_floats() -> Functions:
    made = Functions()
    values: list[object] = [*NUMBERS]
    for type_ in FLOATS:
        for name in FLOAT_OPERATIONS:
            made.add(f"arith.{name} %a, %b : {type_}", [type_] * 2, type_, values)
        for name in FLOAT_PREDICATES:
            made.add(f"arith.cmpf {name}, %a, %b : {type_}", [type_] * 2, "i1", values)
        for name in OF_ONE_FLOAT:
            made.add(f"math.{name} %a : {type_}", [type_], type_, values)
        for name in OF_TWO_FLOATS:
            made.add(f"math.{name} %a, %b : {type_}", [type_] * 2, type_, values)
        for other in ("i32", "i64"):
            fitting: list[object] = [0.0, -0.0, 1.0, 2.5, 300.0, -1.5, -300.25]
            made.add(f"arith.fptosi %a : {type_} to {other}", [type_], other, fitting)
            made.add(f"arith.fptoui %a : {type_} to {other}", [type_], other, fitting[:5])
    bits = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}
    for type_, other in bits.items():
        made.add(f"arith.bitcast %a : {type_} to {other}", [type_], other, values[:-1])
        integer: list[object] = [0, 1, -1, 0x3C00, 0x4049]
        made.add(f"arith.bitcast %a : {other} to {type_}", [other], type_, integer)
    return made


@pytest.mark.parametrize("make", [on_integers, on_floats])
def test_an_operation_computes_the_same_interpreted_and_compiled(make: object) -> None:
    assert callable(make)
    made = make()
    program = Program.from_source("\n".join(made.texts), "numbers.mlir")
    differing = []
    with HostContext("s") as host:
        for (name, calls), text in zip(made.calls, made.texts, strict=True):
            for values in calls:
                found = []
                for tier in (Tier.INTERPRETER, Tier.COMPILED):
                    run = program.run(host, name, values, tier=tier, output=lambda _: None)
                    run.wait()
                    assert run.tier is tier
                    [result] = run.results
                    error = result.exception(0)
                    found.append(repr(result.result(0)) if error is None else str(error))
                if "numf" in text:  # it is undefined which of two zeros these return
                    found = [one.replace("-0.0", "0.0") for one in found]
                if found[0] != found[1]:
                    differing.append((text, values, found))
    assert differing == []


@pytest.mark.parametrize("number", [(1 << 70) + (1 << 46) + 1, -((1 << 70) + (1 << 46) + 1)])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_an_integer_of_more_than_64_bits_is_rounded_only_once(number: int, type_: str) -> None:
    """As a double, the number is halfway between two floats: rounding it again would be wrong."""
    text = f"""func.func @main() -> {type_} {{
      %n = arith.constant {number} : i128
      %x = arith.sitofp %n : i128 to {type_}
      return %x : {type_}
    }}"""
    with HostContext("s") as host:
        interpreted, compiled = (
            Program.from_source(text).run(host, "main", tier=tier).result()
            for tier in (Tier.INTERPRETER, Tier.COMPILED)
        )
    assert interpreted == compiled


@pytest.mark.parametrize("operation", ["sitofp", "uitofp"])
@pytest.mark.parametrize(
    ("width", "exponent"), [(32, 24), (64, 53), (64, 61), (128, 70), (200, 99)]
)
def test_an_integer_becomes_the_nearest_bf16(operation: str, width: int, exponent: int) -> None:
    """Through a narrower float, which is halfway between two such numbers, it is rounded twice."""
    number = (1 << exponent) + (1 << exponent - 8) + 1
    text = f"""func.func @main() -> i16 {{
      %n = arith.constant {number} : i{width}
      %x = arith.{operation} %n : i{width} to bf16
      %bits = arith.bitcast %x : bf16 to i16
      return %bits : i16
    }}"""
    nearest = (exponent + 127 << 7) + 1
    with HostContext("s") as host:
        for tier in (Tier.INTERPRETER, Tier.COMPILED):
            assert Program.from_source(text).run(host, "main", tier=tier).result() == nearest


NARROWED = """func.func @main(%x: {wide}) -> i16 {{
  %narrow = arith.truncf %x : {wide} to bf16
  %sum = arith.addf %narrow, %narrow : bf16
  %bits = arith.bitcast %sum : bf16 to i16
  return %bits : i16
}}"""


@pytest.mark.parametrize("wide", ["f32", "f64"])
def test_a_subnormal_bf16_is_not_0(wide: str) -> None:
    program = Program.from_source(NARROWED.format(wide=wide))
    with HostContext("s") as host:
        for tier in (Tier.INTERPRETER, Tier.COMPILED):
            assert program.run(host, "main", (3 * 2.0**-133,), tier=tier).result() == 6


@pytest.mark.parametrize("exponent", [2**24 + 1, -(2**24) - 1, 2**31 - 1, 2**53 + 1, 2**63 - 1])
@pytest.mark.parametrize("base", ["bf16", "f16", "f32", "f64"])
def test_a_large_odd_exponent_keeps_the_sign_of_the_base(base: str, exponent: int) -> None:
    text = f"""func.func @main(%n: i64) -> i1 {{
      %base = arith.constant -1.0 : {base}
      %power = math.fpowi %base, %n : {base}, i64
      %same = arith.cmpf oeq, %power, %base : {base}
      return %same : i1
    }}"""
    program = Program.from_source(text)
    with HostContext("s") as host:
        for tier in (Tier.INTERPRETER, Tier.COMPILED):
            assert program.run(host, "main", (exponent,), tier=tier).result() is True


def test_a_large_exponent_of_a_single_is_not_rounded() -> None:
    """The exponent is halfway between two floats; rounded to a float, it would be smaller by 1."""
    text = """func.func @main(%x: f32, %n: i32) -> f32 {
      %power = math.fpowi %x, %n : f32, i32
      return %power : f32
    }"""
    program = Program.from_source(text)
    base, exponent = 1 + 2.0**-20, 2**24 + 1
    with HostContext("s") as host:
        for tier in (Tier.INTERPRETER, Tier.COMPILED):
            found = program.run(host, "main", (base, exponent), tier=tier).result()
            assert found == pytest.approx(base**exponent, rel=2.0**-24)


BRANCHES = """func.func private @f(%a: i1, %b: i1, %i: i32) -> i1 {{
  cf.cond_br %a, ^then, ^else
^then:
  %t = {}
  cf.cond_br %t, ^x(%i : i32), ^else
^x(%q: i32):
  %one = arith.cmpi eq, %q, %i : i32
  return %one : i1
^else:
  return %b : i1
}}
func.func @main(%a: i1, %b: i1) -> i1 {{
  %i = arith.constant 1 : i32
  %r = func.call @f(%a, %b, %i) : (i1, i1, i32) -> i1
  return %r : i1
}}"""


@pytest.mark.parametrize("condition", ["arith.bitcast %b : i1 to i1", "arith.constant true"])
def test_two_branches_to_one_block_keep_other_values(condition: str) -> None:
    program = Program.from_source(BRANCHES.format(condition))
    with HostContext("s") as host:
        for given in ((False, True), (False, False), (True, True), (True, False)):
            interpreted, compiled = (
                program.run(host, "main", given, tier=tier).result()
                for tier in (Tier.INTERPRETER, Tier.COMPILED)
            )
            assert interpreted == compiled, given


@pytest.mark.parametrize("operation", ["fptosi", "fptoui"])
def test_a_float_becomes_an_integer_that_is_wider_than_any_float(operation: str) -> None:
    text = f"""func.func @main() -> i64 {{
      %x = arith.constant 5.5 : f64
      %wide = arith.{operation} %x : f64 to i2000
      %n = arith.trunci %wide : i2000 to i64
      return %n : i64
    }}"""
    with HostContext("s") as host:
        for tier in (Tier.INTERPRETER, Tier.COMPILED):
            assert Program.from_source(text).run(host, "main", tier=tier).result() == 5
