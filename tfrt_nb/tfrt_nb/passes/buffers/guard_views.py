"""Assertions in front of operations that make another buffer of the same memory, or copy one.

What is known to be right is not guarded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_.upstream.buffers import RankOp
from tfrt_nb.dialects.async_.upstream.views import TransposeOp, groups_of
from tfrt_nb.passes.constants import integer_of
from tfrt_nb.passes.control_flow import Emitter

Number = SSAValue | int
_MOST = 2**63 - 1
"""The largest number of type `index`."""

VIEWS: tuple[type[Operation], ...] = (
    *(memref.CastOp, memref.CollapseShapeOp, memref.CopyOp, memref.DimOp),
    *(memref.ExpandShapeOp, memref.ReinterpretCastOp, memref.SubviewOp, memref.ViewOp),
)
"""The operations that `guard_view` checks."""
_PARTS = (
    *(memref.CollapseShapeOp, memref.ExpandShapeOp, memref.MemorySpaceCastOp),
    *(memref.ReinterpretCastOp, memref.SubviewOp, TransposeOp),
)
"""They make a buffer that begins where the memory of another one does."""


def guard_view(op: Operation) -> None:
    """Put assertions in front of the operation."""
    guard = _Guard(Emitter.in_front_of(op))
    match op:
        case memref.CastOp():
            guard.cast(op)
        case memref.CopyOp():
            guard.copy(op)
        case memref.DimOp():
            guard.dim(op)
        case memref.SubviewOp():
            guard.subview(op)
        case memref.ViewOp():
            guard.view(op)
        case memref.ReinterpretCastOp():
            guard.reinterpret_cast(op)
        case memref.CollapseShapeOp():
            guard.collapse_shape(op)
        case memref.ExpandShapeOp():
            guard.expand_shape(op)
        case _:
            pass


def bytes_of(element: Attribute) -> int:
    """How far apart elements are in memory: at least what LLVM says."""
    bits = element.bitwidth if isinstance(element, IntegerType | AnyFloat) else 64
    count = (bits + 7) // 8
    return -(-count // 16) * 16 if count > 8 else 1 << (count - 1).bit_length()


def expect_product(emit: Emitter, sizes: Sequence[Number], total: Number, text: str) -> None:
    """Assert that sizes make a number of elements, and that their product does not overflow on its way."""
    _Guard(emit).expect_product(sizes, total, text)


def dimension_size(emit: Emitter, buffer: SSAValue, dimension: int, size: int) -> SSAValue:
    """The size of a dimension, of which the type says `size`."""
    if size != DYNAMIC_INDEX:
        return emit(arith.ConstantOp(IntegerAttr(size, IndexType()))).result
    number = emit(arith.ConstantOp(IntegerAttr(dimension, IndexType()))).result
    return emit(memref.DimOp(buffer, number)).result


def _numbers(static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[Number]:
    given = iter(dynamic)
    return [next(given) if n == DYNAMIC_INDEX else int(n) for n in static.get_values()]


def _known(number: Number) -> int | None:
    return number if isinstance(number, int) else integer_of(number)


def _whole(buffer: SSAValue) -> SSAValue:
    """A buffer that begins where the memory of `buffer` does, and whose elements may all be used.

    A base has no dimensions, a part strides: both may stand for the whole.
    """
    while isinstance(owner := buffer.owner, Operation):
        assert isinstance(buffer.type, MemRefType)
        is_base = isinstance(owner, memref.ExtractStridedMetaDataOp)
        is_part = isinstance(owner, _PARTS) and not isinstance(buffer.type.layout, NoneAttr)
        if not (is_base or is_part):
            return buffer
        buffer = owner.operands[0]
    return buffer


def _of_any_layout(type_: MemRefType) -> MemRefType:
    """The type with unknown sizes and strides."""
    rank = len(type_.get_shape())
    layout = StridedLayoutAttr([None] * rank, None)
    sizes = [DYNAMIC_INDEX] * rank
    return MemRefType(type_.element_type, sizes, layout, type_.memory_space)


class _Guard:
    """Emits arithmetic, on Python's numbers as far as they are known, and assertions."""

    def __init__(self, emit: Emitter) -> None:
        self.emit = emit

    def cast(self, op: memref.CastOp) -> None:
        """What the type of the result says of the rank, the sizes and the layout is so."""
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
            whole = self.emit(memref.CastOp.get(op.source, _of_any_layout(target)))
            op.operands[0] = whole.dest
        sizes = self._shape(op.source)
        for dimension, (found, wanted) in enumerate(zip(sizes, target.get_shape(), strict=True)):
            if wanted != DYNAMIC_INDEX:
                text = f"the size of dimension {dimension} is not {wanted}"
                self._expect("eq", found, wanted, text)
        self._expect_layout(op.source, sizes, target)

    def _expect_layout(self, buffer: SSAValue, sizes: list[Number], target: MemRefType) -> None:
        """Offset and strides are what the type says, where it says something."""
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
                self._expect("eq", one, other, f"the elements do not lie as '{target}' says")

    def _layout(self, buffer: SSAValue, sizes: Sequence[Number]) -> list[Number]:
        """The offset and the strides."""
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
                return  # refused where it is compiled
            rank: Number = len(op.source.type.get_shape())
        else:
            rank = self.emit(RankOp(op.source)).rank
        # Unsigned: a negative number is a very large one.
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
            # Unsigned: a negative number is a very large one.
            self._expect("ule", start, size, text)
            self._expect("ule", count, size, text)
            if _known(step) != 1:
                self._expect("sge", step, 0, text)
            past = self._add(start, self._last(count, step, size, text))
            self._expect("sle", self._add(past, self._at_most_one(count)), size, text)

    def view(self, op: memref.ViewOp) -> None:
        assert isinstance(op.result.type, MemRefType)
        [size], text = self._shape(op.source), "the view is out of bounds"
        self._expect("ule", op.byte_shift, size, text)
        shape = op.result.type.get_shape()
        element = bytes_of(op.result.type.element_type)
        unit = element * math.prod(max(n, 1) for n in shape if n != DYNAMIC_INDEX)
        unit = min(unit, _MOST)
        room = self._binary(arith.SubiOp, size, op.byte_shift)
        room = self._binary(arith.DivUIOp, room, unit)
        if not op.sizes and 0 not in shape:
            self._expect("uge", room, 1, text)
        for count in op.sizes:
            self._expect("ule", count, room, text)
            room = self._binary(arith.DivUIOp, room, self._binary(arith.MaxSIOp, count, 1))

    def reinterpret_cast(self, op: memref.ReinterpretCastOp) -> None:
        """The result is in the memory that the source is known to be a part of."""
        text = "the view is out of bounds"
        [last] = _numbers(op.static_offsets, op.offsets)
        whole = _whole(op.source)
        sizes = self._shape(whole)
        start, *steps = self._layout(whole, sizes)
        if _known(start) != 0:
            self._expect("sge", last, start, text)
        total: Number = start
        count: Number = 1
        for size, step in zip(sizes, steps, strict=True):
            total = self._add(total, self._mul(self._add(size, -1), step))
            count = self._mul(count, self._at_most_one(size))
        total = self._mul(self._add(total, 1), count)
        # Unsigned: a negative number is a very large one.
        self._expect("ule", last, total, text)
        count = 1
        strides = _numbers(op.static_strides, op.strides)
        for size, stride in zip(_numbers(op.static_sizes, op.sizes), strides, strict=True):
            self._expect("sge", size, 0, text)
            self._expect("sge", stride, 0, text)
            last = self._add(last, self._last(size, stride, total, text))
            count = self._mul(count, self._at_most_one(size))
        self._expect("sle", self._add(last, count), total, text)

    def collapse_shape(self, op: memref.CollapseShapeOp) -> None:
        """The elements of a group of dimensions follow each other, at the distance of the last one's."""
        assert isinstance(op.src.type, MemRefType)
        if isinstance(op.src.type.layout, NoneAttr):
            return
        sizes = self._shape(op.src)
        _, *strides = self._layout(op.src, sizes)
        for group in groups_of(op):
            for outer, inner in pairwise(one for one in group if _known(sizes[one]) != 1):
                step = self._mul(strides[inner], sizes[inner])
                a, b = _known(step), _known(strides[outer])
                if a is not None and a == b:
                    continue
                values = self._value(strides[outer]), self._value(step)
                follows = self.emit(arith.CmpiOp(*values, "eq")).result
                values = self._value(sizes[outer]), self._value(1)
                is_one = self.emit(arith.CmpiOp(*values, "sle")).result
                text = f"the elements of dimensions {outer} and {inner} do not follow each other"
                self.emit(cf.AssertOp(self.emit(arith.OrIOp(follows, is_one)).result, text))

    def expand_shape(self, op: memref.ExpandShapeOp) -> None:
        sizes = _numbers(op.static_output_shape, op.output_shape)
        for dimension, (group, size) in enumerate(
            zip(groups_of(op), self._shape(op.src), strict=True)
        ):
            text = f"the sizes do not make the size of dimension {dimension}"
            self.expect_product([sizes[one] for one in group], size, text)

    def expect_product(self, sizes: Sequence[Number], total: Number, text: str) -> None:
        """A product of 0 has a factor of 0."""
        known = [_known(size) for size in sizes]
        if None not in known and math.prod(size or 0 for size in known) == _known(total):
            return
        room: Number = _MOST if _known(total) == 0 else total
        if _known(total) is None:
            is_empty = self.emit(arith.CmpiOp(self._value(total), self._value(0), "eq")).result
            choice = arith.SelectOp(is_empty, self._value(_MOST), self._value(total))
            room = self.emit(choice).result
        product: Number = 1
        for size in sizes:
            # Unsigned: a negative size is a very large one.
            self._expect("ule", size, room, text)
            room = self._binary(arith.DivUIOp, room, self._binary(arith.MaxSIOp, size, 1))
            product = self._mul(product, size)
        self._expect("eq", product, total, text)

    def _shape(self, buffer: SSAValue) -> list[Number]:
        assert isinstance(buffer.type, MemRefType)
        return [
            dimension_size(self.emit, buffer, dimension, size) if size == DYNAMIC_INDEX else size
            for dimension, size in enumerate(buffer.type.get_shape())
        ]

    def _last(self, count: Number, step: Number, limit: Number, text: str) -> Number:
        """How far the last of so many elements is from the first: at most `limit`, it is asserted."""
        before = self._add(count, -1) if _known(count) != 0 else 0
        if _known(before) is None:
            before = self._binary(arith.MaxSIOp, before, 0)
        far = self._mul(before, step)
        if _known(far) is not None:
            self._expect("ule", far, limit, text)
        else:
            # The product may overflow.
            steps, room = before, limit
            if _known(step) is None:
                is_zero = self.emit(arith.CmpiOp(self._value(step), self._value(0), "eq")).result
                choice = arith.SelectOp(is_zero, self._value(0), self._value(before))
                steps = self.emit(choice).result
            if _known(step) != 1:
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
        number = min(number, _MOST)  # what is larger is larger than any limit
        return self.emit(arith.ConstantOp(IntegerAttr(number, IndexType()))).result

    def _expect(self, predicate: str, left: Number, right: Number, text: str) -> None:
        a, b = _known(left), _known(right)
        if a is not None and b is not None and _holds(predicate, a, b):
            return
        is_right = arith.CmpiOp(self._value(left), self._value(right), predicate)
        self.emit(cf.AssertOp(self.emit(is_right).result, text))


def _holds(predicate: str, left: int, right: int) -> bool:
    match predicate:
        case "eq":
            return left == right
        case "ule":
            return 0 <= left <= right
        case "ult":
            return 0 <= left < right
        case "sle":
            return left <= right
        case _:
            return left >= right
