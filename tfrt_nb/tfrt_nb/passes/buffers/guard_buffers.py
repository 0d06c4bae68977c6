"""Uses of buffers are preceded by assertions that the buffers are live, and indices are checked in
front of loops.

    scf.for %i = %lo to %hi step %one {        %live = async.runtime.is_live %m
      %x = memref.load %m[%i]             =>   cf.assert %live or %lo >= %hi
    }                                          cf.assert 0 <= %lo and %hi <= %size or %lo >= %hi
                                               scf.for ... { memref.load %m[%i] {in_bounds} }

A buffer is asked once on a way, and again behind what may give buffers back: `memref.dealloc`,
operations on tasks, calls of functions with such operations.  What every round of a loop uses is
asked for in front of it, which lets LLVM vectorize the loop; not so if the loop frees buffers,
prints, or calls what does: the error would come before the output of the first rounds.  Several
blocks of a region ask each for itself.

Not asked are global buffers, which never end, and buffers of `memref.alloca` that only their
function has. A store is preceded by the assertion that the buffer may be changed.  Behind an
allocation it is asserted that there was memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
    UnitAttr,
    UnrankedMemRefType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCompareExchangeOp,
    RuntimeFreeBufferOp,
    RuntimeIsLiveOp,
    RuntimeIsWritableOp,
)
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.passes.buffers.guard_views import bytes_of, dimension_size
from tfrt_nb.passes.control_flow import Emitter, defining_block, integer_of, operations_in
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.lowering.call_graph import callees, with_callers

IN_BOUNDS = "in_bounds"
"""The attribute of an access to a buffer whose indices are known to be right."""
_GONE = "the buffer is used after its end: it was deallocated, or its function has returned"
_NO_MEMORY = "there is no memory for the buffer"
_CONSTANT = "the buffer is constant"
_MAX_IN_FRAME = 2**15
"""Buffers of `memref.alloca` with more bytes are on the heap."""
_MAX_IN_FRAMES = 2**18
"""So many bytes are in the frames of all functions of a module: calls in each other do not use
up the stack.
"""
ON_HEAP = "on_heap"
"""The attribute of a buffer of `memref.alloca` that could be in a frame, if there were room."""
ALIGNMENT = 64
"""Bytes: a cache line, and enough for every vector type."""

_VIEWS = frozenset(
    f"memref.{name}" for name in ("assume_alignment", "cast", "memory_space_cast", "subview")
)
"""They give a buffer that lives as long as their operand."""
_BASE = memref.ExtractStridedMetaDataOp.name
"""It gives one of the same memory, too, but that has ended if there are no elements."""
_NO_ACCESSES = _VIEWS.union(
    f"memref.{name}"
    for name in (
        *("dealloc", "dim", "extract_aligned_pointer_as_index", "extract_strided_metadata"),
        *("get_global", "rank"),
    )
)
_READS = frozenset({"memref.load", CallOp.name})
_EXCHANGE = RuntimeCompareExchangeOp.name
_KEEPS_BUFFERS = frozenset(
    {"async.yield", "async.return", "async.create_group", _EXCHANGE, "async.runtime.is_live"}
)
"""Operations of `async` that neither start tasks nor wait for any."""
_QUIET_DIALECTS = frozenset({"arith", "cf", "func", "math", "memref", "scf", "ub"})
_BUFFER = MemRefType | UnrankedMemRefType


@dataclass(frozen=True)
class GuardBuffers(ModulePass):
    """Runs on structured operations, before parallel loops become tasks."""

    name: ClassVar[str] = "async-guard-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = operations_in(op)
        if any(map(_buffers_of, operations)):
            _limit_frames([one for one in operations if isinstance(one, memref.AllocaOp)])
            _Guards(op).guard()


def accessed(op: Operation) -> list[SSAValue]:
    """The buffers whose elements an operation reads or writes."""
    dialect = op.name.partition(".")[0]
    if dialect == "memref":
        if op.name in _NO_ACCESSES:
            return []
    elif op.name != _EXCHANGE:
        return []
    return _buffers_of(op)


def _buffers_of(op: Operation) -> list[SSAValue]:
    return [operand for operand in op.operands if isinstance(operand.type, _BUFFER)]


def _written(op: Operation) -> list[SSAValue]:
    """The buffers whose elements an operation changes."""
    if op.name in _READS:
        return []
    return [op.operands[1]] if op.name == memref.CopyOp.name else accessed(op)


def root(buffer: SSAValue) -> SSAValue:
    """The buffer that this one is a view of: they live as long."""
    owner = buffer.owner
    while isinstance(owner, Operation) and owner.name in _VIEWS:
        buffer = owner.operands[0]
        owner = buffer.owner
    return buffer


def is_on_heap(op: memref.AllocaOp) -> bool:
    """Whether a buffer of `memref.alloca` cannot be in the function's frame.

    There, each execution of the operation gets the same memory, and nothing would end with the
    function.
    """
    is_large = bool(op.dynamic_sizes) or _bytes_in(op) > _MAX_IN_FRAME
    return (
        is_large
        or alignment_of(op) > ALIGNMENT
        or ON_HEAP in op.attributes
        or escapes(op.memref, op)
    )


def _bytes_in(op: memref.AllocaOp) -> int:
    """The size of a buffer of known sizes."""
    assert isinstance(op.memref.type, MemRefType)
    return math.prod(op.memref.type.get_shape()) * bytes_of(op.memref.type.element_type)


def _limit_frames(buffers: Sequence[memref.AllocaOp]) -> None:
    """Those for which frames have no room are on the heap."""
    taken = 0
    for op in buffers:
        if is_on_heap(op):
            continue
        taken += _bytes_in(op)
        if taken > _MAX_IN_FRAMES:
            op.attributes[ON_HEAP] = UnitAttr()


def alignment_of(op: memref.AllocOp | memref.AllocaOp) -> int:
    """What the elements of a buffer are aligned to, in bytes: more than every buffer only where
    it says so.
    """
    return ALIGNMENT if op.alignment is None else max(ALIGNMENT, op.alignment.value.data)


def escapes(buffer: SSAValue, made: Operation) -> bool:
    """Whether others than the function, on the thread that made the buffer, may have it."""
    for use in buffer.uses:
        op = use.operation
        if _is_in_task(op, made):
            return True
        if op.name in _VIEWS or op.name == _BASE:
            if any(isinstance(r.type, _BUFFER) and escapes(r, made) for r in op.results):
                return True
        elif op.name not in _NO_ACCESSES and not accessed(op) and op.name not in _ASKS:
            return True
    return False


_ASKS = frozenset({RuntimeIsLiveOp.name, RuntimeIsWritableOp.name, RuntimeFreeBufferOp.name})


def _is_in_task(op: Operation, made: Operation) -> bool:
    """Whether another thread may execute an operation that uses what `made` makes."""
    parent = op.parent_op()
    while parent is not None and parent is not made.parent_op():
        if isinstance(parent, scf.ParallelOp) or parent.name.startswith("async."):
            return True
        parent = parent.parent_op()
    return False


def assert_allocated(emit: Emitter, buffer: SSAValue) -> None:
    """There was memory for a new buffer."""
    emit(cf.AssertOp(emit(RuntimeIsLiveOp(buffer)).result, _NO_MEMORY))


@dataclass
class _Known:
    """The roots that are live, and those that may be written: at some point of a way."""

    live: set[SSAValue] = field(default_factory=set)
    writable: set[SSAValue] = field(default_factory=set)

    def add(self, other: _Known) -> None:
        """Something else is known, too."""
        self.live |= other.live
        self.writable |= other.writable

    def copy(self, *, is_later: bool = False) -> _Known:
        """What is known at the start of a region; `is_later`: something may have ended until
        then.
        """
        return _Known(set() if is_later else set(self.live), set(self.writable))


_Bounds = tuple[tuple[SSAValue, SSAValue], ...]


@dataclass
class _Nest:
    """Loops in front of whose outermost, `outer`, assertions are put.

    `bounds` are those of all loops, `variables` the first value and the limit of what counts by 1.
    """

    outer: Operation
    asserted: set[tuple[object, ...]]
    bounds: _Bounds = ()
    variables: Mapping[SSAValue, tuple[SSAValue, SSAValue]] = field(default_factory=dict)

    def with_loop(self, loop: scf.ForOp | scf.ParallelOp) -> _Nest | None:
        """The nest with a loop in its innermost one; None if its rounds are not known in front."""
        if isinstance(loop, scf.ForOp):
            lower, upper, steps = [loop.lb], [loop.ub], [loop.step]
        else:
            lower, upper, steps = [*loop.lowerBound], [*loop.upperBound], [*loop.step]
        pairs = list(zip(lower, upper, strict=True))
        if not all(self.is_outside(value) for pair in pairs for value in pair):
            return None
        known = [(integer_of(low), integer_of(high)) for low, high in pairs]
        if any(a is not None and b is not None and a >= b for a, b in known):
            return None  # there are no rounds
        open_ = [pair for pair, (a, b) in zip(pairs, known, strict=True) if a is None or b is None]
        variables = dict(self.variables)
        for variable, pair, step in zip(loop.regions[0].block.args, pairs, steps, strict=False):
            if integer_of(step) == 1:  # the last one is then the limit less 1
                variables[variable] = pair
        return _Nest(self.outer, self.asserted, (*self.bounds, *open_), variables)

    def is_outside(self, value: SSAValue) -> bool:
        """Whether a value is known in front of the loops."""
        block: Block | None = defining_block(value)
        while block is not None:
            parent = block.parent_op()
            if parent is self.outer:
                return False
            block = None if parent is None else parent.parent
        return True

    def at(self, op: Operation) -> Emitter:
        """In front of the loops, for assertions about `op`."""
        assert self.outer.parent is not None
        return Emitter(self.outer.parent, self.outer, op.location)

    def expect(self, emit: Emitter, ok: SSAValue, message: str) -> None:
        """Assert, unless there are no rounds."""
        for low, high in self.bounds:
            is_empty = emit(arith.CmpiOp(low, high, "sge")).result
            ok = emit(arith.OrIOp(ok, is_empty)).result
        emit(cf.AssertOp(ok, message))


def _frees(op: Operation) -> bool:
    """Whether an operation, apart from calls, may give buffers back, or lets tasks do so."""
    if op.name == memref.DeallocOp.name:
        return True
    return op.name.startswith("async.") and op.name not in _KEEPS_BUFFERS


def _speaks(op: Operation) -> bool:
    """Whether an operation, apart from calls, may do what is seen outside, or wait for it."""
    dialect = op.name.partition(".")[0]
    return dialect not in _QUIET_DIALECTS and op.name != _EXCHANGE


class _Guards:
    def __init__(self, module: ModuleOp) -> None:
        self._functions = {
            op.sym_name.data: op
            for op in module.body.block.ops
            if isinstance(op, FuncOp | AsyncFuncOp) and op.body.blocks
        }
        self._constants = {
            op.sym_name.data
            for op in module.body.block.ops
            if isinstance(op, memref.GlobalOp) and op.constant is not None
        }
        callers: dict[str, list[str]] = {}
        for caller, names in callees(module).items():
            for name in names:
                callers.setdefault(name, []).append(caller)
        inside = {name: operations_in(op) for name, op in self._functions.items()}
        # What is not defined here gives nothing back, but may print.
        freeing = [name for name, ops in inside.items() if any(map(_frees, ops))]
        speaking = [name for name, ops in inside.items() if any(map(_speaks, ops))]
        self._freeing = with_callers(freeing, callers)
        self._speaking = with_callers([*speaking, *(callers.keys() - self._functions)], callers)
        self._effects: dict[Operation, tuple[bool, bool]] = {}
        self._in_rounds: dict[Operation, _Known] = {}
        """What is checked in front of loops around a loop, unless one of them has no rounds."""

    def _effects_of(self, op: Operation) -> tuple[bool, bool]:
        """Whether an operation with what is in it may give buffers back, and whether it is seen
        outside.
        """
        known = self._effects.get(op)
        if known is None:
            frees, speaks = _frees(op), _speaks(op)
            if isinstance(op, CallOp):
                name = op.callee.root_reference.data
                frees, speaks = name in self._freeing, name in self._speaking
            for region in op.regions:
                for block in region.blocks:
                    for nested in block.ops:
                        one, other = self._effects_of(nested)
                        frees, speaks = frees or one, speaks or other
            known = self._effects[op] = frees, speaks
        return known

    def guard(self) -> None:
        for function in self._functions.values():
            for block in function.body.blocks:
                self._walk(block, _Known())

    def _walk(self, block: Block, known: _Known) -> None:
        """`known` is what holds at the start of the block, and then what holds at its end."""
        for op in list(block.ops):
            self._check_constants(op)
            nest = _Nest(op, set())
            for buffer in self._accessed(op):
                self._ask(nest, op, buffer, known)
            if isinstance(op, memref.AllocOp | memref.AllocaOp):
                if isinstance(op, memref.AllocOp) or is_on_heap(op):
                    assert_allocated(Emitter.behind(op), op.memref)
                known.live.add(op.memref)
                known.writable.add(op.memref)
            frees, speaks = self._effects_of(op)
            inside = known
            if isinstance(op, scf.ForOp | scf.ParallelOp) and not (frees or speaks):
                inside = self._hoist(nest, op, known)
            if isinstance(op, scf.WhileOp) and not (frees or speaks):
                for nested in op.before_region.block.ops:  # which is executed at least once
                    for buffer in self._accessed(nested):
                        if nest.is_outside(root(buffer)):
                            self._ask(nest, nested, buffer, known)
            for region in op.regions:
                for index, nested in enumerate(region.blocks):
                    # What is live before a loop, or a task, that frees need not be so in its second
                    # round.
                    is_now = isinstance(op, scf.IfOp | scf.IndexSwitchOp) and index == 0
                    self._walk(nested, inside.copy(is_later=frees and not is_now))
            if frees:
                known.live.clear()

    def _hoist(self, nest: _Nest, loop: scf.ForOp | scf.ParallelOp, known: _Known) -> _Known:
        """What every round of a loop does is checked in front of it; what is known in its rounds.

        That need not be so behind the loop, which may have none.
        """
        inside = self._in_rounds.setdefault(loop, _Known())
        inside.add(known)
        inner = nest.with_loop(loop)
        if inner is None:
            return inside
        for op in loop.regions[0].block.ops:
            for buffer in accessed(op):
                if nest.is_outside(root(buffer)):
                    self._ask(inner, op, buffer, inside)
            if isinstance(op, memref.LoadOp | memref.StoreOp):
                _check_indices(inner, op)
            if isinstance(op, scf.ForOp | scf.ParallelOp):
                self._hoist(inner, op, inside)
        return inside

    def _accessed(self, op: Operation) -> list[SSAValue]:
        """The same for calls of what is not defined here: it prints buffers."""
        is_outside = isinstance(op, CallOp) and op.callee.root_reference.data not in self._functions
        return _buffers_of(op) if is_outside else accessed(op)

    def _check_constants(self, op: Operation) -> None:
        for buffer in _written(op):
            made = root(buffer).owner
            if isinstance(made, memref.GetGlobalOp):
                name = made.name_.root_reference.data
                if name in self._constants:
                    fail(op, f"'@{name}' is constant")

    def _ask(self, nest: _Nest, op: Operation, buffer: SSAValue, known: _Known) -> None:
        """The buffer that an operation uses is live, and may be written if it is."""
        made = root(buffer)
        owner = made.owner
        if isinstance(owner, memref.GetGlobalOp):
            return
        if made not in known.live and not (
            isinstance(owner, memref.AllocaOp) and not is_on_heap(owner)
        ):
            emit = nest.at(op)
            nest.expect(emit, emit(RuntimeIsLiveOp(made)).result, _GONE)
            known.live.add(made)
        if buffer in _written(op) and made not in known.writable:
            emit = nest.at(op)
            nest.expect(emit, emit(RuntimeIsWritableOp(made)).result, _CONSTANT)
            known.writable.add(made)


def _check_indices(nest: _Nest, op: memref.LoadOp | memref.StoreOp) -> None:
    """Indices that loops count, or that do not change in them, are checked in front of the
    loops.
    """
    if IN_BOUNDS in op.attributes or not nest.is_outside(op.memref):
        return
    if not all(index in nest.variables or nest.is_outside(index) for index in op.indices):
        return
    assert isinstance(op.memref.type, MemRefType)
    emit = nest.at(op)
    for dimension, (index, size) in enumerate(
        zip(op.indices, op.memref.type.get_shape(), strict=True)
    ):
        key = (op.memref, dimension, index, nest.bounds)
        if key not in nest.asserted:
            nest.asserted.add(key)
            _check_index(
                nest, emit, index, dimension_size(emit, op.memref, dimension, size), dimension
            )
    op.attributes[IN_BOUNDS] = UnitAttr()


def _check_index(
    nest: _Nest, emit: Emitter, index: SSAValue, size: SSAValue, dimension: int
) -> None:
    text = f"index #{dimension} is out of bounds"
    low, high = nest.variables.get(index, (index, None))
    first, limit = integer_of(low), integer_of(size)
    if high is None:
        if first is None or limit is None or not 0 <= first < limit:
            # Unsigned: a negative index is a very large one.
            nest.expect(emit, emit(arith.CmpiOp(low, size, "ult")).result, text)
        return
    if first is None or first < 0:
        zero = emit.integer(0)
        nest.expect(emit, emit(arith.CmpiOp(low, zero, "sge")).result, text)
    last = integer_of(high)
    if last is None or limit is None or last > limit:
        nest.expect(emit, emit(arith.CmpiOp(high, size, "sle")).result, text)
