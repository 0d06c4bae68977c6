"""`memref` as LLVM instructions on descriptors.

Buffers made here are contiguous and start at their allocation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from tfrt_nb.dialects.async_.atomics import AtomicRMWOp
from tfrt_nb.dialects.async_.extensions import RuntimeCompareExchangeOp, RuntimeTakeBufferOp
from tfrt_nb.jit import unranked
from tfrt_nb.jit.descriptors import (
    Layout,
    allocated_pointer,
    buffer_type,
    contiguous_strides,
    descriptor,
    element_address,
    element_size,
    layout_of,
    stride_of,
)
from tfrt_nb.jit.function_body import GLOBALS_TABLE, FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import array_literal, global_symbol, llvm_type
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.greedy.constants import integer_of

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


def _allocate(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.AllocOp | memref.AllocaOp)
    type_ = buffer_type(op.memref, op)
    sizes = _allocated_sizes(body, type_, op.dynamic_sizes)
    strides, count = contiguous_strides(body, sizes)
    size = body.value(f"mul i64 {count}, {element_size(type_)}")
    if isinstance(op, memref.AllocOp):
        pointer = _heap(body, size, _ALIGNMENT - 1)
        if body.module.notes_buffers:
            body.call("tfrtAsyncNoteBuffer", "void", ("ptr", pointer))
    elif is_on_heap(op):
        pointer = _linked_buffer(body, size)
    else:
        element, elements = llvm_type(type_.element_type), _static_count(type_)
        pointer = body.first(f"alloca [{elements} x {element}], align {_ALIGNMENT}")
    body.bind(op.memref, descriptor(body, Layout(pointer, pointer, "0", sizes, strides)))


def _heap(body: FunctionBody, size: str, more: int) -> str:
    padded = body.value(f"add i64 {size}, {more}")
    rounded = body.value(f"and i64 {padded}, -{_ALIGNMENT}")
    return body.call("aligned_alloc", "ptr", ("i64", str(_ALIGNMENT)), ("i64", rounded))


def is_on_heap(op: Operation) -> bool:
    """Whether a buffer of `memref.alloca` cannot be in the function's frame.

    There, each execution of the operation would get the same memory; so nothing may pass it on.
    """
    if type(op) is not memref.AllocaOp:
        return False
    type_ = buffer_type(op.memref, op)
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


def _free(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.DeallocOp)
    body.call("free", "void", ("ptr", _allocated(body, op.memref)))


def _allocated(body: FunctionBody, buffer: SSAValue) -> str:
    is_unranked = isinstance(buffer.type, UnrankedMemRefType)
    return (unranked.allocated_pointer if is_unranked else allocated_pointer)(body, buffer)


def _take(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, RuntimeTakeBufferOp)
    if body.module.is_portable:
        body.bind(op.result, "true")
    else:
        pointer = _allocated(body, op.buffer)
        body.bind(op.result, body.call("tfrtAsyncTakeBuffer", "i1", ("ptr", pointer)))


def _load(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.LoadOp)
    address = element_address(body, op, op.memref, op.indices)
    body.set(op.res, f"load {llvm_type(op.res.type)}, ptr {address}")


def _store(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.StoreOp)
    address = element_address(body, op, op.memref, op.indices)
    body.emit(f"store {body.typed(op.value)}, ptr {address}")


def _dim(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.DimOp)
    is_unranked = isinstance(op.source.type, UnrankedMemRefType)
    sizes = (
        unranked.sizes_of(body, op.source) if is_unranked else layout_of(body, op.source, op).sizes
    )
    dimension = integer_of(op.index)
    if not sizes or (dimension is not None and not 0 <= dimension < len(sizes)):
        fail(op, f"the buffer has {len(sizes)} dimensions")
    if dimension is not None:
        body.bind(op.result, sizes[dimension])
        return
    chosen = sizes[0]
    for number, size in enumerate(sizes[1:], start=1):
        is_it = body.value(f"icmp eq {body.typed(op.index)}, {number}")
        chosen = body.value(f"select i1 {is_it}, i64 {size}, i64 {chosen}")
    body.bind(op.result, chosen)


def _rank(body: FunctionBody, op: Operation) -> None:
    buffer = op.operands[0]
    if isinstance(buffer.type, UnrankedMemRefType):
        body.bind(op.results[0], unranked.rank_of(body, buffer))
    else:
        body.bind(op.results[0], str(len(buffer_type(buffer, op).get_shape())))


def _copy(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.CopyOp)
    source, target = layout_of(body, op.source, op), layout_of(body, op.destination, op)
    types = buffer_type(op.source, op), buffer_type(op.destination, op)
    if not all(isinstance(type_.layout, NoneAttr) for type_ in types):
        _copy_elements(body, llvm_type(types[0].element_type), source, target)
        return
    _, count = contiguous_strides(body, source.sizes)
    size = body.value(f"mul i64 {count}, {element_size(types[0])}")
    arguments = ("ptr", target.aligned), ("ptr", source.aligned), ("i64", size), ("i1", "false")
    body.call("llvm.memmove.p0.p0.i64", "void", *arguments)


def _copy_elements(body: FunctionBody, element: str, source: Layout, target: Layout) -> None:
    """One by one, by a helper for buffers of this rank."""
    rank = len(source.sizes)
    name = global_symbol(f"__copy.{rank}.{element}")
    body.module.helpers[name] = _copying_function(name, rank, element)
    pointers = [
        body.value(f"getelementptr {element}, ptr {one.aligned}, i64 {one.offset}")
        for one in (source, target)
    ]
    numbers = [*source.sizes, *source.strides, *target.strides]
    arguments = [f"ptr {one}" for one in pointers] + [f"i64 {one}" for one in numbers]
    body.emit(f"call void {name}({', '.join(arguments)})")


def _copying_function(name: str, rank: int, element: str) -> str:
    """A nest of loops: `check.k` asks whether there is another index, `next.k` goes on to it."""
    parameters = ["ptr %from.0", "ptr %to.0"]
    parameters += [f"i64 %{one}.{k}" for one in ("size", "step", "stride") for k in range(rank)]
    lines = [f"define internal void {name}({', '.join(parameters)}) {{", "start:"]
    for k in range(rank):
        before = f"body.{k - 1}" if k else "start"
        end = f"next.{k - 1}" if k else "done"
        lines += [
            f"  br label %check.{k}",
            f"check.{k}:",
            f"  %i.{k} = phi i64 [ 0, %{before} ], [ %more.{k}, %next.{k} ]",
            f"  %go.{k} = icmp slt i64 %i.{k}, %size.{k}",
            f"  br i1 %go.{k}, label %body.{k}, label %{end}",
            f"body.{k}:",
        ]
        for pointer, stride in (("from", "step"), ("to", "stride")):
            lines += [
                f"  %{pointer}.at.{k} = mul i64 %i.{k}, %{stride}.{k}",
                f"  %{pointer}.{k + 1} = getelementptr {element}, ptr %{pointer}.{k}"
                + f", i64 %{pointer}.at.{k}",
            ]
    lines += [
        f"  %element = load {element}, ptr %from.{rank}",
        f"  store {element} %element, ptr %to.{rank}",
        f"  br label %{f'next.{rank - 1}' if rank else 'done'}",
    ]
    for k in range(rank):
        lines += [
            f"next.{k}:",
            f"  %more.{k} = add i64 %i.{k}, 1",
            f"  br label %check.{k}",
        ]
    return "\n".join([*lines, "done:", "  ret void", "}"])


def _get_global(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, memref.GetGlobalOp)
    type_ = buffer_type(op.memref, op)
    sizes = [str(size) for size in type_.get_shape()]
    strides = [stride_of(body, op.memref, type_, dimension) for dimension in range(len(sizes))]
    name = global_name(op.name_.root_reference.data)
    body.bind(op.memref, descriptor(body, Layout(name, name, "0", sizes, strides)))


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
    "maximumf": "fmaximum",
    "maxnumf": "fmax",
    "minimumf": "fminimum",
    "minnumf": "fmin",
}


def _atomic(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, AtomicRMWOp)
    instruction = _ATOMIC_INSTRUCTIONS.get(op.operation)
    if instruction is None:
        fail(op, f"'{op.operation}' cannot be done atomically")
    pointer = element_address(body, op, op.memref, op.indices)
    operand = body.typed(op.value)
    if _bits_of(op.value.type) not in _ATOMIC_WIDTHS:
        fail(op, f"'{op.value.type}' cannot be changed in one step")
    body.set(op.result, f"atomicrmw {instruction} ptr {pointer}, {operand} acq_rel")


def _compare_exchange(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, RuntimeCompareExchangeOp)
    pointer = element_address(body, op, op.buffer, op.indices)
    type_, bits = llvm_type(op.found.type), _bits_of(op.found.type)
    if bits not in _ATOMIC_WIDTHS:
        fail(op, f"'{op.found.type}' cannot be changed in one step")
    operands = [body.name(op.expected), body.name(op.desired)]
    if type_ != f"i{bits}":
        operands = [body.value(f"bitcast {type_} {one} to i{bits}") for one in operands]
    expected, desired = operands
    pair = body.value(
        f"cmpxchg ptr {pointer}, i{bits} {expected}, i{bits} {desired} acq_rel acquire"
    )
    found = body.value(f"extractvalue {{ i{bits}, i1 }} {pair}, 0")
    if type_ != f"i{bits}":
        found = body.value(f"bitcast i{bits} {found} to {type_}")
    body.bind(op.found, found)
    body.set(op.is_done, f"extractvalue {{ i{bits}, i1 }} {pair}, 1")


_ATOMIC_WIDTHS = (8, 16, 32, 64)


def _bits_of(type_: Attribute) -> int:
    """How many bits a number has; 0 for what is none."""
    if isinstance(type_, IntegerType | AnyFloat):
        return type_.bitwidth
    return 64 if isinstance(type_, IndexType) else 0


LOWERINGS: dict[str, Lowering] = {
    memref.AllocOp.name: _allocate,
    memref.AllocaOp.name: _allocate,
    memref.DeallocOp.name: _free,
    RuntimeTakeBufferOp.name: _take,
    memref.LoadOp.name: _load,
    memref.StoreOp.name: _store,
    AtomicRMWOp.name: _atomic,
    RuntimeCompareExchangeOp.name: _compare_exchange,
    memref.DimOp.name: _dim,
    memref.RankOp.name: _rank,
    memref.CopyOp.name: _copy,
    memref.GetGlobalOp.name: _get_global,
}
