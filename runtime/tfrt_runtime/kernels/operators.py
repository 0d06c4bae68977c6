"""Python's operators on numbers, as far as no native kernel has them.

Integers wrap as those of native kernels do; division rounds down, as Python's does.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

from tfrt_runtime.kernels import scalars
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry

OPERATORS = KernelRegistry("operators")

INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = ("f32", "f64")


def _wrapped(word: str, function: Callable[..., int]) -> Callable[..., int]:
    """`function` on integers, whose result wraps."""
    half, mask = 1 << (INTEGERS[word] - 1), (1 << INTEGERS[word]) - 1
    return lambda *values: ((function(*values) & mask) ^ half) - half


def _rounded(word: str, function: Callable[..., float]) -> Callable[..., float]:
    """`function` on floats, with a result that `word` holds."""
    return function if word == "f64" else lambda *values: _to_f32(function(*values))


def _to_f32(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _floored(left: float, right: float) -> tuple[float, float]:
    if right == 0:
        raise KernelError("Divide by zero")
    return divmod(left, right)


def _shifted(bits: int, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def shift(value: int, count: int) -> int:
        if not 0 <= count < bits:
            raise KernelError(f"a shift by {count} of {bits} bits")
        return function(value, count)

    return shift


def _smaller(left: float, right: float) -> float:
    return right if right < left else left  # noqa: FURB136 - as the native kernel does it with NaN


def _larger(left: float, right: float) -> float:
    return right if left < right else left  # noqa: FURB136 - as above


def _truncated(word: str) -> Callable[[float], int]:
    """A float as an integer, rounded towards zero."""
    bits = INTEGERS[word] - 1

    def convert(number: float) -> int:
        if not math.isfinite(number) or not -(1 << bits) <= math.trunc(number) < 1 << bits:
            raise KernelError(f"{number} does not fit in {word}")
        return math.trunc(number)

    return convert


def _fitting(word: str) -> Callable[[int], int]:
    bits = INTEGERS[word] - 1

    def convert(number: int) -> int:
        if not -(1 << bits) <= number < 1 << bits:
            raise KernelError(f"{int(number)} does not fit in {word}")
        return int(number)

    return convert


def _add(name: str, function: Callable[..., object], *results: str) -> None:
    """Register a kernel, unless there is a native one."""
    if name not in scalars.SCALAR_KERNELS:
        OPERATORS.kernel(name, results=results)(function)


_COMPARISONS: dict[str, Callable[..., bool]] = {
    "equal": operator.eq,
    "notequal": operator.ne,
    "less": operator.lt,
    "lessequal": operator.le,
    "greater": operator.gt,
    "greaterequal": operator.ge,
}
_ARITHMETIC = {"add": operator.add, "minus": operator.sub}
_BITWISE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def _add_integers() -> None:
    for word, bits in INTEGERS.items():
        for name, function in {**_ARITHMETIC, "mul": operator.mul, **_BITWISE}.items():
            _add(f"tfrt.{name}.{word}", _two(_wrapped(word, function)), word)
        for name, shift in (("shiftleft", operator.lshift), ("shiftright", operator.rshift)):
            _add(f"tfrt.{name}.{word}", _two(_wrapped(word, _shifted(bits, shift))), word)
        _add(f"tfrt.abs.{word}", _one(_wrapped(word, abs)), word)
        wrap = _wrapped(word, lambda value: value)
        _add(f"tfrt.floordiv.{word}", _pair(wrap), word, word)


def _add_floats() -> None:
    for word in FLOATS:
        for name, function in {**_ARITHMETIC, "multiply": operator.mul}.items():
            _add(f"tfrt.{name}.{word}", _two(_rounded(word, function)), word)
        _add(f"tfrt.abs.{word}", _one(abs), word)
        _add(f"tfrt.floordiv.{word}", _pair(_rounded(word, lambda value: value)), word, word)


def _one(function: Callable[..., object]) -> Callable[[object], object]:
    return lambda value: function(value)


def _two(function: Callable[..., object]) -> Callable[[object, object], object]:
    return lambda left, right: function(left, right)


def _pair(convert: Callable[..., object]) -> Callable[..., object]:
    def divide(left: float, right: float) -> tuple[object, object]:
        quotient, rest = _floored(left, right)
        return convert(quotient), convert(rest)

    return divide


def _add_all() -> None:
    _add_integers()
    _add_floats()
    for word in (*INTEGERS, *FLOATS):
        _add(f"tfrt.minimum.{word}", _smaller, word)
        _add(f"tfrt.maximum.{word}", _larger, word)
    for word in ("i1", *INTEGERS, *FLOATS):
        for name, compare in _COMPARISONS.items():
            if word != "i1" or name in ("equal", "notequal"):
                _add(f"tfrt.{name}.{word}", _two(compare), "i1")
    for name, function in _BITWISE.items():
        _add(f"tfrt.{name}.i1", _two(function), "i1")
    for source in ("i1", *INTEGERS, *FLOATS):
        for target in ("i1", *INTEGERS, *FLOATS):
            if source != target:
                _add(f"tfrt.cast.{source}_to_{target}", _cast(source, target), target)


def _cast(source: str, target: str) -> Callable[..., object]:
    if target == "i1":
        return _one(bool)
    if target in FLOATS:
        return _one(_rounded(target, float))
    return _truncated(target) if source in FLOATS else _fitting(target)


_add_all()
