"""Assert that buffers are live before they are used, and check indices before loops.

    scf.for %i = %lo to %hi step %one {        %live = async.runtime.is_live %m
      %x = memref.load %m[%i]             =>   cf.assert %live or %lo >= %hi
    }                                          cf.assert 0 <= %lo and %hi <= %size or %lo >= %hi
                                               scf.for ... { memref.load %m[%i] {in_bounds} }

On each path, the program checks a buffer once, and again after an operation that may free buffers:
a `memref.dealloc`, an operation on tasks, or a call to a function that contains such an operation.

If every iteration of a loop uses a buffer, the check moves before the loop, which lets LLVM
vectorize the loop. The check stays inside a loop that frees buffers, prints, or calls a function
that does. Otherwise, the error would appear before the output of the first iterations. If a region
has several blocks, each block has its own checks.

Two kinds of buffer need no check: global buffers, which are never freed, and buffers from
`memref.alloca` that do not escape their function.

Two more assertions exist. One before each store checks that the buffer is writable. One after each
allocation checks that the allocation succeeded.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
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
from tfrt_nb.passes.control_flow import (
    Emitter,
    ancestors,
    block_of,
    fail,
    integer_of,
    operations_in,
)
from tfrt_nb.passes.lowering.call_graph import callees, with_callers

IN_BOUNDS = "in_bounds"
"""The attribute that marks a buffer access whose indices are known to be in bounds."""
_GONE = "the buffer is used after its lifetime: it was deallocated, or its function has returned"
_NO_MEMORY = "not enough memory for the buffer"
_CONSTANT = "the buffer is constant"
_MAX_IN_FRAME = 2**15
"""The maximum size in bytes of a `memref.alloca` buffer in a function's frame.

Larger buffers are on the heap.
"""
_MAX_IN_FRAMES = 2**18
"""The maximum total size in bytes of the buffers in all function frames of a module.

The limit keeps nested calls from exhausting the stack.
"""
ON_HEAP = "on_heap"
"""The attribute of a `memref.alloca` whose buffer is on the heap because the frames are full."""
ALIGNMENT = 64
"""The alignment of buffers in bytes.

This is the size of a cache line, which suffices for every vector type.
"""

_VIEWS = frozenset(
    f"memref.{name}" for name in ("assume_alignment", "cast", "memory_space_cast", "subview")
)
"""The operations whose result has the same lifetime as their operand."""
_BASE = memref.ExtractStridedMetaDataOp.name
"""An operation whose result shares the operand's memory.

Unlike the operations in `_VIEWS`, its result is not live if the buffer has no elements.
"""
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
"""The `async` operations that neither start tasks nor wait for them."""
_QUIET_DIALECTS = frozenset({"arith", "cf", "func", "math", "memref", "scf", "ub"})
_BUFFER = MemRefType | UnrankedMemRefType


@dataclass(frozen=True)
class GuardBuffers(ModulePass):
    """Guards structured operations; runs before parallel loops become tasks."""

    name: ClassVar[str] = "async-guard-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operations = operations_in(op)
        if any(map(_buffers_of, operations)):
            taken = 0
            for one in operations:
                if isinstance(one, memref.AllocaOp) and not is_on_heap(one):
                    taken += _bytes_in(one)
                    if taken > _MAX_IN_FRAMES:  # no room is left in frames
                        one.attributes[ON_HEAP] = UnitAttr()
            _Guards(op).guard()


def accessed(op: Operation) -> list[SSAValue]:
    """Return the buffers whose elements an operation reads or writes."""
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
    """Return the buffers whose elements an operation changes."""
    if op.name in _READS:
        return []
    return [op.operands[1]] if op.name == memref.CopyOp.name else accessed(op)


def root(buffer: SSAValue) -> SSAValue:
    """Return the buffer from which `buffer` is derived through views.

    The result has the same lifetime as `buffer`. It is `buffer` itself unless `buffer` is a view.
    """
    owner = buffer.owner
    while isinstance(owner, Operation) and owner.name in _VIEWS:
        buffer = owner.operands[0]
        owner = buffer.owner
    return buffer


def is_on_heap(op: memref.AllocaOp) -> bool:
    """Return whether the buffer of a `memref.alloca` must be on the heap.

    A buffer in the function's frame gets the same memory each time that the operation runs, and
    nothing marks the buffer as dead when the function returns.
    """
    is_large = bool(op.dynamic_sizes) or _bytes_in(op) > _MAX_IN_FRAME
    return (
        is_large
        or alignment_of(op) > ALIGNMENT
        or ON_HEAP in op.attributes
        or escapes(op.memref, op)
    )


def _bytes_in(op: memref.AllocaOp) -> int:
    """Return the size in bytes of a buffer whose dimensions are static."""
    return math.prod(op.memref.type.get_shape()) * bytes_of(op.memref.type.element_type)


def alignment_of(op: memref.AllocOp | memref.AllocaOp) -> int:
    """Return the alignment in bytes of a new buffer.

    It is the larger of `ALIGNMENT` and the alignment that the operation states.
    """
    return ALIGNMENT if op.alignment is None else max(ALIGNMENT, op.alignment.value.data)


def escapes(buffer: SSAValue, made: Operation) -> bool:
    """Return whether code outside the buffer's function or on another thread may hold `buffer`."""
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
    """Return whether `op`, which uses the result of `made`, may run on another thread."""
    around = itertools.takewhile(lambda one: one is not made.parent_op(), ancestors(op))
    return any(isinstance(one, scf.ParallelOp) or one.name.startswith("async.") for one in around)


def assert_allocated(emit: Emitter, buffer: SSAValue) -> None:
    """Assert that the allocation of `buffer` succeeded."""
    emit(cf.AssertOp(emit(RuntimeIsLiveOp(buffer)).result, _NO_MEMORY))


@dataclass
class _Known:
    """The buffers known to be live and those known to be writable, at one point of a path.

    A buffer is represented by its `root`.
    """

    live: set[SSAValue] = field(default_factory=set)
    writable: set[SSAValue] = field(default_factory=set)

    def add(self, other: _Known) -> None:
        """Add everything that `other` knows."""
        self.live |= other.live
        self.writable |= other.writable

    def copy(self, *, is_later: bool = False) -> _Known:
        """Return a copy for the start of a nested region.

        If `is_later` is true, other code may have freed buffers before the region starts, so the
        copy contains no live buffers.
        """
        return _Known(set() if is_later else set(self.live), set(self.writable))


_Bounds = tuple[tuple[SSAValue, SSAValue], ...]


@dataclass
class _Nest:
    """A loop nest whose assertions are inserted before its outermost loop, `outer`.

    `bounds` contains the bounds of all loops that may have no iterations. `variables` maps each
    induction variable with step 1 to its first value and its limit.
    """

    outer: Operation
    asserted: set[tuple[object, ...]]
    bounds: _Bounds = ()
    variables: Mapping[SSAValue, tuple[SSAValue, SSAValue]] = field(default_factory=dict)

    def with_loop(self, loop: scf.ForOp | scf.ParallelOp) -> _Nest | None:
        """Return the nest extended by the loop inside it.

        Return None if the bounds of `loop` are not known before the nest.
        """
        if isinstance(loop, scf.ForOp):
            lower, upper, steps = [loop.lb], [loop.ub], [loop.step]
        else:
            lower, upper, steps = [*loop.lowerBound], [*loop.upperBound], [*loop.step]
        pairs = list(zip(lower, upper, strict=True))
        if not all(self.is_outside(value) for pair in pairs for value in pair):
            return None
        known = [(integer_of(low), integer_of(high)) for low, high in pairs]
        if any(a is not None and b is not None and a >= b for a, b in known):
            return None  # the loop has no iterations
        # A loop with two constant bounds is known to have iterations, so it needs no test at run
        # time.
        open_ = [pair for pair, (a, b) in zip(pairs, known, strict=True) if a is None or b is None]
        variables = dict(self.variables) | {
            variable: pair
            for variable, pair, step in zip(loop.regions[0].block.args, pairs, steps, strict=False)
            if integer_of(step) == 1  # the last value is then the limit minus 1
        }
        return _Nest(self.outer, self.asserted, (*self.bounds, *open_), variables)

    def is_outside(self, value: SSAValue) -> bool:
        """Return whether a value is defined outside the loops."""
        return self.outer not in ancestors(value.owner)

    def at(self, op: Operation) -> Emitter:
        """Return an emitter, placed before the loops, for assertions about `op`."""
        return Emitter(block_of(self.outer), self.outer, op.location)

    def expect(self, emit: Emitter, ok: SSAValue, message: str) -> None:
        """Assert that `ok` holds or that a loop of the nest has no iterations."""
        for low, high in self.bounds:
            is_empty = emit(arith.CmpiOp(low, high, "sge")).result
            ok = emit(arith.OrIOp(ok, is_empty)).result
        emit(cf.AssertOp(ok, message))


def _frees(op: Operation) -> bool:
    """Return whether an operation may free buffers, or may let tasks free them.

    Calls are not considered.
    """
    if op.name == memref.DeallocOp.name:
        return True
    return op.name.startswith("async.") and op.name not in _KEEPS_BUFFERS


def _speaks(op: Operation) -> bool:
    """Return whether an operation may have a visible effect or wait for another task's effect.

    Calls are not considered.
    """
    return op.name.partition(".")[0] not in _QUIET_DIALECTS and op.name != _EXCHANGE


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
        # A function that the module only declares frees nothing, but may print.
        freeing = [name for name, ops in inside.items() if any(map(_frees, ops))]
        speaking = [name for name, ops in inside.items() if any(map(_speaks, ops))]
        self._freeing = with_callers(freeing, callers)
        self._speaking = with_callers([*speaking, *(callers.keys() - self._functions)], callers)
        self._effects: dict[Operation, tuple[bool, bool]] = {}
        self._in_rounds: dict[Operation, _Known] = {}
        """The checks that were inserted before the loops that enclose a loop.

        The checks hold in the loop's iterations.
        """

    def _effects_of(self, op: Operation) -> tuple[bool, bool]:
        """Return two facts about an operation and its regions.

        The first says whether they may free buffers, and the second whether they may have visible
        effects.
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
        """Guard the operations of a block.

        The method updates `known` from the facts at the block's start to the facts at its end.
        """
        for op in list(block.ops):
            for buffer in _written(op):
                made = root(buffer).owner
                if isinstance(made, memref.GetGlobalOp):
                    name = made.name_.root_reference.data
                    if name in self._constants:
                        fail(op, f"'@{name}' is constant")
            nest = _Nest(op, set())
            for buffer in self._accessed(op):
                self._ask(nest, op, buffer, known)
            if isinstance(op, memref.AllocOp | memref.AllocaOp):
                # Only an allocation on the heap can fail.
                if isinstance(op, memref.AllocOp) or is_on_heap(op):
                    assert_allocated(Emitter.behind(op), op.memref)
                known.live.add(op.memref)
                known.writable.add(op.memref)
            frees, speaks = self._effects_of(op)
            inside = known
            if isinstance(op, scf.ForOp | scf.ParallelOp) and not (frees or speaks):
                inside = self._hoist(nest, op, known)
            if isinstance(op, scf.WhileOp) and not (frees or speaks):
                for nested in op.before_region.block.ops:  # this block runs at least once
                    for buffer in self._accessed(nested):
                        if nest.is_outside(root(buffer)):
                            self._ask(nest, nested, buffer, known)
            for region in op.regions:
                for index, nested in enumerate(region.blocks):
                    # A loop or a task may free a buffer in its first iteration, so facts from
                    # before it do not hold in later iterations.
                    is_now = isinstance(op, scf.IfOp | scf.IndexSwitchOp) and index == 0
                    self._walk(nested, inside.copy(is_later=frees and not is_now))
            # The operation may have freed any buffer.
            if frees:
                known.live.clear()

    def _hoist(self, nest: _Nest, loop: scf.ForOp | scf.ParallelOp, known: _Known) -> _Known:
        """Move the checks that every iteration needs before the loop.

        Return the facts known inside the iterations. They do not hold after the loop, because the
        loop may have no iterations.
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
        """Return the buffers that an operation accesses.

        A call to a function that the module only declares accesses all buffers that are passed to
        it, because such a function prints them.
        """
        is_outside = isinstance(op, CallOp) and op.callee.root_reference.data not in self._functions
        return _buffers_of(op) if is_outside else accessed(op)

    def _ask(self, nest: _Nest, op: Operation, buffer: SSAValue, known: _Known) -> None:
        """Assert that `buffer` is live and, if `op` writes to it, that `buffer` is writable."""
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
    """Check indices before the loops if they are induction variables or loop-invariant values."""
    if (
        IN_BOUNDS in op.attributes
        or not nest.is_outside(op.memref)
        or not all(index in nest.variables or nest.is_outside(index) for index in op.indices)
    ):
        return
    assert isinstance(op.memref.type, MemRefType)
    emit = nest.at(op)
    for dimension, (index, size) in enumerate(
        zip(op.indices, op.memref.type.get_shape(), strict=True)
    ):
        # Several accesses with the same index share one assertion.
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
            # The comparison is unsigned, so that a negative index counts as a very large number and
            # fails.
            nest.expect(emit, emit(arith.CmpiOp(low, size, "ult")).result, text)
        return
    if first is None or first < 0:
        nest.expect(emit, emit(arith.CmpiOp(low, emit.integer(0), "sge")).result, text)
    last = integer_of(high)
    if last is None or limit is None or last > limit:
        nest.expect(emit, emit(arith.CmpiOp(high, size, "sle")).result, text)
