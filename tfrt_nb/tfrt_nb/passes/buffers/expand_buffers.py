"""Operations of `memref` that others can do.

    %new = memref.realloc %m(%n)         =>  %new = memref.alloc(%n), memref.copy, memref.dealloc %m

    %old = memref.generic_atomic_rmw     =>  %first = memref.load %m[%i]
        %m[%i] {                             %old = scf.while (%now = %first) {
      ^bb0(%now: f32):                         %new = arith.mulf %now, %two
      %new = arith.mulf %now, %two             %found, %done = compare_exchange %now, %new, %m[%i]
      memref.atomic_yield %new                 condition(not %done) %found
    }                                        } do { yield }

    %r = memref.reshape %m(%sizes)       =>  %r = memref.reinterpret_cast %m, its sizes loaded

    memref.alloca_scope { ... }          =>  scf.execute_region { ... }

What the processor cannot do in one step of `memref.atomic_rmw` becomes `memref.generic_atomic_rmw` first.
Buffers of a scope live as long as those of the function around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    UnitAttr,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeCompareExchangeOp
from tfrt_nb.dialects.async_.upstream.allocation import AllocaScopeOp, ReallocOp, ReshapeOp
from tfrt_nb.dialects.async_.upstream.atomics import AtomicRMWOp, AtomicYieldOp, GenericAtomicRMWOp
from tfrt_nb.passes.buffers.guard_views import dimension_size, expect_product
from tfrt_nb.passes.control_flow import Emitter, erase, operations_in, replace, terminator_of, truth
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.lowering.awaiting import UNINTERRUPTED

_BY_LOOP: dict[str, type[Operation]] = {"mulf": arith.MulfOp, "muli": arith.MuliOp}
"""What `memref.atomic_rmw` can do and the processor cannot."""


@dataclass(frozen=True)
class ExpandBuffers(ModulePass):
    """Replaces the operations of `_EXPANSIONS`."""

    name: ClassVar[str] = "async-expand-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            expand = _EXPANSIONS.get(nested.name)
            if expand is not None:
                expand(nested)


def _constant(emit: Emitter, number: int) -> SSAValue:
    return emit(arith.ConstantOp(IntegerAttr(number, IndexType()))).result


def _realloc(op: Operation) -> None:
    assert isinstance(op, ReallocOp)
    source, target = op.source.type, op.result.type
    assert isinstance(source, MemRefType) and isinstance(target, MemRefType)
    emit = Emitter.in_front_of(op)
    dynamic = [] if op.size is None else [op.size]
    made = emit(memref.AllocOp(dynamic, [], target))
    if op.alignment is not None:
        made.properties["alignment"] = op.alignment
    [before], [after] = source.get_shape(), target.get_shape()
    if DYNAMIC_INDEX in (before, after):
        old = dimension_size(emit, op.source, 0, before)
        new = dimension_size(emit, made.memref, 0, after)
        kept: SSAValue | int = emit(arith.MinUIOp(old, new)).result
    else:
        kept = min(before, after)
    both = (_contiguous(emit, one, [kept], [1]) for one in (op.source, made.memref))
    emit(memref.CopyOp(*both))
    emit(memref.DeallocOp.get(op.source))
    replace(op, [made.memref])


def _contiguous(
    emit: Emitter,
    buffer: SSAValue,
    sizes: list[SSAValue | int],
    strides: list[SSAValue | int],
) -> SSAValue:
    """The memory of a buffer, which begins at its start, with other sizes."""
    assert isinstance(buffer.type, MemRefType)
    shape = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
    type_ = MemRefType(buffer.type.element_type, shape, memory_space=buffer.type.memory_space)
    cast = memref.ReinterpretCastOp.from_dynamic(buffer, [0], sizes, strides, type_)
    return SSAValue.get(emit(cast).result)


def _reshape(op: Operation) -> None:
    assert isinstance(op, ReshapeOp)
    source, shape, target = op.source.type, op.shape.type, op.result.type
    assert isinstance(shape, MemRefType)
    [rank] = shape.get_shape()
    if not isinstance(source, MemRefType) or rank == DYNAMIC_INDEX:
        unknown = "the buffer" if not isinstance(source, MemRefType) else "the result"
        fail(op, f"'{op.name}' cannot be compiled where the rank of {unknown} is unknown")
    emit = Emitter.in_front_of(op)
    total = _constant(emit, 1)
    for dimension, size in enumerate(source.get_shape()):
        factor = dimension_size(emit, op.source, dimension, size)
        total = emit(arith.MuliOp(total, factor)).result
    known = target.get_shape() if isinstance(target, MemRefType) else [DYNAMIC_INDEX] * rank
    sizes = [_loaded_size(emit, op.shape, at, size) for at, size in enumerate(known)]
    expect_product(emit, sizes, total, "the sizes do not make the number of elements")
    strides: list[SSAValue | int] = []
    stride: SSAValue = _constant(emit, 1)
    for value in reversed(sizes):
        strides.insert(0, stride)
        stride = emit(arith.MuliOp(stride, value)).result
    given = [
        value if size == DYNAMIC_INDEX else size for value, size in zip(sizes, known, strict=True)
    ]
    result = _contiguous(emit, op.source, given, strides)
    if result.type != target:
        result = emit(memref.CastOp.get(result, target)).dest
    replace(op, [result])


def _loaded_size(emit: Emitter, shape: SSAValue, dimension: int, known: int) -> SSAValue:
    """A size from a buffer of sizes; the type of the result may know it, too."""
    loaded: SSAValue = emit(memref.LoadOp.get(shape, [_constant(emit, dimension)])).res
    if not isinstance(loaded.type, IndexType):
        loaded = emit(arith.IndexCastOp(loaded, IndexType())).result
    if known != DYNAMIC_INDEX:
        same = emit(arith.CmpiOp(loaded, _constant(emit, known), "eq")).result
        emit(cf.AssertOp(same, f"the size of dimension {dimension} is not {known}"))
    return loaded


def _atomic_rmw(op: Operation) -> None:
    assert isinstance(op, AtomicRMWOp)
    combine = _BY_LOOP.get(op.operation)
    if combine is None:
        return
    body = Block(arg_types=[op.value.type])
    emit = Emitter.at_end(body, op.location)
    new = emit(combine.create(operands=[body.args[0], op.value], result_types=[op.value.type]))
    emit(AtomicYieldOp.build(operands=new.results))
    generic = GenericAtomicRMWOp.build(
        operands=[op.memref, op.indices], result_types=[op.result.type], regions=[Region(body)]
    )
    replace(op, Emitter.in_front_of(op)(generic).results)
    _generic_atomic_rmw(generic)


def _generic_atomic_rmw(op: Operation) -> None:
    assert isinstance(op, GenericAtomicRMWOp)
    emit = Emitter.in_front_of(op)
    first = emit(memref.LoadOp.get(op.memref, op.indices)).res
    compute, again = op.detach_region(op.body), Block(arg_types=[first.type])
    op.add_region(Region(Block()))
    now, end = compute.block.args[0], terminator_of(compute.block)
    test = Emitter.in_front_of(end)
    exchange = test(RuntimeCompareExchangeOp(now, end.operands[0], op.memref, op.indices))
    missed = test(arith.XOrIOp(exchange.is_done, test(truth(True)).result)).result
    test(scf.ConditionOp(missed, exchange.found))
    erase(end)
    Emitter.at_end(again, op.location)(scf.YieldOp(again.args[0]))
    loop = emit(scf.WhileOp([first], [first.type], compute, [again]))
    loop.attributes[UNINTERRUPTED] = UnitAttr()
    replace(op, loop.results)


def _alloca_scope(op: Operation) -> None:
    assert isinstance(op, AllocaScopeOp)
    region = op.detach_region(op.scope)
    op.add_region(Region(Block()))
    for block in region.blocks:
        end = terminator_of(block)
        if isinstance(end, memref.AllocaScopeReturnOp):
            Emitter.in_front_of(end)(scf.YieldOp(*end.operands))
            erase(end)
    scope = scf.ExecuteRegionOp.build(result_types=[op.result_types], regions=[region])
    replace(op, Emitter.in_front_of(op)(scope).results)


_EXPANSIONS: dict[str, Callable[[Operation], None]] = {
    AllocaScopeOp.name: _alloca_scope,
    AtomicRMWOp.name: _atomic_rmw,
    GenericAtomicRMWOp.name: _generic_atomic_rmw,
    ReallocOp.name: _realloc,
    ReshapeOp.name: _reshape,
}
