"""Start a step of its own, for `--explore`, at each effect that other tasks may notice.

    func.call @printI64(%x) : (i64) -> ()      =>    %t = async.execute { async.yield }
                                                     async.await %t : !async.token
                                                     call @external.touch(%0, %notes, %line)
                                                     func.call @printI64(%x) : (i64) -> ()

Without it, a schedule runs a task in one piece from one await to the next, while the workers of a
real run may do anything between two of its effects.  At an await of an empty task, a coroutine goes
back to the steps that are ready; code that no task runs blocks there, and goes on when the empty
task is chosen.

The call says what the step touches, so that two steps are tried in both orders only if they touch
the same. Buffers that only one function has need no step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCompareExchangeOp,
    RuntimeFreeBufferOp,
    RuntimeIsLiveOp,
)
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.runtime import RuntimeIsErrorOp
from tfrt_nb.dialects.async_.tasks import AwaitOp, ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.upstream.printing import PrintOp
from tfrt_nb.internal_errors import location_of
from tfrt_nb.passes.buffers.guard_buffers import ON_HEAP, accessed, escapes, root
from tfrt_nb.passes.buffers.guard_views import bytes_of, dimension_size
from tfrt_nb.passes.control_flow import Emitter, call, operations_in
from tfrt_nb.passes.lowering.coroutines import WAITING

TOUCH = "external.touch"
"""`(address, kind, line)`: the step has this effect, which is on that line of the program."""
OUTPUT, READ, WRITE, MEMORY, STATE = range(5)
"""Kinds of effects: to print or call Python, to read or write the element at the address, to use
any memory, to ask whether an object is an error."""
_ELEMENT = (memref.LoadOp, memref.StoreOp, memref.AtomicRMWOp, RuntimeCompareExchangeOp)


@dataclass(frozen=True)
class Interleave(ModulePass):
    """Lets others run in front of prints, calls of Python, questions, and accesses to shared
    buffers.

    Buffers of `memref.alloca` outside of loops and branches are on the heap: only there, what is
    never written can be told from zeros.
    """

    name: ClassVar[str] = "async-interleave"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = operations_in(op)
        for one in _frame_buffers(op):
            one.attributes[ON_HEAP] = UnitAttr()
        if not _has_noticed_effects(op):
            return
        declared = {
            one.sym_name.data for one in op.ops if isinstance(one, FuncOp) and one.is_declaration
        }
        frees = any(isinstance(one, RuntimeFreeBufferOp) for one in operations)
        touch = FuncOp.external(TOUCH, [IndexType()] * 3, [])
        op.body.block.add_op(touch)
        for one in operations:
            kind = _kind(one, declared, frees=frees)
            if kind is not None:
                _separate(one, kind, touch)


def is_needed(module: ModuleOp) -> bool:
    """Whether the pass would change anything."""
    return bool(_frame_buffers(module)) or _has_noticed_effects(module)


def _frame_buffers(module: ModuleOp) -> list[Operation]:
    """Each `memref.alloca` that a function or a task executes once at most: on the heap, more
    would add up.
    """
    return [
        op
        for op in operations_in(module)
        if isinstance(op, memref.AllocaOp)
        and (block := op.parent_block()) is not None
        and isinstance(block.parent_op(), FuncOp | AsyncFuncOp | ExecuteOp)
        and block.prev_block is None
    ]


def _has_noticed_effects(module: ModuleOp) -> bool:
    """Whether tasks may have effects, or may be asked for; what only code outside of tasks does,
    no task notices.
    """
    return any(
        op.name in _ASKING or (op.name.startswith(_NOTICED) and _is_in_task(op))
        for op in operations_in(module)
    )


_ASKING = frozenset({RuntimeIsErrorOp.name, "scf.parallel"})
_NOTICED = ("func.call", "linalg.", "memref.", "vector.")


def _kind(op: Operation, declared: set[str], *, frees: bool) -> int | None:
    """The kind of an operation's effect; None if others cannot notice it.  `frees`: buffers are
    freed.
    """
    match op:
        case PrintOp():
            return OUTPUT
        case CallOp() if op.callee.root_reference.data in declared:
            buffers = (MemRefType, UnrankedMemRefType)
            return MEMORY if any(isinstance(t, buffers) for t in op.operand_types) else OUTPUT
        case RuntimeIsErrorOp():
            return None if _is_awaited(op) else STATE
        case RuntimeFreeBufferOp():
            return MEMORY
        case RuntimeIsLiveOp():
            return MEMORY if frees else None
        case _:
            return _access(op)


def _is_in_task(op: Operation) -> bool:
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, ExecuteOp | AsyncFuncOp):
        outer = outer.parent_op()
    return outer is not None


def _access(op: Operation) -> int | None:
    buffers = [root(buffer) for buffer in accessed(op)]
    made = (memref.AllocOp, memref.AllocaOp)
    if not any(not isinstance(one.owner, made) or escapes(one, one.owner) for one in buffers):
        return None
    if not isinstance(op, _ELEMENT) or not isinstance(_buffer(op).type.layout, NoneAttr):
        return MEMORY
    return READ if isinstance(op, memref.LoadOp) else WRITE


def _is_awaited(op: RuntimeIsErrorOp) -> bool:
    """Whether the answer is known, as the object is awaited in front of the question."""
    before = op.prev_op
    while before is not None and not (type(before) in WAITING and op.operand in before.operands):
        before = before.prev_op
    return before is not None


def _separate(op: Operation, kind: int, touch: FuncOp) -> None:
    emit = Emitter.in_front_of(op)
    empty = Emitter.at_end(Block(), op.location)
    empty(YieldOp())
    emit(AwaitOp(emit(ExecuteOp([], [], [], Region(empty.block))).token))
    address = _address(op, emit) if kind in (READ, WRITE) else emit.integer(0)
    place = location_of(op)
    emit(call(touch, [address, emit.integer(kind), emit.integer(place.line if place else 0)]))


def _address(op: Operation, emit: Emitter) -> SSAValue:
    """The address of the element that an operation of `_ELEMENT` uses."""
    buffer = _buffer(op)
    sizes = buffer.type.get_shape()
    number = emit.integer(0)
    # The indices are the last operands.
    indices = op.operands[len(op.operands) - len(sizes) :]
    for dimension, (index, size) in enumerate(zip(indices, sizes, strict=True)):
        known = dimension_size(emit, buffer, dimension, size)
        number = emit(arith.AddiOp(emit(arith.MuliOp(number, known)).result, index)).result
    offset = emit(arith.MuliOp(number, emit.integer(bytes_of(buffer.type.element_type)))).result
    start = emit(memref.ExtractAlignedPointerAsIndexOp.get(buffer)).aligned_pointer
    return emit(arith.AddiOp(start, offset)).result


def _buffer(op: Operation) -> SSAValue[MemRefType]:
    """The buffer of an operation of `_ELEMENT`."""
    found = op.buffer if isinstance(op, RuntimeCompareExchangeOp) else op.memref  # type: ignore[attr-defined]
    return cast(SSAValue[MemRefType], found)
