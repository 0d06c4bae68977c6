"""Scalar operations as LLVM IR, from the table that says what they compute
(`tfrt_runtime.scalars`).

A row of the table is a function of numbers.  It is called here with numbers that write down what is
done with them; where it asks whether something holds, both answers are followed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tfrt_runtime.scalars import BITS, Operation

LLVM_WORDS = {"i1": "i1", "f32": "float", "f64": "double"} | {word: word for word in BITS}


class _Fork(Exception):
    """It is not decided yet whether a condition holds."""

    def __init__(self, condition: str) -> None:
        self.condition = condition


class Lines:
    """The text of a function; `block` is the label of the block that is being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = ""
        self._count = 0

    def name(self) -> str:
        """A new name for a value or a block."""
        self._count += 1
        return f"t{self._count}"

    def add(self, line: str) -> None:
        """Append an instruction."""
        self.lines.append(f"  {line}")

    def value(self, text: str) -> str:
        """Append an instruction with a result, which is returned."""
        name = f"%{self.name()}"
        self.add(f"{name} = {text}")
        return name

    def start(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label


def literal(number: float) -> str:
    """A constant of LLVM, of type double for a float."""
    if isinstance(number, float):
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    return str(int(number))


class _Number:
    """A number of type `i64` or `double`, or a truth of type `i1`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: _Tracer, type_: str, text: str) -> None:
        self.tracer, self.type, self.text = tracer, type_, text

    def _other(self, other: object) -> str:
        if isinstance(other, _Number):
            return other.text
        assert isinstance(other, int | float)
        return literal(float(other) if self.type == "double" else other)

    def _made(self, type_: str, text: str) -> _Number:
        return _Number(self.tracer, type_, self.tracer.value(text))

    def _binary(self, of_integers: str, of_floats: str, left: str, right: str) -> _Number:
        name = of_floats if self.type == "double" else of_integers
        return self._made(self.type, f"{name} {self.type} {left}, {right}")

    def _compare(self, of_integers: str, of_floats: str, other: object) -> _Number:
        name = f"fcmp {of_floats}" if self.type == "double" else f"icmp {of_integers}"
        return self._made("i1", f"{name} {self.type} {self.text}, {self._other(other)}")

    def __add__(self, other: object) -> _Number:
        return self._binary("add", "fadd", self.text, self._other(other))

    def __sub__(self, other: object) -> _Number:
        return self._binary("sub", "fsub", self.text, self._other(other))

    def __mul__(self, other: object) -> _Number:
        return self._binary("mul", "fmul", self.text, self._other(other))

    def __truediv__(self, other: object) -> _Number:
        return self._binary("", "fdiv", self.text, self._other(other))

    def __and__(self, other: object) -> _Number:
        return self._binary("and", "", self.text, self._other(other))

    def __or__(self, other: object) -> _Number:
        return self._binary("or", "", self.text, self._other(other))

    def __xor__(self, other: object) -> _Number:
        return self._binary("xor", "", self.text, self._other(other))

    def __lshift__(self, other: object) -> _Number:
        return self._binary("shl", "", self.text, self._other(other))

    def __rshift__(self, other: object) -> _Number:
        return self._binary("ashr", "", self.text, self._other(other))

    def __floordiv__(self, other: _Number) -> _Number:
        quotient = self._binary("sdiv", "", self.text, other.text)
        rest = self._binary("srem", "", self.text, other.text)
        # Cut towards zero: one less where there is a rest whose sign is not the divisor's.
        differs = (rest ^ other) < 0
        is_less = self._made("i1", f"and i1 {(rest != 0).text}, {differs.text}")
        return quotient - self._made("i64", f"zext i1 {is_less.text} to i64")

    def __divmod__(self, other: _Number) -> tuple[_Number, _Number]:
        """As Python's `float_divmod`, step by step."""
        rest = self._binary("", "frem", self.text, other.text)
        quotient = (self - rest) / other
        if rest != 0:
            if self._made("i1", f"xor i1 {(other < 0).text}, {(rest < 0).text}"):
                rest, quotient = rest + other, quotient - 1.0
        else:
            rest = self._made(
                "double", f"call double @llvm.copysign.f64(double 0.0, double {other.text})"
            )
        if quotient != 0:
            down = self._made("double", f"call double @llvm.floor.f64(double {quotient.text})")
            return (down + 1.0 if quotient - down > 0.5 else down), rest
        true = self / other
        zero = f"call double @llvm.copysign.f64(double 0.0, double {true.text})"
        return self._made("double", zero), rest

    def __neg__(self) -> _Number:
        if self.type == "double":
            return self._made("double", f"fneg double {self.text}")
        return self._made("i64", f"sub i64 0, {self.text}")

    def __abs__(self) -> _Number:
        if self.type == "double":
            return self._made("double", f"call double @llvm.fabs.f64(double {self.text})")
        return self._made("i64", f"call i64 @llvm.abs.i64(i64 {self.text}, i1 false)")

    def __eq__(self, other: object) -> _Number:  # type: ignore[override]
        return self._compare("eq", "oeq", other)

    def __ne__(self, other: object) -> _Number:  # type: ignore[override]
        return self._compare("ne", "une", other)

    def __lt__(self, other: object) -> _Number:
        return self._compare("slt", "olt", other)

    def __le__(self, other: object) -> _Number:
        return self._compare("sle", "ole", other)

    def __gt__(self, other: object) -> _Number:
        return self._compare("sgt", "ogt", other)

    def __ge__(self, other: object) -> _Number:
        return self._compare("sge", "oge", other)

    def __bool__(self) -> bool:
        return self.tracer.decide(self.text)


def _to_integer(number: Any) -> Any:
    """What `int` is in the table."""
    if not isinstance(number, _Number):
        return int(number)
    if number.type == "i64":
        return number
    name = "zext i1" if number.type == "i1" else "fptosi double"
    return number._made("i64", f"{name} {number.text} to i64")


def _to_float(number: Any) -> Any:
    """What `float` is in the table."""
    if not isinstance(number, _Number):
        return float(number)
    if number.type == "double":
        return number
    return number._made("double", f"sitofp i64 {number.text} to double")


class _Tracer:
    """Follows one function of the table."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._known: dict[str, str] = {}
        self._decisions: list[bool] = []
        self._position = 0

    def value(self, text: str) -> str:
        """The result of an instruction, which is written once on each way."""
        if text not in self._known:
            self._known[text] = self._lines.value(text)
        return self._known[text]

    def decide(self, condition: str) -> bool:
        """Whether a condition holds on the present way."""
        if self._position == len(self._decisions):
            raise _Fork(condition)
        self._position += 1
        return self._decisions[self._position - 1]

    def follow(
        self, compute: Callable[..., Any], operands: Sequence[_Number], end: Callable[[Any], None]
    ) -> None:
        """Write what a function does; `end` writes the end of each way, with what it returns."""
        assert isinstance(compute, FunctionType)
        space = {**compute.__globals__, "int": _to_integer, "float": _to_float}
        own = FunctionType(compute.__code__, space, closure=compute.__closure__)

        def way(decisions: list[bool], known: dict[str, str]) -> None:
            self._decisions, self._known, self._position = decisions, known, 0
            try:
                found = own(*operands)
            except _Fork as fork:
                labels = self._lines.name(), self._lines.name()
                self._lines.add(f"br i1 {fork.condition}, label %{labels[0]}, label %{labels[1]}")
                for label, holds in zip(labels, (True, False), strict=True):
                    self._lines.start(label)
                    way([*decisions, holds], dict(known))
            else:
                end(found)

        way([], {})


def lower(lines: Lines, operation: Operation, operands: Sequence[str], failed: str) -> list[str]:
    """The results of an operation on values of LLVM; where it is an error it goes to the block
    `failed`.
    """
    tracer = _Tracer(lines)
    wide = [
        _Number(tracer, *_widened(lines, word, text))
        for word, text in zip(operation.operands, operands, strict=True)
    ]
    if operation.failure is not None:
        ordinary = lines.name()

        def check(fails: Any) -> None:
            lines.add(f"br i1 {_condition(fails)}, label %{failed}, label %{ordinary}, !prof !0")

        tracer.follow(operation.failure.when, wide, check)
        lines.start(ordinary)
    ways: list[tuple[str, list[str]]] = []
    joined = lines.name()

    def finish(found: Any) -> None:
        numbers = found if isinstance(found, tuple) else (found,)
        made = [
            _narrowed(lines, word, number)
            for word, number in zip(operation.results, numbers, strict=True)
        ]
        lines.add(f"br label %{joined}")
        ways.append((lines.block, made))

    tracer.follow(operation.compute, wide, finish)
    if len(ways) == 1:
        lines.lines.pop()  # no way has ended elsewhere
        return ways[0][1]
    lines.start(joined)
    results = []
    for number, word in enumerate(operation.results):
        incoming = ", ".join(f"[ {made[number]}, %{block} ]" for block, made in ways)
        results.append(lines.value(f"phi {LLVM_WORDS[word]} {incoming}"))
    return results


def _condition(holds: Any) -> str:
    return holds.text if isinstance(holds, _Number) else str(bool(holds)).lower()


def _widened(lines: Lines, word: str, text: str) -> tuple[str, str]:
    if word in ("i64", "f64"):
        return LLVM_WORDS[word] if word == "f64" else "i64", text
    if word == "f32":
        return "double", lines.value(f"fpext float {text} to double")
    name = "zext" if word == "i1" else "sext"
    return "i64", lines.value(f"{name} {word} {text} to i64")


def _narrowed(lines: Lines, word: str, number: Any) -> str:
    if not isinstance(number, _Number):
        if word == "f32":
            return lines.value(f"fptrunc double {literal(float(number))} to float")
        return literal(float(number) if word == "f64" else number)
    if LLVM_WORDS[word] == number.type:
        return number.text
    if word == "f32":
        return lines.value(f"fptrunc double {number.text} to float")
    return lines.value(f"trunc i64 {number.text} to {word}")
