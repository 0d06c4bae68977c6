"""Test the arithmetic of compiled code against Python's, operation by operation."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from collections.abc import Callable

import pytest

from tfrt_nb.jit.compiler import load, object_code
from tfrt_nb.jit.coroutines import lower_to_llvm, packed_name
from tfrt_nb.source import parse_module
from tfrt_runtime import scalars

NUMBERS = (-7, -2, -1, 1, 2, 7, 100, -(2**63), 2**63 - 1)
PAIRS = [(a, b) for a in NUMBERS for b in NUMBERS]
FLOATS = (-2.5, -0.5, 0.75, 3.0)
FLOAT_PAIRS = [(a, b) for a in FLOATS for b in FLOATS]

IN_TABLE = (
    "addi",
    "subi",
    "muli",
    "andi",
    "ori",
    "xori",
    "divsi",
    "remsi",
    "floordivsi",
    "maxsi",
    "minsi",
)
"""Operations that compute the same as operations in the table of scalar operations."""

C_TYPES = {
    "i1": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "index": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


def wrapped(number: int, bits: int = 64) -> int:
    """Return the number in two's complement."""
    return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def unsigned(number: int) -> int:
    return number % 2**64


def compiled(body: str, inputs: tuple[str, ...], output: str) -> Callable[..., object]:
    """Return a function of one line of arithmetic: `%r` from `%a`, `%b`, `%c`."""
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in zip("abc", inputs, strict=False))
    text = f"func.func @f({parameters}) -> {output} {{\n  {body}\n  return %r : {output}\n}}"
    code = load(object_code(lower_to_llvm(parse_module(text, "program"))), {})
    packed = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(code.address(packed_name("f")))

    def call(*arguments: object) -> object:
        cells = [C_TYPES[type_](value) for type_, value in zip(inputs, arguments, strict=True)]
        result = C_TYPES[output]()
        pointers = (ctypes.c_void_p * (len(cells) + 1))(
            *(ctypes.addressof(cell) for cell in (*cells, result))
        )
        assert packed(ctypes.addressof(pointers)) is False
        return result.value

    call.code = code  # type: ignore[attr-defined]  # keeps the machine code alive
    return call


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        *((name, functools.partial(scalars.folded, name)) for name in IN_TABLE),
        ("divui", lambda a, b: unsigned(a) // unsigned(b)),
        ("remui", lambda a, b: unsigned(a) % unsigned(b)),
        ("ceildivsi", lambda a, b: -(-a // b)),
        ("ceildivui", lambda a, b: -(-unsigned(a) // unsigned(b))),
        ("maxui", lambda a, b: max(a, b, key=unsigned)),
        ("minui", lambda a, b: min(a, b, key=unsigned)),
    ],
)
def test_integer_arithmetic_wraps_around(
    operation: str, expected: Callable[[int, int], int]
) -> None:
    function = compiled(f"%r = arith.{operation} %a, %b : i64", ("i64", "i64"), "i64")

    assert [function(a, b) for a, b in PAIRS] == [wrapped(expected(a, b)) for a, b in PAIRS]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("shli", lambda a, b: a << b),
        ("shrsi", lambda a, b: a >> b),
        ("shrui", lambda a, b: unsigned(a) >> b),
    ],
)
def test_shifts_give_what_python_gives(operation: str, expected: Callable[[int, int], int]) -> None:
    function = compiled(f"%r = arith.{operation} %a, %b : i64", ("i64", "i64"), "i64")
    cases = [(a, b) for a in NUMBERS for b in (0, 1, 13, 63)]

    assert [function(a, b) for a, b in cases] == [wrapped(expected(a, b)) for a, b in cases]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("eq", lambda a, b: a == b),
        ("ne", lambda a, b: a != b),
        ("slt", lambda a, b: a < b),
        ("sge", lambda a, b: a >= b),
        ("ult", lambda a, b: unsigned(a) < unsigned(b)),
        ("uge", lambda a, b: unsigned(a) >= unsigned(b)),
    ],
)
def test_each_predicate_compares_integers_as_it_says(
    predicate: str, expected: Callable[[int, int], bool]
) -> None:
    function = compiled(f"%r = arith.cmpi {predicate}, %a, %b : i64", ("i64", "i64"), "i1")

    assert [function(a, b) for a, b in PAIRS] == [expected(a, b) for a, b in PAIRS]


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("oeq", lambda a, b: a == b),
        ("ogt", lambda a, b: a > b),
        ("ole", lambda a, b: a <= b),
        ("une", lambda a, b: a != b),
        ("ult", lambda a, b: not a >= b),
        ("uno", lambda a, b: math.isnan(a) or math.isnan(b)),
    ],
)
def test_each_predicate_compares_floats_and_nans_as_it_says(
    predicate: str, expected: Callable[[float, float], bool]
) -> None:
    function = compiled(f"%r = arith.cmpf {predicate}, %a, %b : f64", ("f64", "f64"), "i1")
    cases = [*FLOAT_PAIRS, (math.nan, 1.0), (1.0, math.nan)]

    assert [function(a, b) for a, b in cases] == [expected(a, b) for a, b in cases]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("arith.addf %a, %b : f64", lambda a, b: a + b),
        ("arith.divf %a, %b : f64", lambda a, b: a / b),
        ("arith.maximumf %a, %b : f64", max),
        ("arith.minnumf %a, %b : f64", min),
        ("math.copysign %a, %b : f64", math.copysign),
        ("math.atan2 %a, %b : f64", math.atan2),
    ],
)
def test_floats_are_computed_as_python_does(
    line: str, expected: Callable[[float, float], float]
) -> None:
    function = compiled(f"%r = {line}", ("f64", "f64"), "f64")

    assert [function(a, b) for a, b in FLOAT_PAIRS] == [expected(a, b) for a, b in FLOAT_PAIRS]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("sqrt", math.sqrt),
        ("exp", math.exp),
        ("exp2", lambda x: 2.0**x),
        ("log", math.log),
        ("log2", math.log2),
        ("log10", math.log10),
        ("sin", math.sin),
        ("tan", math.tan),
        ("tanh", math.tanh),
        ("floor", math.floor),
        ("ceil", math.ceil),
        ("trunc", math.trunc),
        ("roundeven", round),
        ("absf", abs),
        ("rsqrt", lambda x: 1 / math.sqrt(x)),
        ("cbrt", math.cbrt),
        ("log1p", math.log1p),
        ("erf", math.erf),
    ],
)
def test_functions_of_math_are_those_of_python(
    operation: str, expected: Callable[[float], float]
) -> None:
    function = compiled(f"%r = math.{operation} %a : f64", ("f64",), "f64")

    assert [function(x) for x in (0.5, 1.25, 2.5)] == pytest.approx(
        [expected(x) for x in (0.5, 1.25, 2.5)], rel=1e-15
    )


@pytest.mark.parametrize(
    ("line", "source", "target", "argument", "expected"),
    [
        ("arith.extsi %a : i8 to i64", "i8", "i64", -3, -3),
        ("arith.extui %a : i8 to i64", "i8", "i64", -3, 253),
        ("arith.trunci %a : i64 to i8", "i64", "i8", 300, 44),
        ("arith.index_cast %a : i32 to index", "i32", "index", -5, -5),
        ("arith.index_cast %a : index to i64", "index", "i64", -5, -5),
        ("arith.index_cast %a : index to i32", "index", "i32", 2**32 + 9, 9),
        ("arith.sitofp %a : i64 to f64", "i64", "f64", -9, -9.0),
        ("arith.uitofp %a : i8 to f32", "i8", "f32", -1, 255.0),
        ("arith.fptosi %a : f64 to i32", "f64", "i32", -2.9, -2),
        ("arith.fptosi %a : f64 to i32", "f64", "i32", 3e10, 2**31 - 1),
        ("arith.fptosi %a : f64 to i32", "f64", "i32", math.nan, 0),
        ("arith.fptosi %a : f32 to i8", "f32", "i8", -40000.0, -128),
        ("arith.fptoui %a : f64 to i32", "f64", "i32", -1.5, 0),
        ("arith.fptoui %a : f64 to i64", "f64", "i64", 2.0**63, -(2**63)),
        ("arith.extf %a : f32 to f64", "f32", "f64", 0.5, 0.5),
        (
            "arith.truncf %a : f64 to f32",
            "f64",
            "f32",
            0.1,
            struct.unpack("f", struct.pack("f", 0.1))[0],
        ),
        ("arith.bitcast %a : f32 to i32", "f32", "i32", 1.0, 0x3F800000),
        ("arith.negf %a : f64", "f64", "f64", 1.5, -1.5),
        ("math.absi %a : i64", "i64", "i64", -8, 8),
        ("math.ctlz %a : i32", "i32", "i32", 1, 31),
        ("math.cttz %a : i32", "i32", "i32", 8, 3),
        ("math.ctpop %a : i32", "i32", "i32", 255, 8),
    ],
)
def test_operations_of_one_operand_give_what_they_say(
    line: str, source: str, target: str, argument: object, expected: object
) -> None:
    assert compiled(f"%r = {line}", (source,), target)(argument) == expected


@pytest.mark.parametrize(
    ("constant", "type_", "expected"),
    [
        ("-17", "i8", -17),
        ("true", "i1", True),
        ("0.1", "f64", 0.1),
        ("0x7FF0000000000000", "f64", math.inf),
        ("1.5", "f32", 1.5),
    ],
)
def test_constants_are_exact(constant: str, type_: str, expected: object) -> None:
    text = f"%r = arith.constant {constant}" + ("" if type_ == "i1" else f" : {type_}")

    assert compiled(text, (), type_)() == expected


def test_a_float_to_an_integer_power() -> None:
    assert compiled("%r = math.fpowi %a, %b : f64, i32", ("f64", "i32"), "f64")(3.0, -2) == 1 / 9


def test_select_takes_the_first_if_true() -> None:
    choose = compiled("%r = arith.select %a, %b, %c : i64", ("i1", "i64", "i64"), "i64")

    assert [choose(True, 1, 2), choose(False, 1, 2)] == [1, 2]
