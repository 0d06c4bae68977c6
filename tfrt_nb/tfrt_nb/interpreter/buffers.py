"""Translate `memref` operations to Python.

A buffer is a tuple, which the module `memory` describes. Its elements are in the program's memory.
The core allocates the buffer for a `memref.alloc`. Passes have already inserted checks before
accesses.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xdsl.dialects import arith, memref, ub
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    MemRefType,
    NoneAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Operation, SSAValue

from tfrt_nb.dialects.async_ import extensions
from tfrt_nb.dialects.async_.upstream.arithmetic import AtomicRMWOp
from tfrt_nb.dialects.async_.upstream.buffers import kept_dimensions
from tfrt_nb.interpreter import numbers
from tfrt_nb.interpreter.calls import check_rank
from tfrt_nb.interpreter.memory import (
    CONSTANT,
    DEAD,
    STATIC,
    Buffer,
    Records,
    Storage,
    contiguous_strides,
    is_float,
    rounding,
    storage_of,
    width_of,
)
from tfrt_nb.interpreter.numbers import Lowering, bind_number
from tfrt_nb.interpreter.source import FunctionSource
from tfrt_nb.jit.operations.buffers import check_atomic, check_dimension
from tfrt_nb.jit.operations.descriptors import buffer_type
from tfrt_nb.jit.runtime_calls import same
from tfrt_nb.passes.buffers.guard_buffers import ALIGNMENT, alignment_of, is_on_heap
from tfrt_nb.passes.control_flow import fail, integer_of
from tfrt_runtime.async_runtime.printing import MAX_DIMENSIONS
from tfrt_runtime.host.structs import WORDS
from tfrt_runtime.native.layouts import (
    BLOCK_ELEMENTS,
    HANDLE_ADDRESS,
    HANDLE_CONSTANT,
    HANDLE_SHIFT,
)
from tfrt_runtime.scalars import ARITHMETIC, wrapped

_atomically = threading.Lock()
"""The lock that operations hold while they change an element atomically."""


def _tuple(items: Iterable[object]) -> str:
    return "(" + "".join(f"{item}, " for item in items) + ")"


def _numbers(body: FunctionSource, static: Iterable[int], dynamic: Sequence[SSAValue]) -> str:
    """Return the source of a tuple for a list such as `[1, %n, 3]`."""
    names = map(body.name, dynamic)
    return _tuple(next(names) if number == DYNAMIC_INDEX else number for number in static)


def _allocate(body: FunctionSource, op: memref.AllocOp | memref.AllocaOp) -> None:
    type_ = buffer_type(op.memref, op)
    sizes = _numbers(body, type_.get_shape(), op.dynamic_sizes)
    element, alignment = storage_of(type_.element_type).size, alignment_of(op)
    if isinstance(op, memref.AllocOp):
        new = _allocator(body.module.machine.abi("tfrtAsyncNewBuffer"), element, alignment)
        body.let(op.memref, f"{body.keep(new)}({sizes})")
    elif is_on_heap(op):
        new = _allocator(body.module.machine.abi("tfrtAsyncNewFrameBuffer"), element, alignment)
        body.first(f"last = {body.keep(_Last)}()")
        body.let(op.memref, f"{body.keep(new)}({sizes}, last.address)")
    else:
        # Every execution uses the same memory, as machine code does in a frame.
        name = body.name(op.memref)
        size = element * math.prod(type_.get_shape())
        body.first(f"m{name} = {body.keep(ctypes.c_char * (size + ALIGNMENT))}()")
        body.let(op.memref, f"{body.keep(_in_frame)}(m{name}, {sizes})")


class _Last:
    """The last heap buffer that `memref.alloca` created in a running function."""

    def __init__(self) -> None:
        self.word = ctypes.c_int64()
        self.address = ctypes.addressof(self.word)


def _allocator(new: Callable[..., int], element: int, alignment: int) -> Callable[..., Buffer]:
    padding = max(0, alignment - ALIGNMENT)

    def allocate(sizes: tuple[int, ...], *last: int) -> Buffer:
        # In machine code, this product wraps, too.
        handle = new(wrapped(element * math.prod(sizes) + padding), *last)
        elements = (handle & HANDLE_ADDRESS) + BLOCK_ELEMENTS
        if padding:
            elements = elements + padding & -alignment
        return handle, elements, 0, sizes, contiguous_strides(sizes)

    return allocate


def _in_frame(memory: ctypes.Array[ctypes.c_char], sizes: tuple[int, ...]) -> Buffer:
    start = ctypes.addressof(memory)
    # As in machine code, the elements of such a buffer start as 0 each time.
    ctypes.memset(start, 0, len(memory))
    return STATIC, start + ALIGNMENT - 1 & -ALIGNMENT, 0, sizes, contiguous_strides(sizes)


def end_buffers(body: FunctionSource) -> None:
    """Free the heap buffers that `memref.alloca` created in a function when the function ends."""
    if any(
        isinstance(op, memref.AllocaOp) and is_on_heap(op)
        for block in body.op.body.blocks
        for op in block.ops
    ):
        body.first(f"last = {body.keep(_Last)}()")
        body.line(body.abi("tfrtAsyncFreeFrameBuffers", "last.word.value"))


def _free(body: FunctionSource, op: Operation) -> None:
    call = body.abi("tfrtAsyncFreeBuffer", f"{body.name(op.operands[0])}[0]")
    if op.results:
        body.let(op.results[0], f"{call} & 1")
    else:
        body.line(call)


def is_live(buffer: Buffer) -> bool:
    """Return whether a buffer has not been freed."""
    handle = buffer[0]
    return WORDS[(handle & HANDLE_ADDRESS) >> 3] == handle >> HANDLE_SHIFT


def _address(
    body: FunctionSource, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]
) -> tuple[str, Storage]:
    """Return the address of an element, and its storage."""
    type_, name = buffer_type(buffer, op), body.name(buffer)
    is_plain = isinstance(type_.layout, NoneAttr)
    terms = [] if is_plain else [f"{name}[2]"]
    for dimension, index in enumerate(indices):
        inner = type_.get_shape()[dimension + 1 :]
        step = math.prod(inner) if is_plain and DYNAMIC_INDEX not in inner else None
        stride = f"{name}[4][{dimension}]" if step is None else step
        terms.append(body.name(index) if step == 1 else f"{body.name(index)} * {stride}")
    element = storage_of(type_.element_type)
    distance = f" + ({' + '.join(terms)}) * {element.size}" if terms else ""
    return f"{name}[1]{distance}", element


def load(body: FunctionSource, storage: Storage, address: str) -> str:
    """Return the expression that reads a value from memory."""
    return f"{body.keep(storage.read)}({address})"


def store(body: FunctionSource, storage: Storage, address: str, value: str) -> None:
    """Write the statement that stores a value in memory."""
    body.line(f"{body.keep(storage.write)}({address}, {value})")


def _load(body: FunctionSource, op: memref.LoadOp) -> None:
    address, storage = _address(body, op, op.memref, op.indices)
    body.let(op.res, load(body, storage, address))


def _store(body: FunctionSource, op: memref.StoreOp) -> None:
    address, storage = _address(body, op, op.memref, op.indices)
    store(body, storage, address, body.name(op.value))


def _dim(body: FunctionSource, op: memref.DimOp) -> None:
    type_ = op.source.type
    rank = len(type_.get_shape()) if isinstance(type_, MemRefType) else MAX_DIMENSIONS
    check_dimension(op, rank, integer_of(op.index))
    body.let(op.result, f"{body.keep(_size)}({body.name(op.source)}[3], {body.name(op.index)})")


def _size(sizes: tuple[int, ...], dimension: int) -> int:
    return sizes[dimension] if 0 <= dimension < len(sizes) else 0


def _copy(body: FunctionSource, op: memref.CopyOp) -> None:
    source, target = buffer_type(op.source, op), buffer_type(op.destination, op)
    size = storage_of(source.element_type).size
    is_plain = isinstance(source.layout, NoneAttr) and isinstance(target.layout, NoneAttr)
    copy = _copy_whole if is_plain else _copy_elements
    body.line(f"{body.keep(copy)}({body.name(op.source)}, {body.name(op.destination)}, {size})")


def _copy_whole(source: Buffer, target: Buffer, size: int) -> None:
    ctypes.memmove(target[1], source[1], size * math.prod(source[3]))


def _copy_elements(source: Buffer, target: Buffer, size: int) -> None:
    for indices in itertools.product(*map(range, source[3])):
        places = [
            one[1] + size * (one[2] + sum(map(int.__mul__, indices, one[4])))
            for one in (source, target)
        ]
        ctypes.memmove(places[1], places[0], size)


def new_global(records: Records, op: memref.GlobalOp) -> Buffer:
    """Create the module's buffer that an operation defines."""
    shape = tuple(op.type.get_shape())
    element, count = storage_of(op.type.element_type), math.prod(shape)
    memory = (ctypes.c_char * (element.size * count + ALIGNMENT))()
    records.kept.append(memory)
    _, start, *others = _in_frame(memory, shape)
    if isinstance(op.initial_value, DenseIntOrFPElementsAttr):
        values = op.initial_value.get_values()
        for index in range(count):
            number: Any = values[index if len(values) > 1 else 0]
            if width := width_of(op.type.element_type):
                number = number & 1 if width == 1 else wrapped(number, width)
            element.write(start + element.size * index, number)
    return (STATIC if op.constant is None else CONSTANT, start, *others)  # type: ignore[return-value]


_FAMILY_OF = {name: family for family in ARITHMETIC for name in family.arith}
_ATOMIC: dict[str, Callable[[Any, Any], Any]] = {
    "assign": lambda _, new: new,
    **{f"{name}{kind}": _FAMILY_OF[f"{name}{kind}"].compute for name, kind in (
        ("add", "i"), ("add", "f"), ("or", "i"), ("and", "i"), ("xor", "i"),
    )},
    "maxs": _FAMILY_OF["maxsi"].compute, "mins": _FAMILY_OF["minsi"].compute,
    **numbers.FLOAT_CHOICES,
}  # fmt: skip


def _atomic(body: FunctionSource, op: AtomicRMWOp) -> None:
    address, storage = _address(body, op, op.memref, op.indices)
    check_atomic(op, op.value.type, op.operation)
    function = _changing(storage, _changed(op.operation, op.value.type))
    body.let(op.result, f"{body.keep(function)}({address}, {body.name(op.value)})")


def _changed(name: str, type_: Any) -> Callable[[Any, Any], Any]:
    """Return the function that computes the new element from the old one and an operand."""
    width = width_of(type_)
    if name in ("maxu", "minu"):
        choose, mask = (max if name == "maxu" else min), (1 << width) - 1
        return lambda old, new: choose(old, new, key=lambda one: one & mask)
    compute = _ATOMIC[name]
    if width:
        return lambda old, new: wrapped(int(compute(old, new)), width)
    round_ = rounding(type_)
    return compute if round_ is None else lambda old, new: round_(compute(old, new))


def _changing(storage: Storage, compute: Callable[[Any, Any], Any]) -> Callable[[int, Any], Any]:
    def change(address: int, operand: Any) -> Any:
        with _atomically:
            old = storage.read(address)
            storage.write(address, compute(old, operand))
        return old

    return change


def _compare_exchange(body: FunctionSource, op: extensions.RuntimeCompareExchangeOp) -> None:
    address, storage = _address(body, op, op.buffer, op.indices)
    check_atomic(op, op.found.type)

    def exchange(place: int, expected: Any, desired: Any) -> tuple[Any, bool]:
        with _atomically:
            found = storage.read(place)
            # Compare bits, so that a NaN equals itself, and 0.0 and -0.0 differ.
            is_equal = storage.pack(found) == storage.pack(expected)
            if is_equal:
                storage.write(place, desired)
        return found, is_equal

    results = f"{body.name(op.found)}, {body.name(op.is_done)}"
    operands = f"{address}, {body.name(op.expected)}, {body.name(op.desired)}"
    body.line(f"{results} = {body.keep(exchange)}({operands})")


def _subview(body: FunctionSource, op: memref.SubviewOp) -> None:
    kept = kept_dimensions(op.static_sizes.get_values(), buffer_type(op.result, op).get_shape())
    if kept is None:
        fail(op, "the sizes differ from those of the result")
    offsets = _numbers(body, op.static_offsets.get_values(), op.offsets)
    sizes = _numbers(body, op.static_sizes.get_values(), op.sizes)
    steps = _numbers(body, op.static_strides.get_values(), op.strides)
    operands = f"{body.name(op.source)}, {offsets}, {sizes}, {steps}, {_tuple(kept)}"
    body.let(op.result, f"{body.keep(_view)}({operands})")


def _view(
    source: Buffer,
    offsets: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
    kept: Sequence[int],
) -> Buffer:
    handle, elements, offset, _, strides = source
    start = offset + sum(map(int.__mul__, offsets, strides))
    scaled = [*map(int.__mul__, steps, strides)]
    return (
        handle,
        elements,
        wrapped(start),
        tuple(sizes[one] for one in kept),
        tuple(wrapped(scaled[one]) for one in kept),
    )


def _extract_strided_metadata(body: FunctionSource, op: memref.ExtractStridedMetaDataOp) -> None:
    name = body.name(op.source)
    handle = f"({DEAD} if 0 in {name}[3] else {name}[0])"
    body.let(op.base_buffer, f"({handle}, {name}[1], 0, (), ())")
    body.let(op.offset, f"{name}[2]")
    for results, part in ((op.sizes, 3), (op.strides, 4)):
        for dimension, result in enumerate(results):
            body.let(result, f"{name}[{part}][{dimension}]")


def _cast(body: FunctionSource, op: memref.CastOp) -> None:
    if isinstance(op.dest.type, UnrankedMemRefType) and isinstance(op.source.type, MemRefType):
        check_rank(op.source, op)
    body.bind(op.dest, body.name(op.source))


def _poison(body: FunctionSource, op: Operation) -> None:
    [result] = op.results
    if isinstance(result.type, MemRefType | UnrankedMemRefType):
        rank = len(result.type.get_shape()) if isinstance(result.type, MemRefType) else 0
        body.let(result, body.keep((DEAD, 0, 0, (0,) * rank, (0,) * rank)))
    else:
        bind_number(body, result, 0.0 if is_float(result.type) else 0)


def _bitcast(body: FunctionSource, op: Operation) -> None:
    """Convert a number to its bits, and read the bits as a number of the other type."""
    [operand], [result] = op.operands, op.results
    if isinstance(operand.type, MemRefType) or operand.type == result.type:
        body.bind(result, body.name(operand))
        return
    write, read = storage_of(operand.type).pack, storage_of(result.type).unpack
    body.let(result, f"{body.keep(read)}({body.keep(write)}({body.name(operand)}))")


LOWERINGS: dict[str, Lowering] = {
    arith.BitcastOp.name: _bitcast,
    ub.PoisonOp.name: _poison,
    memref.AssumeAlignmentOp.name: same,
    memref.CastOp.name: _cast,
    memref.ExtractAlignedPointerAsIndexOp.name: lambda body, op: body.let(
        op.results[0], f"{body.name(op.operands[0])}[1]"
    ),
    memref.ExtractStridedMetaDataOp.name: _extract_strided_metadata,
    memref.MemorySpaceCastOp.name: same,
    memref.SubviewOp.name: _subview,
    memref.AllocOp.name: _allocate,
    memref.AllocaOp.name: _allocate,
    memref.DeallocOp.name: _free,
    extensions.RuntimeFreeBufferOp.name: _free,
    extensions.RuntimeIsLiveOp.name: lambda body, op: body.let(
        op.results[0], f"{body.keep(is_live)}({body.name(op.operands[0])})"
    ),
    extensions.RuntimeIsWritableOp.name: lambda body, op: body.let(
        op.results[0], f"not {body.name(op.operands[0])}[0] & {HANDLE_CONSTANT}"
    ),
    memref.LoadOp.name: _load,
    memref.StoreOp.name: _store,
    AtomicRMWOp.name: _atomic,
    extensions.RuntimeCompareExchangeOp.name: _compare_exchange,
    memref.DimOp.name: _dim,
    memref.RankOp.name: lambda body, op: body.let(
        op.results[0], f"len({body.name(op.operands[0])}[3])"
    ),
    memref.CopyOp.name: _copy,
    memref.GetGlobalOp.name: lambda body, op: body.let(
        op.memref, body.keep(body.module.globals[op.name_.root_reference.data])
    ),
}
