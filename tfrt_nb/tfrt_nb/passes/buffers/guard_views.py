"""Insert assertions before operations that create a view of a buffer's memory or copy a buffer.

Operations known to be safe get no assertions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_.upstream.buffers import RankOp
from tfrt_nb.passes.control_flow import Emitter, integer_of

Number = SSAValue | int
_MOST = 2**63 - 1
"""The largest number of type `index`."""


def guard_view(op: Operation) -> None:
    """Insert the assertions that an operation of `VIEWS` needs before it."""
    VIEWS[op.name](_Guard(Emitter.in_front_of(op)), op)


def bytes_of(element: Attribute) -> int:
    """Return the number of bytes from one element to the next in memory.

    The result is at least as large as the distance that LLVM uses.
    """
    bits = element.bitwidth if isinstance(element, IntegerType | AnyFloat) else 64
    count = (bits + 7) // 8
    return -(-count // 16) * 16 if count > 8 else 1 << (count - 1).bit_length()


def dimension_size(emit: Emitter, buffer: SSAValue, dimension: int, size: int) -> SSAValue:
    """Return the size of a dimension; `size` is the static size that the buffer's type states."""
    if size != DYNAMIC_INDEX:
        return emit.integer(size)
    return emit(memref.DimOp(buffer, emit.integer(dimension))).result


def _numbers(static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[Number]:
    given = iter(dynamic)
    return [next(given) if n == DYNAMIC_INDEX else int(n) for n in static.get_values()]


def _known(number: Number) -> int | None:
    return number if isinstance(number, int) else integer_of(number)


def _of_any_layout(type_: MemRefType) -> MemRefType:
    """Return `type_` with dynamic sizes, strides, and offset."""
    rank = len(type_.get_shape())
    layout = StridedLayoutAttr([None] * rank, None)
    return MemRefType(type_.element_type, [DYNAMIC_INDEX] * rank, layout, type_.memory_space)


class _Guard:
    """Emits assertions and arithmetic, but computes in Python if the numbers are known."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit

    def cast(self, op: memref.CastOp) -> None:
        """Assert that the buffer has the rank, the sizes, and the layout of the result's type."""
        target = op.dest.type
        if not isinstance(target, MemRefType):
            return
        if isinstance(op.source.type, UnrankedMemRefType):
            rank = len(target.get_shape())
            plural = "" if rank == 1 else "s"
            found_rank = self.emit(RankOp(op.source)).rank
            self._expect(
                "eq", found_rank, rank, f"the buffer does not have {rank} dimension{plural}"
            )
            # The sizes of a buffer can be compared only if its rank is known.
            op.operands[0] = self.emit(memref.CastOp.get(op.source, _of_any_layout(target))).dest
        sizes = self._shape(op.source)
        for dimension, (found, wanted) in enumerate(zip(sizes, target.get_shape(), strict=True)):
            if wanted != DYNAMIC_INDEX:
                self._expect(
                    "eq", found, wanted, f"the size of dimension {dimension} is not {wanted}"
                )
        self._expect_layout(op.source, sizes, target)

    def _expect_layout(self, buffer: SSAValue, sizes: list[Number], target: MemRefType) -> None:
        """Assert the offset and the strides that the type states."""
        assert isinstance(buffer.type, MemRefType)
        if target.layout == buffer.type.layout:
            return
        found = self._layout(buffer, sizes)
        if isinstance(target.layout, StridedLayoutAttr):
            wanted: Sequence[Number | None] = [target.get_offset(), *target.layout.get_strides()]
        else:
            wanted = [0, *self._contiguous_strides(sizes)]
        for one, other in zip(found, wanted, strict=True):
            if other is not None:
                self._expect("eq", one, other, f"the buffer's layout is not that of '{target}'")

    def _layout(self, buffer: SSAValue, sizes: Sequence[Number]) -> list[Number]:
        """Return the buffer's offset, followed by its strides."""
        assert isinstance(buffer.type, MemRefType)
        if isinstance(buffer.type.layout, NoneAttr):
            return [0, *self._contiguous_strides(sizes)]
        found = self.emit(memref.ExtractStridedMetaDataOp(buffer))
        return [found.offset, *found.strides]

    def _contiguous_strides(self, sizes: Sequence[Number]) -> list[Number]:
        strides: list[Number] = []
        stride: Number = 1
        for size in reversed(sizes):
            strides.insert(0, stride)
            stride = self._mul(stride, size)
        return strides

    def dim(self, op: memref.DimOp) -> None:
        if isinstance(op.source.type, MemRefType):
            if integer_of(op.index) is not None:
                return  # the compiler rejects the operation later
            rank: Number = len(op.source.type.get_shape())
        else:
            rank = self.emit(RankOp(op.source)).rank
        # The comparison is unsigned: a negative number is a very large number.
        self._expect("ult", op.index, rank, "the buffer has no such dimension")

    def copy(self, op: memref.CopyOp) -> None:
        source, target = self._shape(op.source), self._shape(op.destination)
        for dimension, (one, other) in enumerate(zip(source, target, strict=True)):
            self._expect("eq", one, other, f"dimension {dimension} of the two buffers differs")

    def subview(self, op: memref.SubviewOp) -> None:
        for dimension, (size, start, count, step) in enumerate(
            zip(
                self._shape(op.source),
                _numbers(op.static_offsets, op.offsets),
                _numbers(op.static_sizes, op.sizes),
                _numbers(op.static_strides, op.strides),
                strict=True,
            )
        ):
            text = f"the view is out of bounds in dimension {dimension}"
            # The comparison is unsigned: a negative number is a very large number.
            self._expect("ule", start, size, text)
            self._expect("ule", count, size, text)
            if _known(step) != 1:
                self._expect("sge", step, 0, text)
            past = self._add(start, self._last(count, step, size, text))
            self._expect("sle", self._add(past, self._at_most_one(count)), size, text)

    def _shape(self, buffer: SSAValue) -> list[Number]:
        assert isinstance(buffer.type, MemRefType)
        return [
            dimension_size(self.emit, buffer, dimension, size) if size == DYNAMIC_INDEX else size
            for dimension, size in enumerate(buffer.type.get_shape())
        ]

    def _last(self, count: Number, step: Number, limit: Number, text: str) -> Number:
        """Return the distance from the first to the last of `count` elements.

        Assert that the distance is at most `limit`.
        """
        before = self._add(count, -1) if _known(count) != 0 else 0
        if _known(before) is None:
            before = self._binary(arith.MaxSIOp, before, 0)
        far = self._mul(before, step)
        if _known(far) is not None:
            self._expect("ule", far, limit, text)
        else:
            # The product of the count and the step may overflow, so divide the limit instead.
            steps, room = before, limit
            if _known(step) is None:
                # With a step of 0, all elements are at the same place, however many the view has.
                is_zero = self.emit(arith.CmpiOp(self._value(step), self._value(0), "eq")).result
                choice = arith.SelectOp(is_zero, self._value(0), self._value(before))
                steps = self.emit(choice).result
            if _known(step) != 1:
                # `subview` asserts that the step is not negative, so the maximum only replaces a
                # step of 0.
                room = self._binary(arith.DivUIOp, limit, self._binary(arith.MaxSIOp, step, 1))
            self._expect("ule", steps, room, text)
        return far

    def _at_most_one(self, count: Number) -> Number:
        known = _known(count)
        return self._binary(arith.MinSIOp, count, 1) if known is None else min(known, 1)

    def _add(self, left: Number, right: Number) -> Number:
        a, b = _known(left), _known(right)
        if a is not None and b is not None:
            return a + b
        return left if b == 0 else right if a == 0 else self._binary(arith.AddiOp, left, right)

    def _mul(self, left: Number, right: Number) -> Number:
        a, b = _known(left), _known(right)
        if a is not None and b is not None:
            return a * b
        if 0 in (a, b):
            return 0
        return left if b == 1 else right if a == 1 else self._binary(arith.MuliOp, left, right)

    def _binary(
        self,
        op: type[arith.SignlessIntegerBinaryOperation],
        left: Number,
        right: Number,
    ) -> Number:
        return self.emit(op(self._value(left), self._value(right))).result

    def _value(self, number: Number) -> SSAValue:
        if isinstance(number, SSAValue):
            return number
        return self.emit.integer(min(number, _MOST))  # anything larger exceeds every limit

    def _expect(self, predicate: str, left: Number, right: Number, text: str) -> None:
        a, b = _known(left), _known(right)
        if a is not None and b is not None and _HOLDS[predicate](a, b):
            return
        self.emit.expect(self._value(left), predicate, self._value(right), text)


VIEWS: dict[str, Callable[[_Guard, Any], None]] = {
    memref.CastOp.name: _Guard.cast,
    memref.CopyOp.name: _Guard.copy,
    memref.DimOp.name: _Guard.dim,
    memref.SubviewOp.name: _Guard.subview,
}
"""The operations that `guard_view` checks, by name."""
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ule": lambda left, right: 0 <= left <= right,
    "ult": lambda left, right: 0 <= left < right,
    "sle": operator.le,
    "sge": operator.ge,
}
