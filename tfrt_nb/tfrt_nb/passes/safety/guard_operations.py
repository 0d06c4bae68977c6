"""Reject programs that would crash the process, or put assertions before risky operations.

    %q = arith.divsi %a, %b : i64     =>    %ok = arith.cmpi ne, %b, %zero : i64
                                            cf.assert %ok, "division by zero"
                                            %q = arith.divsi %a, %b : i64

In MLIR, the following have undefined behavior: a division by zero, a shift by the number's full
width or more, a float that does not fit in an integer, an access outside a buffer, a buffer that is
larger than the memory or freed twice, a load of a value before it is available, a group of negative
size, and a loop that does not step forward. Deep recursion overflows the stack. In a notebook, each
of these must be an error that names the line.

Operations known to be safe get no assertion: for example, a nonzero constant divisor or step, a
constant shift by less than the width, and a constant index below a static size.

Some programs pass the verifier, but cannot be compiled or would harm the process. The pass
`async-check` enforces these rules:

- The payload of a value must not be an async object, because the payload's reference would not be
  counted.
- Coroutine operations must be in functions that are complete coroutines. Ids and saved states must
  stay in the function that creates them.
- A task must not capture a buffer from `memref.alloca`, because the buffer may no longer exist when
  the task runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, cf, math, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FloatAttr,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import (
    RuntimeCheckOp,
    RuntimeDescribeErrorOp,
    RuntimeFreeBufferOp,
    RuntimeIsAvailableOp,
    RuntimeStackIsLowOp,
)
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.runtime import (
    CoroBeginOp,
    CoroIdOp,
    CoroSaveOp,
    CoroSuspendOp,
    RuntimeCreateGroupOp,
    RuntimeLoadOp,
    RuntimeSetErrorOp,
)
from tfrt_nb.dialects.async_.tasks import CreateGroupOp, ExecuteOp
from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
)
from tfrt_nb.passes.buffers.guard_buffers import IN_BOUNDS, alignment_of
from tfrt_nb.passes.buffers.guard_views import VIEWS, dimension_size, guard_view
from tfrt_nb.passes.control_flow import (
    Emitter,
    ancestors,
    erase,
    fail,
    integer_of,
    operations_in,
)
from tfrt_nb.passes.lowering.await_in_calls import finished_coroutine
from tfrt_nb.passes.lowering.call_graph import callees, recursive_functions
from tfrt_nb.passes.lowering.coroutines import PRESPLIT
from tfrt_nb.passes.lowering.outline import captured_values

_COROUTINE = CoroIdType | CoroStateType
_NO_PAYLOADS = TokenType | ValueType | GroupType | CoroHandleType | _COROUTINE


@dataclass(frozen=True)
class CheckAsync(ModulePass):
    """Rejects a module that breaks one of this file's rules for `async-check`.

    The pass does not change the module.
    """

    name: ClassVar[str] = "async-check"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in operations_in(op):
            if nested.results or nested.regions:
                for type_ in (*nested.result_types, *_argument_types(nested)):
                    if isinstance(type_, ValueType) and isinstance(type_.value_type, _NO_PAYLOADS):
                        text = f"'{type_}' cannot be compiled"
                        fail(nested, f"{text}: await the inner object where it is made")
            if nested.name.startswith("async.coro."):
                holder = nested.parent_op()
                if (
                    not isinstance(holder, FuncOp)
                    or holder.attributes.get("passthrough") != PRESPLIT
                ):
                    fail(
                        nested,
                        f"'{nested.name}' can only be used directly in a function with the "
                        'attribute passthrough = ["presplitcoroutine"]',
                    )
            for value in captured_values(nested.body) if type(nested) is ExecuteOp else ():
                if isinstance(value.type, _COROUTINE):
                    fail(nested, f"a task cannot capture '{value.type}'")
                if isinstance(value.owner, memref.AllocaOp):
                    fail(
                        nested,
                        "a task cannot capture a buffer from 'memref.alloca', because the buffer "
                        "is freed when the function returns: use 'memref.alloc'",
                    )
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.attributes.get("passthrough") == PRESPLIT:
                _check_coroutine(function)


def _argument_types(op: Operation) -> Iterator[Attribute]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.arg_types
            if any(isinstance(type_, _COROUTINE) for type_ in block.arg_types):
                fail(op, "ids and states of coroutines cannot be passed to blocks and functions")


def _check_coroutine(function: FuncOp) -> None:
    """Check what LLVM assumes about a coroutine.

    A coroutine has one id and one frame, which is created first. A saved state is used only in the
    block that saves it. See https://llvm.org/docs/Coroutines.html.
    """
    for kind in (CoroIdOp, CoroBeginOp):
        if sum(isinstance(op, kind) for op in function.body.walk()) != 1:
            fail(function, f"a coroutine has one '{kind.name}'")
    for block in function.body.blocks:
        for op in block.ops:
            if isinstance(op, CoroBeginOp) and block is not function.body.blocks[0]:
                fail(op, f"'{op.name}' must be in the first block")
            if isinstance(op, CoroSuspendOp):
                saved = op.state.owner
                if not isinstance(saved, CoroSaveOp) or saved.parent is not block:
                    fail(op, "a coroutine is suspended in the block that saves its state")


DIVISIONS: frozenset[type[Operation]] = frozenset(
    {
        arith.DivSIOp,
        arith.DivUIOp,
        arith.RemSIOp,
        arith.RemUIOp,
        arith.CeilDivSIOp,
        arith.CeilDivUIOp,
        arith.FloorDivSIOp,
    }
)
INDEX_BITS = 64
MAX_BYTES_OF_AN_ELEMENT = 16
MAX_ITERATIONS = 2.0**63
MEMORY_BYTES = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
"""The size of the machine's memory in bytes; a larger buffer is an error."""

_RESUME = 1
"""The index of the successor of `async.coro.suspend` at which a coroutine resumes."""


@dataclass(frozen=True)
class GuardOperations(ModulePass):
    """Inserts assertions before operations; each option selects a kind of operation.

    `divisions` selects integer divisions, shifts, and conversions. `accesses` selects accesses to
    buffers and values, and the creation of buffers and groups. `loops` selects loops, whose steps
    must be positive. `recursion` selects plain functions that may recurse.
    """

    name: ClassVar[str] = "async-guard-operations"

    divisions: bool = True
    accesses: bool = True
    loops: bool = True
    recursion: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        wanted = {
            kind: guard
            for is_wanted, guards in (
                (self.divisions, _ARITHMETIC),
                (self.accesses, _ACCESSES),
                (self.loops, _LOOPS),
            )
            if is_wanted
            for kind, guard in guards.items()
        }
        # Look up the guards by name, because some of these operations have derived classes.
        for nested in operations_in(op) if wanted else ():
            if nested.name in wanted:
                wanted[nested.name](nested)
        recursive = recursive_functions(callees(op)) if self.recursion else ()
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and function.sym_name.data in recursive:
                emit = Emitter.at_start(first_block(function), function.location)
                is_low = emit(RuntimeStackIsLowOp()).result
                enough = emit(arith.XOrIOp(is_low, emit.integer(1, i1))).result
                emit(cf.AssertOp(enough, "the stack is exhausted"))


def first_block(function: FuncOp) -> Block:
    """Return the block in which the function's own work starts.

    In a coroutine, this is the block after the one that creates the results.
    """
    entry = function.body.blocks[0]
    if finished_coroutine(function) is None or entry.last_op is None:
        return entry
    successors = entry.last_op.successors
    # If the entry checks the stack, its targets are the cold start and the body, so the body has
    # the same index.
    return successors[_RESUME if len(successors) > 1 else 0]


def _guard_division(op: Operation) -> None:
    divisor = op.operands[1]
    if integer_of(divisor) not in (None, 0) or not isinstance(
        divisor.type, IntegerType | IndexType
    ):
        return
    emit = Emitter.in_front_of(op)
    # The most negative number divided by -1 needs no guard: the compiler gives it a result.
    emit.expect(divisor, "ne", emit.integer(0, divisor.type), "division by zero")


def _guard_shift(op: Operation) -> None:
    distance = op.operands[1]
    if not isinstance(distance.type, IntegerType | IndexType):
        return
    bits = distance.type.width.data if isinstance(distance.type, IntegerType) else INDEX_BITS
    number = integer_of(distance)
    if number is not None and 0 <= number < bits:
        return
    emit = Emitter.in_front_of(op)
    text = f"the shift amount is negative, or is {bits} bits or more"
    # The comparison is unsigned, so that a negative distance counts as a very large number and
    # fails.
    emit.expect(distance, "ult", emit.integer(bits, distance.type), text)


def _guard_conversion(op: Operation) -> None:
    """Assert that the float, rounded toward zero, fits in the integer's type.

    The comparison uses doubles, which represent the bounds exactly.
    """
    float_, target = op.operands[0], op.results[0].type
    if not isinstance(target, IntegerType):
        return
    is_signed = op.name == arith.FPToSIOp.name
    limit = 2.0 ** min(target.width.data - is_signed, 1023)  # the largest power of 2 in a double
    above, lowest = "ogt", -limit - 1 if is_signed else -1.0
    if lowest == -limit:  # the next lower double is more than 1 below the limit
        above = "oge"
    emit = Emitter.in_front_of(op)
    number = float_ if float_.type == f64 else emit(arith.ExtFOp(float_, f64)).result

    def holds(predicate: str, bound: float) -> SSAValue:
        constant = emit(arith.ConstantOp(FloatAttr(bound, f64))).result
        return emit(arith.CmpfOp(number, constant, predicate)).result

    is_inside = emit(arith.AndIOp(holds(above, lowest), holds("olt", limit))).result
    emit(cf.AssertOp(is_inside, f"the float does not fit in {target}"))


def _guard_access(op: memref.LoadOp | memref.StoreOp | memref.AtomicRMWOp) -> None:
    if IN_BOUNDS in op.attributes:
        return
    buffer, indices = op.memref, op.indices
    assert isinstance(buffer.type, MemRefType)
    # Each dimension gets its own assertion, so that the error names the index.
    for dimension, (index, size) in enumerate(zip(indices, buffer.type.get_shape(), strict=True)):
        number = integer_of(index)
        if number is not None and size != DYNAMIC_INDEX and 0 <= number < size:
            continue
        emit = Emitter.in_front_of(op)
        limit = dimension_size(emit, buffer, dimension, size)
        # The comparison is unsigned, so that a negative index counts as a very large number and
        # fails.
        emit.expect(index, "ult", limit, f"index #{dimension} is out of bounds")


def _guard_size(op: memref.AllocOp | memref.AllocaOp) -> None:
    """Assert that the buffer is not larger than the machine's memory.

    This also rules out an overflow of the product of the sizes.
    """
    if alignment_of(op) > MEMORY_BYTES:
        fail(op, f"the alignment {alignment_of(op)} is larger than the memory")
    limit = MEMORY_BYTES // MAX_BYTES_OF_AN_ELEMENT
    for size in op.memref.type.get_shape():
        if size != DYNAMIC_INDEX:
            # If a size is 0, the check is stricter than necessary, because the buffer is empty.
            limit //= max(size, 1)
    if limit == 0:
        fail(op, f"'{op.memref.type}' is larger than the memory")
    if not op.dynamic_sizes:
        return
    emit = Emitter.in_front_of(op)
    room = emit.integer(limit)
    for dimension, size_ in enumerate(op.dynamic_sizes):
        # The comparison is unsigned, so that a negative size counts as a very large number and
        # fails.
        text = f"dynamic size #{dimension} of the buffer is negative or too large"
        emit.expect(size_, "ule", room, text)
        room = emit(arith.DivUIOp(room, emit(arith.MaxSIOp(size_, emit.integer(1))).result)).result


def _guard_dealloc(op: memref.DeallocOp) -> None:
    emit = Emitter.in_front_of(op)
    was_live = emit(RuntimeFreeBufferOp(op.memref)).result
    emit(cf.AssertOp(was_live, "the buffer was already deallocated, or is not from memref.alloc"))
    erase(op)


def _guard_group(op: CreateGroupOp | RuntimeCreateGroupOp) -> None:
    number = integer_of(op.size)
    if number is not None and number >= 0:
        return
    emit = Emitter.in_front_of(op)
    emit.expect(op.size, "sge", emit.integer(0), "the size of a group must not be negative")


def _describe_error(op: RuntimeSetErrorOp) -> None:
    """Describe an error that a program sets explicitly.

    A coroutine's own failures already have a description.
    """
    if not any(isinstance(before, CoroBeginOp) for before in _first_operations(op)):
        message = StringAttr(f"set to an error by '{op.name}'")
        Emitter.in_front_of(op)(RuntimeDescribeErrorOp(op.operand, message=message))


def _first_operations(op: Operation) -> Iterable[Operation]:
    """Return the operations of the first block of the function that contains `op`."""
    functions = (outer for outer in ancestors(op) if isinstance(outer, FuncOp | AsyncFuncOp))
    return next((function.body.blocks[0].ops for function in functions), ())


def _guard_load(op: RuntimeLoadOp) -> None:
    emit = Emitter.in_front_of(op)
    emit(RuntimeCheckOp(op.storage))
    is_there = emit(RuntimeIsAvailableOp(op.storage)).result
    emit(cf.AssertOp(is_there, "the value is loaded before it is available"))


def _guard_parallel(op: scf.ParallelOp) -> None:
    """Assert that the steps are positive, and that the iteration count fits in 64 bits.

    A later pass computes that count to divide the loop into tasks. The assertion estimates it as a
    double, which is exact enough for any count that a loop can reach.
    """
    _guard_steps(op, op.step)
    lowers = [integer_of(lower) for lower in op.lowerBound]
    # A single dimension that starts at 0 or above has fewer than 2**63 iterations.
    if len(lowers) == 1 and lowers[0] is not None and lowers[0] >= 0:
        return
    emit = Emitter.in_front_of(op)

    def double(value: SSAValue) -> SSAValue:
        number = integer_of(value)
        if number is not None:
            return emit(arith.ConstantOp(FloatAttr(float(number), f64))).result
        return emit(arith.SIToFPOp(emit(arith.IndexCastOp(value, i64)).result, f64)).result

    iterations: SSAValue | None = None
    zero = emit(arith.ConstantOp(FloatAttr(0.0, f64))).result
    for lower, upper, step in zip(op.lowerBound, op.upperBound, op.step, strict=True):
        distance = emit(arith.SubfOp(double(upper), double(lower))).result
        trips = emit(math.CeilOp(emit(arith.DivfOp(distance, double(step))).result)).result
        trips = emit(arith.MaximumfOp(trips, zero)).result
        iterations = trips if iterations is None else emit(arith.MulfOp(iterations, trips)).result
    assert iterations is not None
    most = emit(arith.ConstantOp(FloatAttr(MAX_ITERATIONS, f64))).result
    is_known = emit(arith.CmpfOp(iterations, most, "olt")).result
    emit(cf.AssertOp(is_known, "the loop has too many iterations"))


def _guard_steps(op: Operation, steps: Sequence[SSAValue]) -> None:
    for step in steps:
        number = integer_of(step)
        if number is not None and number > 0:
            continue
        emit = Emitter.in_front_of(op)
        emit.expect(step, "sgt", emit.integer(0, step.type), "the step of a loop must be positive")


_ARITHMETIC: dict[str, Callable[[Any], None]] = {
    **{kind.name: _guard_division for kind in DIVISIONS},
    **{kind.name: _guard_shift for kind in (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)},
    **{kind.name: _guard_conversion for kind in (arith.FPToSIOp, arith.FPToUIOp)},
}
_ACCESSES: dict[str, Callable[[Any], None]] = {
    memref.LoadOp.name: _guard_access,
    memref.StoreOp.name: _guard_access,
    memref.AtomicRMWOp.name: _guard_access,
    RuntimeLoadOp.name: _guard_load,
    memref.AllocOp.name: _guard_size,
    memref.AllocaOp.name: _guard_size,
    memref.DeallocOp.name: _guard_dealloc,
    CreateGroupOp.name: _guard_group,
    RuntimeCreateGroupOp.name: _guard_group,
    RuntimeSetErrorOp.name: _describe_error,
    **dict.fromkeys(VIEWS, guard_view),
}
_LOOPS: dict[str, Callable[[Any], None]] = {
    scf.ForOp.name: lambda op: _guard_steps(op, [op.step]),
    scf.ParallelOp.name: _guard_parallel,
}
