"""Translate scalar operations to `arith`, from the table that defines them.

A row of `tfrt_runtime.scalars` has a Python function of numbers. This module calls the function
with objects that emit an operation for each step. If the function tests a condition, both outcomes
are computed, and `arith.select` chooses one. This is correct because no step has an effect, and
because the lowering of `arith` freezes undefined results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tfrt_nb.dialects.async_.upstream.arithmetic import RemFOp
from tfrt_nb.dialects.fast_ir import append, create
from tfrt_runtime.scalars import BITS, wrapped

TYPES: dict[str, Attribute] = {"i1": i1, "f32": Float32Type(), "f64": f64}
TYPES |= {word: IntegerType(bits) for word, bits in BITS.items()}
"""The types of scalars, by the table's type words."""


def emit(
    block: Block,
    kind: type[Operation],
    operands: Sequence[SSAValue],
    type_: Attribute,
    **properties: Attribute,
) -> SSAValue:
    """Append an operation with one result to the block, and return the result."""
    op = create(kind, operands, (type_,), {}, UNKNOWN_LOC, properties)
    append(block, op)
    return op.results[0]


def constant(block: Block, number: Any, type_: Attribute) -> SSAValue:
    """Append a constant to the block, and return its value."""
    value: Attribute
    if isinstance(type_, IntegerType):
        bits = type_.width.data
        value = IntegerAttr(number & 1 if bits == 1 else wrapped(int(number), bits), type_)
    else:
        assert isinstance(type_, Float64Type)
        value = FloatAttr(float(number), type_)
    return emit(block, arith.ConstantOp, (), type_, value=value)


class _Fork(Exception):
    """Signals a condition whose outcome has not been chosen yet."""

    def __init__(self, condition: _Number) -> None:
        self.condition = condition


def _binary(of_integers: Any, of_floats: Any) -> Callable[[_Number, Any], _Number]:
    def apply(number: _Number, other: Any) -> _Number:
        kind = of_floats if number.value.type == f64 else of_integers
        return number.made(kind, number.value.type, other)

    return apply


def _comparison(of_integers: int, of_floats: int) -> Callable[[_Number, Any], _Number]:
    """Return a comparison, given MLIR's predicate numbers for integers and for floats."""

    def apply(number: _Number, other: Any) -> _Number:
        is_float = number.value.type == f64
        predicate = IntegerAttr(of_floats if is_float else of_integers, i64)
        kind = arith.CmpfOp if is_float else arith.CmpiOp
        return number.made(kind, i1, other, predicate=predicate)

    return apply


class _Number:
    """A number of type `i64` or `f64`, or a truth value of type `i1`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: _Tracer, value: SSAValue) -> None:
        self.tracer, self.value = tracer, value

    def made(
        self, kind: type[Operation], type_: Attribute, *others: Any, **properties: Attribute
    ) -> _Number:
        """Emit an operation on this number and others, and return its result."""
        operands = [self.value, *(self.tracer.value(one, self.value.type) for one in others)]
        return _Number(self.tracer, emit(self.tracer.block, kind, operands, type_, **properties))

    __add__ = _binary(arith.AddiOp, arith.AddfOp)
    __sub__ = _binary(arith.SubiOp, arith.SubfOp)
    __mul__ = _binary(arith.MuliOp, arith.MulfOp)
    __truediv__ = _binary(None, arith.DivfOp)
    __floordiv__ = _binary(arith.FloorDivSIOp, None)
    __and__ = _binary(arith.AndIOp, None)
    __or__ = _binary(arith.OrIOp, None)
    __xor__ = _binary(arith.XOrIOp, None)
    __lshift__ = _binary(arith.ShLIOp, None)
    __rshift__ = _binary(arith.ShRSIOp, None)
    __eq__ = _comparison(0, 1)  # type: ignore[assignment]
    __ne__ = _comparison(1, 13)  # type: ignore[assignment]
    __lt__ = _comparison(2, 4)
    __le__ = _comparison(3, 5)
    __gt__ = _comparison(4, 2)
    __ge__ = _comparison(5, 3)

    def __neg__(self) -> _Number:
        if self.value.type == f64:
            return self.made(arith.NegfOp, f64)
        return _Number(self.tracer, self.tracer.value(0, i64)) - self

    def __abs__(self) -> _Number:
        return self.made(math.AbsFOp if self.value.type == f64 else math.AbsIOp, self.value.type)

    def __divmod__(self, other: _Number) -> tuple[Any, Any]:
        """Emit the steps of CPython's `float_divmod`."""
        rest = self.made(RemFOp, f64, other)
        quotient = (self - rest) / other
        if rest != 0:
            if (other < 0) ^ (rest < 0):
                rest, quotient = rest + other, quotient - 1.0
        else:
            rest = _zero_like(other)
        if quotient != 0:
            down = quotient.made(math.FloorOp, f64)
            return (down + 1.0 if quotient - down > 0.5 else down), rest
        return _zero_like(self / other), rest

    def __bool__(self) -> bool:
        return self.tracer.decide(self)


def _zero_like(number: _Number) -> _Number:
    """Return 0.0 with the sign of a number."""
    return _Number(number.tracer, number.tracer.value(0.0, f64)).made(math.CopySignOp, f64, number)


def _to_integer(number: Any) -> Any:
    """Convert a number to an integer; replaces `int` in the table's functions."""
    if not isinstance(number, _Number) or number.value.type == i64:
        return number if isinstance(number, _Number) else int(number)
    return number.made(arith.ExtUIOp if number.value.type == i1 else arith.FPToSIOp, i64)


def _to_float(number: Any) -> Any:
    """Convert a number to a float; replaces `float` in the table's functions."""
    if not isinstance(number, _Number) or number.value.type == f64:
        return number if isinstance(number, _Number) else float(number)
    return number.made(arith.SIToFPOp, f64)


class _Tracer:
    """Traces one function of the table."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._decisions: list[bool] = []
        self._position = 0

    def value(self, number: Any, type_: Attribute) -> SSAValue:
        """Return the IR value of a number, which may be a Python number."""
        return number.value if isinstance(number, _Number) else constant(self.block, number, type_)

    def decide(self, condition: _Number) -> bool:
        """Return whether a condition is true on the path that is being traced."""
        if self._position == len(self._decisions):
            raise _Fork(condition)
        self._position += 1
        return self._decisions[self._position - 1]

    def follow(self, compute: Callable[..., Any], operands: Sequence[_Number]) -> tuple[Any, ...]:
        """Emit the operations of a function, and return its results."""
        # The table's functions call `int` and `float`, which would return Python numbers.
        space = {**compute.__globals__, "int": _to_integer, "float": _to_float}
        own = FunctionType(compute.__code__, space, closure=compute.__closure__)

        def way(decisions: list[bool]) -> tuple[Any, ...]:
            self._decisions, self._position = decisions, 0
            try:
                found = own(*operands)
            except _Fork as fork:
                # Trace each outcome from the start. This emits the operations before the condition
                # again.
                ways = way([*decisions, True]), way([*decisions, False])
                return tuple(
                    self._select(fork.condition, *pair) for pair in zip(*ways, strict=True)
                )
            return found if isinstance(found, tuple) else (found,)

        return way([])

    def _select(self, condition: _Number, if_true: Any, if_false: Any) -> _Number:
        number = if_true if isinstance(if_true, _Number) else if_false
        if isinstance(number, _Number):
            type_ = number.value.type
        else:
            type_ = i1 if isinstance(number, bool) else f64 if isinstance(number, float) else i64
        values = self.value(if_true, type_), self.value(if_false, type_)
        return _Number(self, emit(self.block, arith.SelectOp, (condition.value, *values), type_))


def emit_operation(
    block: Block,
    compute: Callable[..., Any],
    operands: Sequence[tuple[str, SSAValue]],
    results: Sequence[str],
) -> list[SSAValue]:
    """Append a function of the table to the block, and return its results.

    An operand is a pair of a type word and a value. `results` has type words.
    """
    tracer = _Tracer(block)
    numbers = [
        _Number(tracer, _converted(block, value, word, _wide(word))) for word, value in operands
    ]
    return [
        _converted(
            block,
            tracer.value(number, TYPES[_wide(word)]),
            "i1" if isinstance(number, _Number) and number.value.type == i1 else _wide(word),
            word,
        )
        for number, word in zip(tracer.follow(compute, numbers), results, strict=True)
    ]


def _wide(word: str) -> str:
    return "f64" if word in ("f32", "f64") else "i64"


def _converted(block: Block, value: SSAValue, source: str, target: str) -> SSAValue:
    """Widen or narrow a number."""
    if source == target:
        return value
    if "f64" in (source, target):
        kind: type[Operation] = arith.ExtFOp if target == "f64" else arith.TruncFOp
    elif target == "i64":
        kind = arith.ExtUIOp if source == "i1" else arith.ExtSIOp
    else:
        kind = arith.TruncIOp
    return emit(block, kind, (value,), TYPES[target])
