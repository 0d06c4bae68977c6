"""Operations of `linalg` on buffers become loops over their elements.

    linalg.fill ins(%x : f32) outs(%m : memref<?xf32>)

    =>  %size = memref.dim %m, %zero
        scf.parallel (%i) = (%zero) to (%size) step (%one) {
          memref.store %x, %m[%i]
        }

Parallel dimensions are one `scf.parallel`, reductions a nest of `scf.for` in it.  MLIR leaves it
undefined what happens when the sizes of buffers do not fit each other; here that is asserted in
front of the loops, which then need no check of each access, as far as indices are the loops' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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

from tfrt_nb.dialects.async_.upstream.loops import ParallelOp, ReduceOp
from tfrt_nb.passes.buffers.guard_buffers import IN_BOUNDS
from tfrt_nb.passes.buffers.guard_views import dimension_size
from tfrt_nb.passes.control_flow import Emitter, erase, operations_in, terminator_of
from tfrt_nb.passes.errors import fail

if TYPE_CHECKING:
    from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

_ARITHMETIC: dict[AffineBinaryOpKind, type[arith.SignlessIntegerBinaryOperation]] = {
    AffineBinaryOpKind.Add: arith.AddiOp,
    AffineBinaryOpKind.Mul: arith.MuliOp,
    AffineBinaryOpKind.FloorDiv: arith.FloorDivSIOp,
    AffineBinaryOpKind.CeilDiv: arith.CeilDivSIOp,
}
_NUMBER = IntegerType | AnyFloat


@dataclass(frozen=True)
class ConvertLinalgToParallelLoops(ModulePass):
    """Lowers every operation of `linalg`."""

    name: ClassVar[str] = "convert-linalg-to-parallel-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            if nested.name.startswith("linalg.") and nested.name != "linalg.yield":
                _lower(nested)


def _lower(op: Operation) -> None:
    """Replace an operation.  What only tensors have, or is no structured operation, is refused."""
    # Imported here: most programs do without.
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
    """From the indices of the loops to those of each operand's elements."""
    return [one.data for one in op.get_indexing_maps()]


def _sizes(op: LinalgStructuredOperation, emit: Emitter) -> list[SSAValue]:
    """How many rounds each loop has, which is asserted to be the size of all dimensions it runs
    over.

    Sizes that are known were verified.
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
            text = f"the size of dimension {dimension} of operand #{number} does not fit the others"
            emit(cf.AssertOp(fits, text))
    return [found[loop][0] for loop in range(op.get_num_loops())]


def _loops(
    op: LinalgStructuredOperation, emit: Emitter, sizes: Sequence[SSAValue]
) -> tuple[Emitter, list[SSAValue]]:
    """Empty loops of these sizes: what emits into the innermost one, and the index of each."""
    kinds = [one.data.value for one in op.get_iterator_types()]
    parallel = [loop for loop, kind in enumerate(kinds) if kind == "parallel"]
    indices: dict[int, SSAValue] = {}
    zero, one = (emit.integer(n) for n in (0, 1))
    if parallel:
        body = Block(arg_types=[IndexType()] * len(parallel))
        lower, upper = [zero] * len(parallel), [sizes[loop] for loop in parallel]
        emit(ParallelOp(lower, upper, [one] * len(parallel), Region(body), ()))
        indices |= zip(parallel, body.args, strict=True)
        emit = Emitter.in_front_of(Emitter.at_end(body, op.location)(ReduceOp()))
    for loop, kind in enumerate(kinds):
        if kind != "parallel":
            body = Block(arg_types=[IndexType()])
            emit(scf.ForOp(zero, sizes[loop], one, (), body))
            indices[loop] = body.args[0]
            emit = Emitter.in_front_of(Emitter.at_end(body, op.location)(scf.YieldOp()))
    return emit, [indices[loop] for loop in range(len(kinds))]


def _fill(op: LinalgStructuredOperation, emit: Emitter, indices: Sequence[SSAValue]) -> None:
    """Put the body of the operation into the loops: it gets elements, and gives those of the
    results.
    """
    maps = _maps(op)
    body = op.body.block
    for argument, operand, map_ in zip(list(body.args), op.operands, maps, strict=True):
        if argument.uses:
            argument.replace_all_uses_with(_element(op, emit, operand, map_, indices))
    end = terminator_of(body)
    for nested in list(body.ops):
        if nested is not end:
            nested.detach()  # type: ignore[no-untyped-call]
            if nested.location is UNKNOWN_LOC:  # that of a named operation
                nested.location = op.location
            emit.put(nested)
    for value, buffer, map_ in zip(end.operands, op.outputs, maps[len(op.inputs) :], strict=True):
        assert isinstance(buffer.type, MemRefType)
        converted = _converted(op, emit, value, buffer.type.element_type)
        store = memref.StoreOp.get(converted, buffer, _position(op, emit, map_, indices))
        _mark(emit(store), map_)


def _element(
    op: Operation, emit: Emitter, operand: SSAValue, map_: AffineMap, indices: Sequence[SSAValue]
) -> SSAValue:
    if not isinstance(operand.type, MemRefType):
        return operand
    load = emit(memref.LoadOp.get(operand, _position(op, emit, map_, indices)))
    _mark(load, map_)
    return load.res


def _mark(access: Operation, map_: AffineMap) -> None:
    """The sizes of dimensions that loops run over were compared."""
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
    """The value as a number of the type: named operations convert what they are given."""
    source = value.type
    if source == target:
        return value
    if not isinstance(source, _NUMBER) or not isinstance(target, _NUMBER):
        fail(op, f"'{source}' cannot be converted to '{target}'")
    is_wider = source.bitwidth > target.bitwidth
    match isinstance(source, IntegerType), isinstance(target, IntegerType):
        case True, True:
            kind: type[Operation] = arith.TruncIOp if is_wider else arith.ExtSIOp
        case True, False:
            kind = arith.SIToFPOp
        case False, True:
            kind = arith.FPToSIOp
        case _:
            kind = arith.TruncFOp if is_wider else arith.ExtFOp
    return emit(kind.create(operands=[value], result_types=[target])).results[0]
