"""Lower `linalg` operations on buffers to loops over their elements.

    linalg.fill ins(%x : f32) outs(%m : memref<?xf32>)

    =>  %size = memref.dim %m, %zero
        scf.parallel (%i) = (%zero) to (%size) step (%one) {
          memref.store %x, %m[%i]
        }

Parallel dimensions become one `scf.parallel`, and reductions become a nest of `scf.for` inside it.
If the sizes of the buffers do not match, MLIR leaves the behavior undefined. This pass inserts an
assertion that compares the sizes before the loops. An access whose indices are loop indices then
needs no further check. MLIR's pass is described at
https://mlir.llvm.org/docs/Passes/#-convert-linalg-to-parallel-loops.

The pass `async-expand-buffers` in this module expands complex `memref` operations.

    %old = memref.generic_atomic_rmw     =>  %first = memref.load %m[%i]
        %m[%i] {                             %old = scf.while (%now = %first) {
      ^bb0(%now: f32):                         %new = arith.mulf %now, %two
      %new = arith.mulf %now, %two             %found, %done = compare_exchange %now, %new, %m[%i]
      memref.atomic_yield %new                 condition(not %done) %found
    }                                        } do { yield }

A `memref.atomic_rmw` for which the processor has no instruction first becomes a
`memref.generic_atomic_rmw`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    UNKNOWN_LOC,
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeCompareExchangeOp
from tfrt_nb.dialects.async_.upstream.arithmetic import (
    AtomicRMWOp,
    AtomicYieldOp,
    GenericAtomicRMWOp,
)
from tfrt_nb.dialects.async_.upstream.loops import ParallelOp, ReduceOp
from tfrt_nb.passes.buffers.guard_buffers import IN_BOUNDS
from tfrt_nb.passes.buffers.guard_views import dimension_size
from tfrt_nb.passes.control_flow import (
    Emitter,
    erase,
    exchange,
    fail,
    operations_in,
    replace,
    terminator_of,
    truth,
)
from tfrt_nb.passes.lowering.coroutines import UNINTERRUPTED

if TYPE_CHECKING:
    from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

_ARITHMETIC: dict[AffineBinaryOpKind, type[arith.SignlessIntegerBinaryOperation]] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}
_NUMBER = IntegerType | AnyFloat
# The conversions of signed and of unsigned integers: to a wider type, to a float, and from a float.
_CASTS: tuple[tuple[type[Operation], ...], ...] = (
    (arith.ExtSIOp, arith.SIToFPOp, arith.FPToSIOp),
    (arith.ExtUIOp, arith.UIToFPOp, arith.FPToUIOp),
)


@dataclass(frozen=True)
class ConvertLinalgToParallelLoops(ModulePass):
    """Lowers every `linalg` operation."""

    name: ClassVar[str] = "convert-linalg-to-parallel-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            if nested.name.startswith("linalg.") and nested.name != "linalg.yield":
                _lower(nested)


def _lower(op: Operation) -> None:
    """Replace an operation; reject operations on tensors and operations that are not structured."""
    # Imported here because most programs do not need it.
    from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

    if not isinstance(op, LinalgStructuredOperation):
        fail(op, f"'{op.name}' cannot be compiled")
    for value in (*op.operands, *op.results):
        if not isinstance(value.type, MemRefType | AnyFloat | IntegerType | IndexType):
            fail(op, f"'{op.name}' can be compiled for buffers, not for '{value.type}'")
    emit = Emitter.in_front_of(op)
    inner, indices = _loops(op, emit, _sizes(op, emit))
    _fill(op, inner, indices)
    erase(op)


def _maps(op: LinalgStructuredOperation) -> list[AffineMap]:
    """Return, for each operand, the map from loop indices to element indices."""
    return [one.data for one in op.get_indexing_maps()]


def _sizes(op: LinalgStructuredOperation, emit: Emitter) -> list[SSAValue]:
    """Return the trip count of each loop, and assert that the buffers' dimensions match.

    All dimensions that one loop indexes must have the same size. The verifier has already compared
    the static sizes.
    """
    found: dict[int, tuple[SSAValue, int]] = {}
    for number, (buffer, map_) in enumerate(zip(op.operands, _maps(op), strict=True)):
        for dimension, expression in enumerate(map_.results):
            if not isinstance(expression, AffineDimExpr):
                continue
            assert isinstance(buffer.type, MemRefType)
            static = buffer.type.get_shape()[dimension]
            wanted, known = found.get(expression.position, (None, DYNAMIC_INDEX))
            if wanted is not None and static != DYNAMIC_INDEX and known != DYNAMIC_INDEX:
                continue
            size = dimension_size(emit, buffer, dimension, static)
            if wanted is None:
                found[expression.position] = size, static
                continue
            fits = emit(arith.CmpiOp(size, wanted, "eq")).result
            text = (
                f"the size of dimension {dimension} of operand #{number} does not match the others"
            )
            emit(cf.AssertOp(fits, text))
    return [found[loop][0] for loop in range(op.get_num_loops())]


def _loops(
    op: LinalgStructuredOperation, emit: Emitter, sizes: Sequence[SSAValue]
) -> tuple[Emitter, list[SSAValue]]:
    """Emit empty loops that run `sizes` times.

    Return an emitter for the body of the innermost loop, and the loop indices.
    """
    kinds = [one.data.value for one in op.get_iterator_types()]
    parallel = [loop for loop, kind in enumerate(kinds) if kind == "parallel"]
    indices: dict[int, SSAValue] = {}
    zero, one = (emit.integer(n) for n in (0, 1))
    if parallel:
        body = Block(arg_types=[IndexType()] * len(parallel))
        lower, upper = [zero] * len(parallel), [sizes[loop] for loop in parallel]
        emit(ParallelOp(lower, upper, [one] * len(parallel), Region(body), ()))
        indices |= zip(parallel, body.args, strict=True)
        # Insert the inner loops and the body before the terminator.
        emit = Emitter.in_front_of(Emitter.at_end(body, op.location)(ReduceOp()))
    for loop, kind in enumerate(kinds):
        if kind != "parallel":
            body = Block(arg_types=[IndexType()])
            emit(scf.ForOp(zero, sizes[loop], one, (), body))
            indices[loop] = body.args[0]
            emit = Emitter.in_front_of(Emitter.at_end(body, op.location)(scf.YieldOp()))
    return emit, [indices[loop] for loop in range(len(kinds))]


def _fill(op: LinalgStructuredOperation, emit: Emitter, indices: Sequence[SSAValue]) -> None:
    """Move the body of `op` into the loops; load its arguments and store its results."""
    maps = _maps(op)
    body = op.body.block
    for argument, operand, map_ in zip(list(body.args), op.operands, maps, strict=True):
        if argument.uses:
            argument.replace_all_uses_with(_element(op, emit, operand, map_, indices))
    end = terminator_of(body)
    for nested in list(body.ops):
        if nested is not end:
            nested.detach()  # type: ignore[no-untyped-call]
            if nested.location is UNKNOWN_LOC:  # the body comes from a named operation
                nested.location = op.location
            emit.put(nested)
    for value, buffer, map_ in zip(end.operands, op.outputs, maps[len(op.inputs) :], strict=True):
        assert isinstance(buffer.type, MemRefType)
        converted = _converted(op, emit, value, buffer.type.element_type)
        _mark(emit(memref.StoreOp.get(converted, buffer, _position(op, emit, map_, indices))), map_)


def _element(
    op: Operation, emit: Emitter, operand: SSAValue, map_: AffineMap, indices: Sequence[SSAValue]
) -> SSAValue:
    if not isinstance(operand.type, MemRefType):
        return operand
    load = emit(memref.LoadOp.get(operand, _position(op, emit, map_, indices)))
    _mark(load, map_)
    return load.res


def _mark(access: Operation, map_: AffineMap) -> None:
    """Mark an access as in bounds if all its indices are loop indices.

    An assertion before the loops has compared the loops' sizes with the buffers' sizes.
    """
    if all(isinstance(expression, AffineDimExpr) for expression in map_.results):
        access.attributes[IN_BOUNDS] = UnitAttr()


def _position(
    op: Operation, emit: Emitter, map_: AffineMap, indices: Sequence[SSAValue]
) -> list[SSAValue]:
    return [_index(op, emit, expression, indices) for expression in map_.results]


def _index(
    op: Operation, emit: Emitter, expression: AffineExpr, indices: Sequence[SSAValue]
) -> SSAValue:
    match expression:
        case AffineDimExpr():
            return indices[expression.position]
        case AffineConstantExpr():
            return emit.integer(expression.value)
        case AffineBinaryOpExpr() if expression.kind in _ARITHMETIC:
            left = _index(op, emit, expression.lhs, indices)
            right = _index(op, emit, expression.rhs, indices)
            return emit(_ARITHMETIC[expression.kind](left, right)).result
        case _:
            fail(op, f"'{expression}' cannot be compiled as an index")


def _converted(op: Operation, emit: Emitter, value: SSAValue, target: Attribute) -> SSAValue:
    """Convert `value` to the type `target`, as named `linalg` operations convert their operands."""
    source = value.type
    if source == target:
        return value
    if (
        not isinstance(source, _NUMBER)
        or not isinstance(target, _NUMBER)
        # `arith` cannot convert an f16 to a bf16, nor the other way.
        or (
            isinstance(source, AnyFloat)
            and isinstance(target, AnyFloat)
            and source.bitwidth == target.bitwidth
        )
    ):
        fail(op, f"'{source}' cannot be converted to '{target}'")
    is_wider = source.bitwidth > target.bitwidth
    extend, to_float, to_integer = _CASTS["cast_unsigned" in str(op.attributes.get("cast"))]
    match isinstance(source, IntegerType), isinstance(target, IntegerType):
        case True, True:
            kind: type[Operation] = arith.TruncIOp if is_wider else extend
        case True, False:
            kind = to_float
        case False, True:
            kind = to_integer
        case _:
            kind = arith.TruncFOp if is_wider else arith.ExtFOp
    return emit(kind.create(operands=[value], result_types=[target])).results[0]


_BY_LOOP: dict[str, type[Operation]] = {"mulf": arith.MulfOp, "muli": arith.MuliOp}
"""The kinds of `memref.atomic_rmw` that the processor cannot do atomically."""


@dataclass(frozen=True)
class ExpandBuffers(ModulePass):
    """Replaces the operations that are keys of `_EXPANSIONS`."""

    name: ClassVar[str] = "async-expand-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            expand = _EXPANSIONS.get(nested.name)
            if expand is not None:
                expand(nested)


def _atomic_rmw(op: AtomicRMWOp) -> None:
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
    exchange(op, generic)
    _generic_atomic_rmw(generic)


def _generic_atomic_rmw(op: GenericAtomicRMWOp) -> None:
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
    # The loop repeats only if another task has changed the element in between, so it needs no check
    # for cancellation.
    loop.attributes[UNINTERRUPTED] = UnitAttr()
    replace(op, loop.results)


_EXPANSIONS: dict[str, Callable[[Any], None]] = {
    AtomicRMWOp.name: _atomic_rmw,
    GenericAtomicRMWOp.name: _generic_atomic_rmw,
}
