"""`memref` as LLVM instructions on descriptors.

Buffers made here are contiguous and start at their allocation.  An address is computed from the strides
that the type fixes, and from the descriptor where it does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, MemRefType, NoneAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_.companions import AtomicRMWOp
from tfrt_nb.dialects.async_.runtime import RuntimeTakeBufferOp
from tfrt_nb.jit.function_body import GLOBALS_TABLE, FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import array_literal, global_symbol, llvm_type, memref_type
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.index_math import constant_value

_ALLOCATED, _ALIGNED, _OFFSET, _SIZES, _STRIDES = range(5)
_ALIGNMENT = 64  # a cache line, and enough for every vector type
_MOST_IN_FRAME = 2**12
"""Buffers of `memref.alloca` with more elements are on the heap."""
_LAST_BUFFER = "%buffers"
_FREE_BUFFERS = "@__free_buffers"
_FREE_THEM = f"""\
define internal void {_FREE_BUFFERS}(ptr %last) {{
start:
  br label %check
check:
  %buffer = phi ptr [ %last, %start ], [ %before, %release ]
  %none = icmp eq ptr %buffer, null
  br i1 %none, label %done, label %release
release:
  %before = load ptr, ptr %buffer
  call void @free(ptr %buffer)
  br label %check
done:
  ret void
}}"""


def _buffer_type(value: SSAValue, op: Operation) -> MemRefType:
    type_ = value.type
    if not isinstance(type_, MemRefType):
        fail(op, f"'{type_}' is not a buffer of known rank")
    return type_


def _element_size(type_: MemRefType) -> str:
    element = llvm_type(type_.element_type)
    return f"ptrtoint (ptr getelementptr ({element}, ptr null, i64 1) to i64)"


def _allocate(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.AllocOp | memref.AllocaOp)
    type_ = _buffer_type(op.memref, op)
    sizes = _allocated_sizes(body, type_, op.dynamic_sizes)
    strides, count = _contiguous_strides(body, sizes)
    size = body.value(f"mul i64 {count}, {_element_size(type_)}")
    if isinstance(op, memref.AllocOp):
        pointer = _heap(body, size, _ALIGNMENT - 1)
        if body.module.notes_buffers:
            body.call("tfrtAsyncNoteBuffer", "void", ("ptr", pointer))
    elif is_on_heap(op):
        pointer = _linked_buffer(body, size)
    else:
        element, elements = llvm_type(type_.element_type), _static_count(type_)
        pointer = body.first(f"alloca [{elements} x {element}], align {_ALIGNMENT}")
    body.bind(op.memref, _descriptor(body, pointer, sizes, strides))


def _heap(body: FunctionBody, size: str, more: int) -> str:
    padded = body.value(f"add i64 {size}, {more}")
    rounded = body.value(f"and i64 {padded}, -{_ALIGNMENT}")
    return body.call("aligned_alloc", "ptr", ("i64", str(_ALIGNMENT)), ("i64", rounded))


def is_on_heap(op: Operation) -> bool:
    """Whether a buffer of `memref.alloca` cannot be in the function's frame.

    There, each execution of the operation would get the same memory; so nothing may pass it on.
    """
    if not isinstance(op, memref.AllocaOp):
        return False
    type_ = _buffer_type(op.memref, op)
    is_passed_on = any(use.operation.has_trait(IsTerminator) for use in op.memref.uses)
    return bool(op.dynamic_sizes) or is_passed_on or _static_count(type_) > _MOST_IN_FRAME


def _static_count(type_: MemRefType) -> int:
    return math.prod(type_.get_shape())


def _linked_buffer(body: FunctionBody, size: str) -> str:
    """A buffer behind a pointer to the one that was made before."""
    node = _heap(body, size, 2 * _ALIGNMENT - 1)
    before = body.value(f"load ptr, ptr {_LAST_BUFFER}")
    body.emit(f"store ptr {before}, ptr {node}")
    body.emit(f"store ptr {node}, ptr {_LAST_BUFFER}")
    return body.value(f"getelementptr i8, ptr {node}, i64 {_ALIGNMENT}")


def begin_buffers(body: FunctionBody) -> None:
    """At the start of a function with buffers of `memref.alloca` on the heap: there are none yet."""
    body.emit(f"{_LAST_BUFFER} = alloca ptr")
    body.emit(f"store ptr null, ptr {_LAST_BUFFER}")


def end_buffers(body: FunctionBody) -> None:
    """At its end: free them."""
    last = body.value(f"load ptr, ptr {_LAST_BUFFER}")
    body.module.helpers[_FREE_BUFFERS] = _FREE_THEM
    body.module.declare("free", "void", "ptr")
    body.emit(f"call void {_FREE_BUFFERS}(ptr {last})")


def _allocated_sizes(
    body: FunctionBody, type_: MemRefType, dynamic: Sequence[SSAValue]
) -> list[str]:
    names = iter([body.name(value) for value in dynamic])
    return [next(names) if size == DYNAMIC_INDEX else str(size) for size in type_.get_shape()]


def _contiguous_strides(body: FunctionBody, sizes: Sequence[str]) -> tuple[list[str], str]:
    """Strides in elements, and the number of all elements."""
    strides: list[str] = []
    count = "1"
    for size in reversed(sizes):
        strides.insert(0, count)
        count = size if count == "1" else body.value(f"mul i64 {count}, {size}")
    return strides, count


def _descriptor(
    body: FunctionBody, pointer: str, sizes: Sequence[str], strides: Sequence[str]
) -> str:
    type_ = memref_type(len(sizes))
    fields = [(_ALLOCATED, f"ptr {pointer}"), (_ALIGNED, f"ptr {pointer}"), (_OFFSET, "i64 0")]
    value = "poison"
    for index, operand in fields:
        value = body.value(f"insertvalue {type_} {value}, {operand}, {index}")
    for index, numbers in ((_SIZES, sizes), (_STRIDES, strides)):
        for dimension, number in enumerate(numbers):
            place = f"{index}, {dimension}"
            value = body.value(f"insertvalue {type_} {value}, i64 {number}, {place}")
    return value


def _free(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.DeallocOp)
    body.call("free", "void", ("ptr", _field(body, op.memref, _ALLOCATED)))


def _take(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, RuntimeTakeBufferOp)
    if body.module.is_portable:
        body.bind(op.result, "true")
    else:
        pointer = _field(body, op.buffer, _ALLOCATED)
        body.bind(op.result, body.call("tfrtAsyncTakeBuffer", "i1", ("ptr", pointer)))


def _field(body: FunctionBody, buffer: SSAValue, *place: int) -> str:
    return body.value(f"extractvalue {body.typed(buffer)}, {', '.join(map(str, place))}")


def _element(
    body: FunctionBody, op: Operation, buffer: SSAValue, indices: Sequence[SSAValue]
) -> str:
    """The address of an element."""
    type_ = _buffer_type(buffer, op)
    base = _field(body, buffer, _ALIGNED)
    position = "0"
    if not isinstance(type_.layout, NoneAttr):
        position = _field(body, buffer, _OFFSET)
    for dimension, index in enumerate(indices):
        stride = _stride(body, buffer, type_, dimension)
        step = body.name(index)
        if stride != "1":
            step = body.value(f"mul nsw i64 {step}, {stride}")
        position = step if position == "0" else body.value(f"add nsw i64 {position}, {step}")
    element = llvm_type(type_.element_type)
    return body.value(f"getelementptr inbounds {element}, ptr {base}, i64 {position}")


def _stride(body: FunctionBody, buffer: SSAValue, type_: MemRefType, dimension: int) -> str:
    inner = type_.get_shape()[dimension + 1 :]
    if not isinstance(type_.layout, NoneAttr) or DYNAMIC_INDEX in inner:
        return _field(body, buffer, _STRIDES, dimension)
    stride = 1
    for size in inner:
        stride *= size
    return str(stride)


def _load(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.LoadOp)
    address = _element(body, op, op.memref, op.indices)
    body.set(op.res, f"load {llvm_type(op.res.type)}, ptr {address}")


def _store(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.StoreOp)
    address = _element(body, op, op.memref, op.indices)
    body.emit(f"store {body.typed(op.value)}, ptr {address}")


def _dim(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.DimOp)
    type_ = _buffer_type(op.source, op)
    dimension = constant_value(op.index)
    if dimension is None or not 0 <= dimension < len(type_.get_shape()):
        fail(op, "the dimension has to be a constant below the rank")
    size = type_.get_shape()[dimension]
    known = size != DYNAMIC_INDEX
    body.bind(op.result, str(size) if known else _field(body, op.source, _SIZES, dimension))


def _rank(body: FunctionBody, op: Operation) -> None:
    body.bind(op.results[0], str(len(_buffer_type(op.operands[0], op).get_shape())))


def _cast(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.CastOp)
    _buffer_type(op.dest, op)
    body.bind(op.dest, body.name(op.source))


def _copy(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.CopyOp)
    types = _buffer_type(op.source, op), _buffer_type(op.destination, op)
    if not all(isinstance(type_.layout, NoneAttr) for type_ in types):
        fail(op, "only contiguous buffers can be copied")
    rank = len(types[0].get_shape())
    sizes = [_field(body, op.source, _SIZES, dimension) for dimension in range(rank)]
    _, count = _contiguous_strides(body, sizes)
    size = body.value(f"mul i64 {count}, {_element_size(types[0])}")
    target, source = _field(body, op.destination, _ALIGNED), _field(body, op.source, _ALIGNED)
    arguments = ("ptr", target), ("ptr", source), ("i64", size), ("i1", "false")
    body.call("llvm.memmove.p0.p0.i64", "void", *arguments)


def _get_global(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.GetGlobalOp)
    type_ = _buffer_type(op.memref, op)
    sizes = [str(size) for size in type_.get_shape()]
    strides = [_stride(body, op.memref, type_, dimension) for dimension in range(len(sizes))]
    name = global_name(op.name_.root_reference.data)
    body.bind(op.memref, _descriptor(body, name, sizes, strides))


def global_name(symbol: str) -> str:
    """The LLVM global that holds the elements of a `memref.global`."""
    return global_symbol(f".global.{symbol}")


def lower_global(module: ModuleText, op: memref.GlobalOp) -> None:
    """Define the elements of a global buffer."""
    type_ = _global_type(op)
    value = "zeroinitializer"
    if isinstance(op.initial_value, DenseIntOrFPElementsAttr):
        value = array_literal(op.initial_value)
    kind = "constant" if op.constant is not None else "global"
    name = global_name(op.sym_name.data)
    module.globals.append(f"{name} = internal {kind} {type_} {value}, align {_ALIGNMENT}")


def _global_type(op: memref.GlobalOp) -> str:
    assert isinstance(op.type, MemRefType)
    count = 1
    for size in op.type.get_shape():
        count *= size
    return f"[{count} x {llvm_type(op.type.element_type)}]"


def globals_table(ops: Sequence[memref.GlobalOp]) -> str:
    """Define the table of global buffers."""
    entries = ", ".join(
        f"{{ ptr, i64 }} {{ ptr {global_name(op.sym_name.data)}, i64 ptrtoint "
        f"(ptr getelementptr ({_global_type(op)}, ptr null, i64 1) to i64) }}"
        for op in ops
    )
    return f"{GLOBALS_TABLE} = internal constant [{len(ops)} x {{ ptr, i64 }}] [{entries}]"


_ATOMIC_INSTRUCTIONS = {
    "addf": "fadd",
    "addi": "add",
    "assign": "xchg",
    "maxs": "max",
    "maxu": "umax",
    "mins": "min",
    "minu": "umin",
    "ori": "or",
    "andi": "and",
    "xori": "xor",
    "maxnumf": "fmax",
    "minnumf": "fmin",
}


def _atomic(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, AtomicRMWOp)
    instruction = _ATOMIC_INSTRUCTIONS.get(op.operation)
    if instruction is None:
        fail(op, f"'{op.operation}' cannot be done atomically")
    pointer = _element(body, op, op.memref, op.indices)
    operand = body.typed(op.value)
    body.set(op.result, f"atomicrmw {instruction} ptr {pointer}, {operand} acq_rel")


LOWERINGS: dict[str, Lowering] = {
    memref.AllocOp.name: _allocate,
    memref.AllocaOp.name: _allocate,
    memref.DeallocOp.name: _free,
    RuntimeTakeBufferOp.name: _take,
    memref.LoadOp.name: _load,
    memref.StoreOp.name: _store,
    AtomicRMWOp.name: _atomic,
    memref.DimOp.name: _dim,
    memref.RankOp.name: _rank,
    memref.CastOp.name: _cast,
    memref.CopyOp.name: _copy,
    memref.GetGlobalOp.name: _get_global,
}
