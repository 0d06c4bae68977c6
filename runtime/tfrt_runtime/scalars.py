"""The table of scalar operations: names, types, computations, errors, and documentation.

`FAMILIES` is the table.  The native kernels, their registry rows, the operations' syntax and short
forms, the operators of traced functions, completion, and documentation are generated from it.  To
add an operation, add a row.

A row's computation is a plain function of the operands, which are signed integers (an `i1` is 0 or
1) or doubles.  The native core compiles the function, and the simulator calls it, so the function
is written in the subset of Python that Numba compiles, and its integers have 64 bits.  The result
is then reduced to its type: integers wrap in two's complement, and an f32 is rounded.  Therefore,
sums need no special care.  However, a function must not divide the smallest integer by -1, because
the processor would trap, which would end the process.

Rules for all types: a division by zero is an error, for floats as well; a shift by less than 0, or
by the number of bits or more, is an error; a comparison with NaN is false, except that "not equal"
is true.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
INTEGERS = tuple(BITS)
FLOATS = ("f32", "f64")
NUMBERS = (*INTEGERS, *FLOATS)
TYPES = ("i1", *NUMBERS)

Compute = Callable[..., Any]


def wrapped(number: int, bits: int = 64) -> int:
    """Return the lowest `bits` bits of a number, read as two's complement."""
    sign = 1 << (bits - 1)
    return ((number & (2 * sign - 1)) ^ sign) - sign


@dataclass(frozen=True, slots=True)
class Failure:
    """An error that occurs only for some operands.

    In `text`, `{}` is replaced by the operand with index `shown`, read as type `word`.
    """

    text: str
    when: Compute
    """A function of the operands that returns whether the operation fails."""
    shown: int = 0
    word: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One kernel: `tfrt.FAMILY.SUFFIX` or, in sync functions, `tfrt.FAMILY_s.SUFFIX`."""

    family: Family
    suffix: str
    """A type, or two types for a cast: `i32_to_f64`."""
    operands: tuple[str, ...]
    results: tuple[str, ...]
    compute: Compute
    failure: Failure | None = None

    @property
    def name(self) -> str:
        """The kernel's name."""
        return f"tfrt.{self.family.name}.{self.suffix}"

    @property
    def sync_name(self) -> str:
        """The kernel's name in sync functions."""
        return f"tfrt.{self.family.name}_s.{self.suffix}"

    @property
    def symbol(self) -> str:
        """The name of the native function in `native.kernels.scalar_kernels`."""
        return f"{self.family.name}_{self.suffix}"


@dataclass(frozen=True, slots=True)
class Family:
    """An operation and the types for which it exists; one row of this module's table."""

    name: str
    types: tuple[str, ...]
    compute: Compute
    text: str
    """One line of documentation."""
    results: tuple[str, ...] = ("{}",)
    """Types of the results.  `{}` is the operands' type."""
    operands: int = 2
    failure: Callable[[str], Failure] | None = None
    """A function that returns the failure for a type."""
    python: str = ""
    """The Python operator or function that makes this operation when applied to traced values."""
    numpy: tuple[str, ...] = ()
    """The numpy functions that correspond to this operation."""
    aliases: tuple[str, ...] = ()
    """Names of the operation in other languages and dialects; messages translate them."""
    arith: Mapping[str, str] = field(default_factory=dict)
    """The operations of MLIR's `arith` dialect that compute this operation or one of its results.

    Each operation is mapped to the LLVM instruction that computes it, or to "" if no single
    instruction does.
    """
    generic: tuple[str, ...] = ()
    """Suffixes of kernels for which TFRT has no operation.

    Programs write the kernel's name in quotes, and types are not checked.
    """
    generic_sync: tuple[str, ...] = ()
    """The same suffixes in sync functions."""

    def members(self) -> Iterator[Operation]:
        """Yield the kernels of the row."""
        for word in self.types:
            results = tuple(result.format(word) for result in self.results)
            failure = None if self.failure is None else self.failure(word)
            yield Operation(self, word, (word,) * self.operands, results, self.compute, failure)


def _truncated(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the quotient rounded toward zero, and the remainder."""
    if b == -1:
        return -a, a - a
    quotient = a // b
    if quotient < 0 and quotient * b != a:
        quotient += 1
    return quotient, a - quotient * b


def _floored(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the quotient rounded down, and the remainder."""
    if b == -1:
        return -a, a - a
    quotient = a // b
    return quotient, a - quotient * b


def _division(_: str) -> Failure:
    return Failure("Divide by zero", lambda a, b: b == 0)


def _shift(word: str) -> Failure:
    bits = BITS[word]
    return Failure(
        f"cannot shift a {bits}-bit integer by {{}}", lambda a, b: not 0 <= b < bits, 1, word
    )


ARITHMETIC = (
    Family(
        "add", NUMBERS, lambda a, b: a + b, "The sum.  Integers wrap.",
        python="+", numpy=("add",), aliases=("plus", "sum"), arith={"addi": "add", "addf": "fadd"}, generic_sync=("i32", "i64"),
    ),
    Family(
        "minus", NUMBERS, lambda a, b: a - b, "The first number less the second.  Integers wrap.",
        python="-", numpy=("subtract",), aliases=("sub", "subtract", "neg", "negate"), arith={"subi": "sub", "subf": "fsub"},
        generic=("i32", "i64"),
    ),
    Family(
        "mul", INTEGERS, lambda a, b: a * b, "The product.  Integers wrap.",
        python="*", numpy=("multiply",), aliases=("times", "mult", "multiply"),
        arith={"muli": "mul"},
    ),
    Family(
        "multiply", FLOATS, lambda a, b: a * b, "The product.",
        python="*", numpy=("multiply",), aliases=("mul",), arith={"mulf": "fmul"},
        generic=FLOATS,
    ),
    Family(
        "div", INTEGERS, _truncated,
        "The quotient, truncated toward zero, and the remainder, which has the sign of the first number."
        "  A division by zero is an error.",
        results=("{}", "{}"), aliases=("divide", "rem", "remainder"), arith={"divsi": "", "remsi": ""}, failure=_division,
    ),
    Family(
        "div", FLOATS, lambda a, b: a / b, "The quotient.  A division by zero is an error.",
        python="/", numpy=("true_divide", "divide"), aliases=("divide",), arith={"divf": "fdiv"},
        generic=FLOATS, failure=_division,
    ),
    Family(
        "floordiv", INTEGERS, _floored,
        "The quotient, rounded down, and the remainder, as Python's divmod gives them."
        "  A division by zero is an error.",
        results=("{}", "{}"), python="divmod", aliases=("mod", "modulo", "divmod"),
        arith={"floordivsi": ""}, failure=_division,
    ),
    Family(
        "floordiv", FLOATS, lambda a, b: divmod(a, b),
        "The quotient, rounded down, and the remainder, as Python's divmod gives them."
        "  A division by zero is an error.",
        results=("{}", "{}"), python="divmod", aliases=("mod", "modulo", "divmod"), failure=_division,
    ),
    Family(
        "minimum", NUMBERS, lambda a, b: b if b < a else a,  # noqa: FURB136 - Numba has another min
        "The smaller number, or the first number if either is NaN.",
        python="min", aliases=("min", "minimumf"), arith={"minsi": ""}, generic=FLOATS,
    ),
    Family(
        "maximum", NUMBERS, lambda a, b: b if a < b else a,  # noqa: FURB136 - as above
        "The larger number, or the first number if either is NaN.",
        python="max", aliases=("max", "maximumf"), arith={"maxsi": ""},
    ),
    Family(
        "abs", NUMBERS, lambda a: abs(a), "The number without its sign.  The least whole number stays.",
        operands=1, python="abs",
    ),
    Family(
        "equal", TYPES, lambda a, b: a == b, "Whether both are equal.",
        results=("i1",), python="==", numpy=("equal",), aliases=("eq",),
    ),
    Family(
        "notequal", TYPES, lambda a, b: a != b, "Whether both differ.",
        results=("i1",), python="!=", numpy=("not_equal",), aliases=("ne", "neq"),
    ),
    Family(
        "less", NUMBERS, lambda a, b: a < b, "Whether the first is less than the second.",
        results=("i1",), python="<", numpy=("less",), aliases=("lt", "cmpi", "cmpf"),
    ),
    Family(
        "lessequal", NUMBERS, lambda a, b: a <= b,
        "Whether the first is less than or equal to the second.",
        results=("i1",), python="<=", numpy=("less_equal",), aliases=("le", "lte"), generic=("i32", "i64"),
    ),
    Family(
        "greater", NUMBERS, lambda a, b: a > b, "Whether the first is greater than the second.",
        results=("i1",), python=">", numpy=("greater",), aliases=("gt",),
    ),
    Family(
        "greaterequal", NUMBERS, lambda a, b: a >= b,
        "Whether the first is greater than the second, or equal to it.",
        results=("i1",), python=">=", numpy=("greater_equal",), aliases=("ge", "gte"),
    ),
    Family(
        "and", ("i1", *INTEGERS), lambda a, b: a & b, "The bits that are 1 in both numbers.",
        python="&", numpy=("bitwise_and",), arith={"andi": "and"},
    ),
    Family(
        "or", ("i1", *INTEGERS), lambda a, b: a | b, "The bits that are 1 in at least one of the numbers.",
        python="|", numpy=("bitwise_or",), arith={"ori": "or"},
    ),
    Family(
        "xor", ("i1", *INTEGERS), lambda a, b: a ^ b, "The bits that exactly one of them has.",
        python="^", numpy=("bitwise_xor",), aliases=("not", "invert"), arith={"xori": "xor"},
    ),
    Family(
        "shiftleft", INTEGERS, lambda a, b: a << b,
        "The first number's bits, shifted left by the second.  A shift by all bits or more is an error.",
        python="<<", numpy=("left_shift",), aliases=("shl", "lshift"), arith={"shli": "shl"},
        failure=_shift,
    ),
    Family(
        "shiftright", INTEGERS, lambda a, b: a >> b,
        "The first number's bits, shifted right by the second; the sign stays."
        "  A shift by all bits or more is an error.",
        python=">>", numpy=("right_shift",), aliases=("shr", "rshift"), arith={"shrsi": "ashr"},
        failure=_shift,
    ),
)  # fmt: skip


def _rounded_once(a: int) -> float:
    """Return a double that rounds to the same f32 as the integer `a` itself.

    The bits that do not fit in a double are combined into one bit (round to odd).
    """
    if -(2**53) < a < 2**53:
        return float(a)
    # An i64 has up to 63 bits, and a double has 53, so 10 bits do not fit.
    return float(((a >> 10) | int((a & 1023) != 0)) << 10)


def _saturated(a: float) -> int:
    """Truncate `a` toward zero; a number that does not fit becomes the smallest i64.

    TFRT does the same on x86.
    """
    return int(a) if -(2.0**63) <= a < 2.0**63 else -(2**63)


def _unfit(source: str, target: str) -> Failure | None:
    """Return a cast's failure for numbers that do not fit in the type, or None if all numbers fit."""
    if target not in INTEGERS or source in ("i1", target):
        return None
    high = 1 << (BITS[target] - 1)
    text = f"{{}} does not fit in {target}"
    if source in FLOATS:
        # The fraction is cut off, so a number between -high - 1 and -high still fits.
        return (
            None
            if target == "i64"
            else Failure(text, lambda a: not -high - 1 < a < high, 0, source)
        )
    if BITS[source] < BITS[target]:
        return None
    return Failure(text, lambda a: not -high <= a < high, 0, source)


def _converted(source: str, target: str) -> Compute:
    if target == "i1":
        return lambda a: a != 0
    if target in FLOATS:
        return _rounded_once if (source, target) == ("i64", "f32") else lambda a: float(a)
    return _saturated if source in FLOATS else lambda a: a


class _Casts(Family):
    """The family of casts, whose members have a source type and a target type."""

    def members(self) -> Iterator[Operation]:
        for suffix in self.types:
            source, target = suffix.split("_to_")
            compute, failure = _converted(source, target), _unfit(source, target)
            yield Operation(self, suffix, (source,), (target,), compute, failure)


CASTS = _Casts(
    "cast",
    tuple(f"{source}_to_{target}" for source, target in itertools.permutations(TYPES, 2)),
    lambda a: a,
    "The number, converted to the other type.  A cast to a float type rounds; a cast from a float "
    "to an integer type truncates toward zero.  A number that does not fit is an error, except "
    "that a float cast to i64 becomes the smallest i64.",
    operands=1,
    generic=("i64_to_f32", "f32_to_i64", "i64_to_f64", "f64_to_i64"),
)

FAMILIES: tuple[Family, ...] = (*ARITHMETIC, CASTS)
"""The table of this module."""

OPERATIONS: Mapping[str, Operation] = {
    operation.name: operation for family in FAMILIES for operation in family.members()
}
"""Every kernel of the table, by name."""

INSTRUCTIONS: Mapping[str, str] = {
    name: instruction
    for family in ARITHMETIC
    for name, instruction in family.arith.items()
    if instruction
}
"""The `arith` operations that are a single LLVM instruction, each with its instruction."""

FAILURES: tuple[Failure, ...] = tuple(
    {
        operation.failure.text + operation.failure.word: operation.failure
        for operation in OPERATIONS.values()
        if operation.failure is not None
    }.values()
)
"""The table's errors, one for each combination of text and the shown operand's type."""


def failure_number(failure: Failure) -> int:
    """Return the index in `FAILURES` of the error with the same message as `failure`."""
    keys = [one.text + one.word for one in FAILURES]
    return keys.index(failure.text + failure.word)


def folded(name: str, a: int, b: int) -> int | None:
    """Return the result of an `arith` operation on integers, before wrapping.

    Return None if the operation fails for these integers.

    Raises:
        KeyError: if the table has no such operation, or if the operation is a shift.
    """
    family = _FOLDED[name]
    if family.failure is not None and family.failure("i64").when(a, b):
        return None
    found = family.compute(a, b)
    return int(found[list(family.arith).index(name)] if isinstance(found, tuple) else found)


# Whether a shift fails depends on the width of the integers, which `folded` does not get.
_FOLDED = {
    name: family for family in ARITHMETIC for name in family.arith if family.failure is not _shift
}


@functools.cache
def for_operator(operator: str, word: str) -> Operation | None:
    """Return the kernel for a Python operator on a type, or None.

    The kernel for `//` and `%` has the results of `divmod`.
    """
    name = "divmod" if operator in ("//", "%") else operator
    fitting = (one for one in ARITHMETIC if one.python == name and word in one.types)
    return next((OPERATIONS[f"tfrt.{one.name}.{word}"] for one in fitting), None)
